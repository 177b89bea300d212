/* Records of single calls: who called which tool when, whom that asked outside, how long it took
 * and how it ended. What was asked is not among them. They are for people who look; what budgets
 * and limits go by is in ops/records.h. */
#ifndef FORAGE_OPS_CALLS_H
#define FORAGE_OPS_CALLS_H

#include "db/db.h"

struct record;
struct tally_batch;

/* A call as it is shown. */
struct call_row {
    int64_t id; /* grows with time */
    int64_t at_ms;
    const char *caller, *tool, *provider;
    int64_t took_us;
    const char *code; /* of its error; NULL: it succeeded */
    bool recalled;
    int64_t input_tokens, output_tokens, nano_usd;
};

/* Which calls are shown; NULL and 0: whatever it is. */
struct call_filter {
    const char *caller, *tool, *provider;
    const char *outcome; /* "ok", "failed", "cached", or the code of an error */
    int64_t from_ms, until_ms;
    int64_t before; /* an id */
    int64_t limit;
};

/* Adds a call to the single ones, and to the batch for the sums of ops/tallies.h. */
MUST_CHECK int calls_add(struct db *db, const struct record *record, struct tally_batch *batch);
/* Shows those that fit, newest first. */
MUST_CHECK int calls_read(struct db *db, const struct call_filter *filter,
                          void (*take)(void *context, const struct call_row *row), void *context);
/* Removes single calls and sums beyond the settings' age and number. */
MUST_CHECK int calls_tidy(struct db *db, int64_t now_ms);

#endif
