/* Trials in the database of records: one row for each call that took part in an experiment
 * (experiment/). They hold no words of what was asked, and not who asked: the unit is a
 * fingerprint. Every statement on them is here. Functions return a status; db_problem() has the
 * words of a failure. */
#ifndef FORAGE_OPS_TRIALS_H
#define FORAGE_OPS_TRIALS_H

#include "db/db.h"

/* Of what an outcome does not tell, and so cannot count. */
#define TRIAL_UNKNOWN (-1)

struct trial {
    const char *experiment;
    const char *version; /* of its file: what was tried before a change does not count after it */
    const char *arm;
    const char *unit; /* what was assigned to the arm, as a fingerprint */
    const char *tool;
    int64_t at_ms; /* of its end, since 1970 */
    int64_t took_us;
    int64_t nano_usd;
    int64_t failed;        /* 0 or 1 */
    int64_t claims;        /* that have a source, or TRIAL_UNKNOWN, as all that follow */
    int64_t verified;      /* of them, those whose quote is on its page */
    int64_t nothing_found; /* 0 or 1 */
    int64_t pages;         /* that were read */
    int64_t reformulates;  /* 0 or 1: the query before it */
};

/* Inside of a transaction. */
MUST_CHECK int trials_add(struct db *db, const struct trial *trial);
/* Shows the trials of one version of an experiment in the order in which they were written, until
 * `take` returns false; texts stay until the next one. */
MUST_CHECK int trials_read(struct db *db, const char *experiment, const char *version,
                           bool (*take)(void *context, const struct trial *trial), void *context);
/* How many there are of other versions of it. */
MUST_CHECK int trials_of_others(struct db *db, const char *experiment, const char *version,
                                int64_t *count);
/* Removes what is older or more than the ceilings say. */
MUST_CHECK int trials_tidy(struct db *db, int64_t now_ms);

#endif
