/* The indexes of this process, one for each space that was searched, each caught up with the store
 * before it is used. They are only caches: the store is the truth. */
#ifndef FORAGE_MEMORY_INDEXES_H
#define FORAGE_MEMORY_INDEXES_H

#include "core/stock.h"
#include "index/index.h"
#include "memory/space_vectors.h"

struct indexes;
struct space_index;

/* All of them together take at most so many bytes, besides one that may be larger. `stocks` as of
 * stock_new(). */
struct indexes *indexes_new(struct stocks *stocks, size_t bytes);
struct indexes *indexes_free(struct indexes *indexes);

/* The index of the space, caught up with everything that is committed; it stays as it is until
 * indexes_release(). With its vectors where a `model` is wanted (NULL: without). OK with one, NULL
 * in `found` when the space is empty; ERR_LIMIT when it finds no place in memory now; a status of
 * the connection or the call. */
int indexes_acquire(struct indexes *indexes, struct db *db, const struct memory_space *space,
                    const char *model, struct space_index **found);
const struct index *indexes_of(const struct space_index *found);
/* Its vectors, and the model that made them; NULL: there are none. */
const struct vectors *indexes_vectors(const struct space_index *found, const char **model);
int64_t indexes_space(const struct space_index *found);
void indexes_release(struct space_index *found);

#endif
