/* Where the indexes of memories are kept between processes: shelves (index/shelf.h) of each space,
 * in the data folder, also where a server has the memories. */
#ifndef FORAGE_MEMORY_SHELVES_H
#define FORAGE_MEMORY_SHELVES_H

#include "config/places.h"
#include "index/shelf.h"
#include "memory/memory.h"

#include <stdbool.h>
#include <stdint.h>

/* The shelf of a space, of its words or its vectors; nothing is made on the disk yet. NULL when
 * there is no data folder, or no memory. */
enum shelves_kind { SHELVES_WORDS, SHELVES_VECTORS };
struct shelf *shelves_open(const struct places *places, enum shelves_kind kind,
                           const struct memory_space *space, int64_t id);
/* Whether something of the space is kept. */
bool shelves_has(const struct places *places, int64_t id);
/* Whether nothing of any space is kept. */
bool shelves_none(const struct places *places);
/* The spaces of which something is kept; how many, `most` of them at most. */
size_t shelves_list(const struct places *places, int64_t *ids, size_t most);

/* A descriptor that says, as long as it is open, that a process uses what is kept of the store; -1
 * where nothing is kept. */
int shelves_use(const struct places *places);
/* Removes what is kept of servers' databases that nothing uses: no process now, and none for a day.
 * How many there were. */
size_t shelves_tidy(const struct places *places);

#endif
