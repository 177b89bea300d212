/* Scrubbing: what was replaced or removed leaves the disk, before whoever did so hears of it. Old
 * contents of a SQLite file are in its write-ahead log until that is emptied, which has to wait for
 * those who read an older state. Nobody is locked out meanwhile: callers wait for each other's
 * tries together, for a moment, and a reader that was waited for in vain is not waited for again.
 * What is still there then goes as soon as the reader does. A server vacuums by itself. */
#ifndef FORAGE_MEMORY_SCRUB_H
#define FORAGE_MEMORY_SCRUB_H

#include "db/pool.h"

struct scrub;

struct scrub *scrub_new(void);
struct scrub *scrub_free(struct scrub *scrub);

/* After a commit that replaced or removed contents, by whoever may write next: empties the log
 * where only short readers are in the way. 0, or what to give to scrub_wait(). */
uint64_t scrub_begin(struct scrub *scrub, struct db *db);
/* Waits until the contents are gone, but only for a moment; without a transaction. */
void scrub_wait(struct scrub *scrub, struct db_pool *pool, struct call *call, uint64_t ticket);
/* Tries again where contents stayed behind because of a reader; for a connection that has just been
 * used and is in no transaction. */
void scrub_rest(struct scrub *scrub, struct db *db);

#endif
