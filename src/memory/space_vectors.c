/* Follows an embedding, from change to change. */
#include "memory/space_vectors.h"

#include "core/limits.h"

#include <stdlib.h>
#include <string.h>

void space_vectors_clear(struct space_vectors *vectors)
{
    vectors_free(vectors->set);
    free(vectors->model);
    *vectors = (struct space_vectors){0};
}

size_t space_vectors_bytes(const struct space_vectors *vectors)
{
    return vectors->set ? vectors_bytes(vectors->set) : 0;
}

bool space_vectors_follow(const struct space_vectors *vectors, const struct embedding *wanted,
                          int64_t change)
{
    return wanted->id == 0 || (vectors->embedding == wanted->id && vectors->seen >= change);
}

void space_vectors_row(struct space_vectors *vectors, const struct store_row *row)
{
    if (vectors->set) {
        vectors_keep(vectors->set, row->id, row->face);
    }
}

void space_vectors_removed(struct space_vectors *vectors, int64_t id)
{
    if (vectors->set) {
        vectors_remove(vectors->set, id);
    }
}

/* A row that holds no vectors as they should be is as good as none: words find its memory. */
static int take(void *context, const struct embedding_row *row)
{
    struct space_vectors *vectors = context;
    int status = row->length == 0 ? OK
                                  : vectors_put(vectors->set, row->id, row->face, row->vectors,
                                                row->length, row->dimensions);
    return status == ERR_INVALID ? OK : status;
}

int space_vectors_catch_up(struct space_vectors *vectors, struct db *db,
                           const struct embedding *wanted, int64_t change)
{
    if (vectors->embedding != wanted->id) {
        space_vectors_clear(vectors);
        vectors->set = vectors_new();
        vectors->model = strdup(wanted->model);
        vectors->embedding = wanted->id;
        if (!vectors->set || !vectors->model) {
            return ERR_NOMEM;
        }
    }
    int64_t seen = vectors->seen;
    int status = embeddings_changes(db, wanted->id, vectors->seen, LIMIT_MEMORY_CATCH_UP, take,
                                    vectors, &seen);
    if (status == OK) {
        /* the last changes brought no vectors */
        vectors->seen = seen > vectors->seen || seen >= change ? seen : change;
    }
    return status;
}
