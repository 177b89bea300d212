/* Sums of calls over minutes, hours and days, for people who look: how many there were, how long
 * they took and what they cost, by caller, tool and provider. They are made of the records as those
 * are written (ops/records.h), so that nobody who looks reads single calls, however many there are.
 *
 * Times are counted in buckets an eighth of an octave wide, from which a median or a 95th
 * percentile can be told to within five percent, over any sums that are added up. */
#ifndef FORAGE_OPS_TALLIES_H
#define FORAGE_OPS_TALLIES_H

#include "db/db.h"

#include <stdint.h>

#define TALLY_BUCKETS 200 /* of times, from a tenth of a millisecond on */

/* Whose sums, of what. */
enum tally_span {
    TALLY_MINUTES, /* of the last hours */
    TALLY_HOURS,   /* of the last days */
    TALLY_DAYS,    /* UTC */
    TALLY_SPANS
};

struct tally {
    int64_t at_ms; /* since 1970; of what is read: when its minute, hour or day began */
    const char *caller;
    const char *tool;
    const char *provider; /* "": nobody outside was asked, or nobody knows */
    int bucket;           /* of the time that each took; negative: of calls that are not over */
    int64_t calls, failures, recalled;
    int64_t input_tokens, output_tokens, nano_usd;
};

/* What many calls add to the sums, so that each sum is written once for all of them. The names
 * belong to whoever gathers. */
struct tally_batch {
    struct tally tallies[64];
    size_t count;
};

/* Which sums are read; NULL: whatever it is. */
struct tally_filter {
    enum tally_span span;
    int64_t from_ms;
    const char *caller, *tool, *provider;
};

typedef void (*tallies_take)(void *context, const struct tally *tally);

int64_t tally_span_ms(enum tally_span span);
/* The bucket of a time. */
int tally_bucket(int64_t took_us);
/* The time that a share of the calls did not exceed, in microseconds; 0 where there are none. */
int64_t tally_quantile_us(const int64_t counts[TALLY_BUCKETS], double share);

/* Adds to the batch, which is written first where it is full; between records_begin() and
 * records_commit(). */
MUST_CHECK int tallies_gather(struct db *db, struct tally_batch *batch, const struct tally *tally);
/* Adds what is in the batch to the sums of every span, and empties it. */
MUST_CHECK int tallies_write(struct db *db, struct tally_batch *batch);
/* Shows the sums that fit, oldest first. */
MUST_CHECK int tallies_read(struct db *db, const struct tally_filter *filter, tallies_take take,
                            void *context);
/* Removes what is too old for its span. */
MUST_CHECK int tallies_tidy(struct db *db, int64_t now_ms);

#endif
