/* Follows an embedding, from change to change. */
#include "memory/space_vectors.h"

#include "core/limits.h"
#include "core/log.h"
#include "index/vector_part.h"
#include "memory/space_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void space_vectors_clear(struct space_vectors *vectors)
{
    vectors->set = vectors_free(vectors->set);
    free(vectors->label);
    vectors->label = NULL;
    vectors->model = NULL;
    vectors->embedding = vectors->seen = vectors->rows = 0;
    vectors->replaces = false;
    vectors->made++;
}

void space_vectors_done(struct space_vectors *vectors)
{
    space_vectors_clear(vectors);
    shelf_free(vectors->shelf);
}

size_t space_vectors_bytes(const struct space_vectors *vectors)
{
    return vectors->set ? vectors_bytes(vectors->set) : 0;
}

bool space_vectors_follow(const struct space_vectors *vectors, const struct embedding *wanted,
                          int64_t change)
{
    return wanted->id == 0 ||
           (vectors->embedding == wanted->id && vectors->seen >= change && vectors->rows >= change);
}

/* ---- rows of memories ---- */

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

void space_vectors_walked(struct space_vectors *vectors, int64_t after, int64_t until)
{
    if (vectors->rows >= after && vectors->rows < until) {
        vectors->rows = until;
    }
}

struct vectors_walk {
    struct space_vectors *vectors;
    struct arena *arena;
};

static int walk_row(void *context, const struct store_row *row)
{
    struct vectors_walk *walk = context;
    space_vectors_row(walk->vectors, row);
    arena_reset(walk->arena);
    return OK;
}

static int walk_removed(void *context, int64_t id)
{
    struct vectors_walk *walk = context;
    space_vectors_removed(walk->vectors, id);
    return OK;
}

/* Its files may be older than those of the words, which were told of these changes long ago. */
static int walk(struct space_vectors *vectors, struct db *db, const struct store_space *space)
{
    struct vectors_walk walk = {vectors, arena_new(LIMIT_MEMORY_ROW_BYTES)};
    int64_t seen;
    if (!walk.arena) {
        return ERR_NOMEM;
    }
    int status = store_changes(db, walk.arena, space->id, vectors->rows, LIMIT_MEMORY_CATCH_UP,
                               walk_row, walk_removed, &walk, &seen);
    if (status == OK) {
        /* the last changes left nothing behind */
        vectors->rows = seen > vectors->rows ? seen : space->change;
    }
    arena_free(walk.arena);
    return status;
}

/* ---- beginning ---- */

static int begin_empty(struct space_vectors *vectors, const struct store_space *space)
{
    vectors_free(vectors->set);
    vectors->set = vectors_new();
    vectors->seen = 0;
    vectors->rows = space->change; /* there is nothing that rows could be about */
    return vectors->set ? OK : ERR_NOMEM;
}

static void throw_away(struct space_vectors *vectors)
{
    (void)saving_reset(vectors->shelf); /* or whoever writes now does */
    log_warn(NULL,
             "the vectors of a namespace in the files of its index were damaged, or of another "
             "version or store; they are read from the store again");
}

/* What is kept, where it is of this embedding, and the store goes on from there. */
static int load(struct space_vectors *vectors, struct db *db, const struct store_space *space)
{
    struct vector_source source;
    bool follows = false;
    if (atomic_exchange(&vectors->is_damaged, false)) {
        throw_away(vectors);
    }
    int status = vector_shelving_load(vectors->set, vectors->shelf, &source);
    bool ours = status == OK && source.label && strcmp(source.label, vectors->label) == 0;
    int asked = ours ? store_follows(db, space, source.seen, &source.witness, &follows) : OK;
    if (asked != OK || status == ERR_NOMEM) {
        return asked != OK ? asked : status;
    }
    if (follows) {
        vectors->seen = vectors->rows = source.seen;
        return OK;
    }
    vectors->replaces = status == OK && source.label && !ours;
    if (status == ERR_INVALID || ours) {
        throw_away(vectors);
    }
    return begin_empty(vectors, space);
}

static int begin(struct space_vectors *vectors, struct db *db, const struct store_space *space,
                 const struct embedding *wanted)
{
    space_vectors_clear(vectors);
    vectors->patience = LIMIT_VECTORS_FRESH;
    if (asprintf(&vectors->label, "%lld %s", (long long)wanted->id, wanted->model) < 0) {
        vectors->label = NULL;
        return ERR_NOMEM;
    }
    vectors->model = strchr(vectors->label, ' ') + 1;
    int status = begin_empty(vectors, space);
    if (status == OK && vectors->shelf) {
        status = load(vectors, db, space);
    }
    if (status == OK) {
        vectors->embedding = wanted->id;
    } else {
        space_vectors_clear(vectors);
    }
    return status;
}

/* ---- taking vectors ---- */

/* A row that holds no vectors as they should be is as good as none: words find its memory. */
static int take(void *context, const struct embedding_row *row)
{
    struct space_vectors *vectors = context;
    int status = row->length == 0 ? OK
                                  : vectors_put(vectors->set, row->id, row->face, row->vectors,
                                                row->length, row->dimensions);
    return status == ERR_INVALID ? OK : status;
}

static int take_some(struct space_vectors *vectors, struct db *db, const struct store_space *space)
{
    int64_t seen = vectors->seen;
    int status = embeddings_changes(db, vectors->embedding, vectors->seen, LIMIT_MEMORY_CATCH_UP,
                                    take, vectors, &seen);
    if (status == OK) {
        /* the last changes brought no vectors */
        vectors->seen = seen > vectors->seen || seen >= space->change ? seen : space->change;
    }
    return status;
}

/* Brings what is fresh to files at once, with the caller's lock. */
static int save_now(struct space_vectors *vectors)
{
    struct vector_shelving *shelving;
    bool thrown_away;
    int status = shelf_claim(vectors->shelf, &thrown_away);
    if (status != OK) {
        return status;
    }
    status = space_vectors_begin(vectors, &shelving);
    if (status == OK) {
        status = vector_shelving_write(shelving);
        int ended = vector_shelving_end(shelving, vectors->set, status == OK);
        status = ended != OK ? ERR_CLOSED : status;
    }
    shelf_unclaim(vectors->shelf);
    return status;
}

/* A great many are not to be in memory all at once. Where they cannot be written they stay there,
 * and are tried again when there are more. */
static int make_room(struct space_vectors *vectors, struct db *db, const struct store_space *space)
{
    struct vector_need need = vector_shelving_need(vectors->set);
    if (!vectors->shelf || need.fresh < vectors->patience) {
        return OK;
    }
    int status = store_witness(db, space->id, vectors->seen, &vectors->witness);
    if (status != OK) {
        return status;
    }
    status = save_now(vectors);
    vectors->replaces = vectors->replaces && status != OK;
    vectors->patience = (status == OK ? 0 : need.fresh) + LIMIT_VECTORS_FRESH;
    if (status == ERR_CLOSED) {
        space_vectors_clear(vectors);
    }
    return OK;
}

int space_vectors_catch_up(struct space_vectors *vectors, struct db *db,
                           const struct store_space *space, const struct embedding *wanted)
{
    bool is_lost = vectors->rows < space->horizon;
    int status =
        vectors->embedding == wanted->id && !is_lost ? OK : begin(vectors, db, space, wanted);
    if (status != OK) {
        return status;
    }
    if (vectors->rows < space->change) {
        return walk(vectors, db, space);
    }
    status = take_some(vectors, db, space);
    return status == OK ? make_room(vectors, db, space) : status;
}

/* ---- its files ---- */

bool space_vectors_sound(struct space_vectors *vectors)
{
    bool sound = !vectors->set || vector_shelving_sound(vectors->set);
    if (!sound) {
        atomic_store(&vectors->is_damaged, true);
    }
    return sound;
}

static struct vector_need need_of(const struct space_vectors *vectors)
{
    return vectors->set && vectors->shelf ? vector_shelving_need(vectors->set)
                                          : (struct vector_need){0};
}

bool space_vectors_dead(const struct space_vectors *vectors)
{
    return need_of(vectors).dead > 0 || vectors->replaces;
}

bool space_vectors_worth(const struct space_vectors *vectors)
{
    return space_vectors_dead(vectors) || need_of(vectors).texts >= LIMIT_INDEX_UNSAVED;
}

int space_vectors_begin(struct space_vectors *vectors, struct vector_shelving **shelving)
{
    int64_t seen = vectors->seen < vectors->rows ? vectors->seen : vectors->rows;
    struct vector_source source = {seen, vectors->witness, vectors->label};
    return vectors->set ? vector_shelving_begin(vectors->set, vectors->shelf, &source, shelving)
                        : ERR_NOTFOUND;
}

const char *space_vectors_model(struct shelf *shelf, struct arena *arena)
{
    struct vector_part part;
    const char *model = NULL;
    int status = shelf_refresh(shelf);
    struct shelf_view *view = shelf_hold(shelf);
    const struct shelf_segment *first = view->segments;
    if (status == OK && view->count > 0 &&
        vector_part_head(first->data, first->length, &part) == OK &&
        shelf_sound(first, 0, part.head)) {
        const char *space = strchr(part.label, ' ');
        model = space ? arena_strdup(arena, space + 1) : NULL;
    }
    shelf_release(view);
    return model;
}
