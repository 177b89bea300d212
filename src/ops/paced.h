/* Turns at sources that processes share (guard/pace.h), in the table of windows: a row for each
 * call until it counts no more, one for each turn that has not ended, and one for a source that
 * rests. On a server its clock counts, since those of machines differ. */
#ifndef FORAGE_OPS_PACED_H
#define FORAGE_OPS_PACED_H

#include "db/db.h"
#include "guard/pace.h"

/* What the keys of these rows begin with; no caller's name holds a colon. */
#define PACED_PREFIX "source:"

/* Both between records_begin() and records_commit(). */

/* Decides, and stores what is granted. */
MUST_CHECK int paced_take(struct db *db, struct pace_claim *claim);
MUST_CHECK int paced_end(struct db *db, const struct pace_end *end);

#endif
