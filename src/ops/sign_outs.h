/* Sessions of the dashboard that were ended before their time (guard/sessions.h), in the table of
 * windows: a row for each until its cookie is over. What is written here holds on every server that
 * shares the records, and after a restart.
 *
 * A caller has at most LIMIT_SESSIONS_ENDED rows. Beyond that the oldest goes, and from then on
 * every session counts as ended that is no younger than the rows that are left. */
#ifndef FORAGE_OPS_SIGN_OUTS_H
#define FORAGE_OPS_SIGN_OUTS_H

#include "db/db.h"

/* What the keys of these rows begin with; no caller's name holds a colon. */
#define SIGN_OUT_PREFIX "signed-out:"

/* Whether the caller's session that is over at `expires_ms` was ended. */
MUST_CHECK int sign_outs_find(struct db *db, const char *caller, int64_t expires_ms, bool *ended);
/* Ends it. Between records_begin() and records_commit(). */
MUST_CHECK int sign_outs_add(struct db *db, const char *caller, int64_t expires_ms);

#endif
