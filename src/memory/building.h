/* Making the index of a space that lacks very much: a search does not wait for that. What the space
 * lacks is a gap in the changes that its index holds, which is filled from its oldest end, some
 * thousand memories at a time; what is written meanwhile is caught up with by each search, as
 * always. Whoever searches is told that not everything is indexed yet. */
#ifndef FORAGE_MEMORY_BUILDING_H
#define FORAGE_MEMORY_BUILDING_H

#include "memory/space_index.h"

/* Opens a gap where the index lacks more than a search waits for, and makes what is there of it not
 * be found meanwhile, since it may be stale. With the index's lock. OK, or a status of the
 * connection or of the index. */
MUST_CHECK int building_plan(struct space_index *one, struct db *db,
                             const struct store_space *space);
/* Counts what an index that was loaded lacks. With the index's lock. */
MUST_CHECK int building_go_on(struct space_index *one, struct db *db);
/* What the index had of this id is another one now, or gone. With the index's lock. OK, ERR_NOMEM.
 */
MUST_CHECK int building_touched(struct space_index *one, int64_t id);
/* Fills a part of the gap, without the index's lock for most of the time. OK, also where there is
 * no gap (any more); a status of the connection, its call or the index. */
MUST_CHECK int building_step(struct space_index *one, struct db *db);

#endif
