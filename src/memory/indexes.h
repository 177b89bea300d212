/* The indexes of this process, one for each space that was searched, each caught up with the store
 * before it is used. They are only caches: the store is the truth. What they hold is kept in files
 * for the next process (index/shelving.h), by a thread of the lowest priority; where no files can
 * be written they live in memory only. */
#ifndef FORAGE_MEMORY_INDEXES_H
#define FORAGE_MEMORY_INDEXES_H

#include "config/places.h"
#include "core/stock.h"
#include "db/pool.h"
#include "index/index.h"
#include "memory/space_vectors.h"

struct indexes;
struct space_index;

struct indexes_options {
    const struct places *places; /* where they are kept */
    struct db_pool *pool;        /* for those that are saved without a call */
    struct stocks *stocks;       /* as of stock_new() */
    size_t bytes; /* that all of them together take at most, besides one that may be larger */
};
struct indexes *indexes_new(const struct indexes_options *options);
/* What is worth keeping is written first. */
struct indexes *indexes_free(struct indexes *indexes);

/* From now on a thread makes indexes that lack very much, and searches see what there is of them.
 * Before that, whoever searches waits for it. Those of a large file that has none are begun at
 * once. */
void indexes_serve(struct indexes *indexes);

/* From now on no file of an index is written or thrown away, and a gap stays as it is: for whoever
 * only looks. */
void indexes_only_look(struct indexes *indexes);

/* The index of the space, caught up with everything that is committed, but for what a thread still
 * makes; it stays as it is until indexes_release(). With its vectors where a `model` is wanted
 * (NULL: without). OK with one, NULL in `found` when the space is empty; ERR_LIMIT when it finds no
 * place in memory now; a status of the connection or the call. */
int indexes_acquire(struct indexes *indexes, struct db *db, const struct memory_space *space,
                    const char *model, struct space_index **found);
const struct index *indexes_of(const struct space_index *found);
/* How many memories are not in it yet, though they are committed: a thread makes it. */
int64_t indexes_missing(const struct space_index *found);
/* Whether a memory of this change should be in it, if it is in the space. */
bool indexes_covers(const struct space_index *found, int64_t change);
/* How many memories of each namespace a search finds now: `indexed` of the statistics. What lacks
 * some is begun with, where a thread makes it: somebody may wait for that. */
MUST_CHECK int indexes_stats(struct indexes *indexes, struct db *db,
                             struct memory_namespace_stats *namespaces, size_t count);
/* Its vectors, and the model that made them; NULL: there are none. */
const struct vectors *indexes_vectors(const struct space_index *found, const char **model);
/* Whether what was read from it can be believed: a file may have been damaged under it. If not, the
 * next indexes_acquire() makes it anew. */
bool indexes_sound(struct space_index *found);
/* Throws the index of a space away, its files too: the next indexes_acquire() makes it anew. OK;
 * ERR_BUSY when another process is just writing it; a status of the connection. */
MUST_CHECK int indexes_throw_away(struct indexes *indexes, struct db *db,
                                  const struct memory_space *space);
/* Contents of the space were replaced or removed: they leave its files soon, also where nobody
 * searches it. */
void indexes_scrub(struct indexes *indexes, int64_t space);
/* Something was changed. The first time in a process, what one that was killed has left in files
 * goes, as it does from the store's. */
void indexes_changed(struct indexes *indexes);
/* This process wrote more than a search waits for. Where it ends soon, as a command does, it reads
 * that into what is kept of an index: a server that goes on from those files must not find less
 * than it did. */
void indexes_wrote_much(struct indexes *indexes);
int64_t indexes_space(const struct space_index *found);
void indexes_release(struct space_index *found);

#endif
