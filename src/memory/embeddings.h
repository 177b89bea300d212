/* The tables of vectors, and every statement on them. An *embedding* is what one model made of one
 * space: for each memory the vectors of its passages, packed (index/vectors.h). It knows up to
 * which change of the space it has everything, and who works on it: processes and machines share a
 * store, and a lease, which lapses, keeps them from doing the same work twice.
 *
 * Vectors go with their memory, and with what they are made of, its text, key and tags: a memory
 * whose text changes has none until they are made anew. Each row of vectors takes a change number
 * of its space, so that others learn of it as they learn of memories. */
#ifndef FORAGE_MEMORY_EMBEDDINGS_H
#define FORAGE_MEMORY_EMBEDDINGS_H

#include "memory/store.h"

#define EMBEDDINGS_VERSION 4 /* of the tables, from which on there are these */

/* For store.c, with the change of a row: its vectors go, or go if what they are made of becomes
 * another. */
#define EMBEDDINGS_DROP(ID) "DELETE FROM {memory_vector} WHERE id = " ID
#define EMBEDDINGS_DROP_OLD(ID, DIGEST, KEY, TAGS)                                                 \
    EMBEDDINGS_DROP(ID)                                                                            \
    " AND EXISTS (SELECT 1 FROM {memory} WHERE id = " ID " AND (digest <> " DIGEST                 \
    " OR key <> " KEY " OR tags {IS NOT " TAGS "|IS DISTINCT FROM " TAGS "::jsonb}))"

struct embedding {
    int64_t id; /* 0: there is none */
    const char *model;
    bool complete; /* once it had everything */
};
/* The embedding that serves a space while `model` is wanted: that model's where it has been
 * complete, else another that has been, else whatever there is. */
int embeddings_choose(struct db *db, struct arena *arena, int64_t space, const char *model,
                      struct embedding *found);

/* The vectors of a memory. */
struct embedding_row {
    int64_t id;
    uint32_t face; /* of the memory (store.h) */
    size_t dimensions;
    const void *vectors;
    size_t length;
};
/* What was added after change `since`, oldest first, at most `limit`; `seen` is where to go on. */
int embeddings_changes(struct db *db, int64_t embedding, int64_t since, size_t limit,
                       int (*take)(void *context, const struct embedding_row *row), void *context,
                       int64_t *seen);

/* How many memories of each namespace have vectors of the model: `embedded` of the statistics. */
int embeddings_stats(struct db *db, const char *model, struct memory_namespace_stats *namespaces,
                     size_t count);

/* ---- for whoever makes vectors ---- */

/* A space of which memories have no vectors of the model, and which nobody else works on. Where
 * others work on all of them, `free_ms` is when the first of their leases ends; 0 otherwise. */
int embeddings_find_work(struct db *db, struct arena *arena, const char *model, const char *holder,
                         int64_t now_ms, struct memory_space *space, bool *found, int64_t *free_ms);
/* Takes the space's embedding of the model for `holder` until then; it is made where there is none.
 * The space is locked. False in `ours`: somebody else has it. */
MUST_CHECK int embeddings_claim(struct db *db, int64_t space, const char *model, const char *holder,
                                int64_t now_ms, int64_t until_ms, int64_t *embedding, bool *ours);
/* Makes the leases of the holder last until then. */
MUST_CHECK int embeddings_renew(struct db *db, const char *holder, int64_t until_ms);
/* Gives up the leases of the holder. */
MUST_CHECK int embeddings_release(struct db *db, const char *holder);

/* A memory without vectors. */
struct embedding_task {
    int64_t id;
    int64_t change;
    const char *key;
    const char *tags; /* as JSON; NULL: none */
    const char *text;
};
/* The oldest, at most `most`, or until their texts have `bytes`. */
int embeddings_tasks(struct db *db, struct arena *arena, int64_t space, int64_t embedding,
                     size_t most, size_t bytes, struct embedding_task *tasks, size_t *count);
/* Adds the vectors of a memory, unless it is gone or was changed. The space is locked. */
MUST_CHECK int embeddings_put(struct db *db, struct store_space *space, int64_t embedding,
                              const struct embedding_task *task, const struct embedding_row *row);
/* Everything up to a change is there; everything that there is, where it is the space's last. */
MUST_CHECK int embeddings_advance(struct db *db, const struct store_space *space, int64_t embedding,
                                  int64_t seen);
/* Removes some vectors of models that nobody has used since then, of spaces that have all of
 * `model`'s; false in `more` when there are none left. */
MUST_CHECK int embeddings_forget(struct db *db, const char *model, int64_t now_ms, int64_t idle_ms,
                                 bool *more);

#endif
