/* The table of sums, and the arithmetic of buckets. */
#include "ops/tallies.h"

#include "core/limits.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define FIRST_US   100.0 /* everything quicker is in the first bucket */
#define PER_OCTAVE 8.0
#define MOST_ROWS  1000000 /* a server may say more than there are */

static const struct {
    int64_t span_ms;
    int64_t kept_ms;
} SPANS[TALLY_SPANS] = {
    [TALLY_MINUTES] = {60000, TIME_TALLY_MINUTES_MS},
    [TALLY_HOURS] = {3600000, TIME_TALLY_HOURS_MS},
    [TALLY_DAYS] = {86400000, LIMIT_USAGE_DAYS *INT64_C(86400000)},
};

int64_t tally_span_ms(enum tally_span span)
{
    return SPANS[span].span_ms;
}

/* ---- buckets ---- */

int tally_bucket(int64_t took_us)
{
    if ((double)took_us < FIRST_US) {
        return 0;
    }
    double place = 1 + floor(PER_OCTAVE * log2((double)took_us / FIRST_US));
    return place < TALLY_BUCKETS ? (int)place : TALLY_BUCKETS - 1;
}

/* The middle of a bucket, from which no time in it is further than half its width. */
static double middle_of(int bucket)
{
    return bucket == 0 ? FIRST_US / 2 : FIRST_US * exp2(((double)bucket - 0.5) / PER_OCTAVE);
}

int64_t tally_quantile_us(const int64_t counts[TALLY_BUCKETS], double share)
{
    int64_t all = 0;
    for (int i = 0; i < TALLY_BUCKETS; i++) {
        all += counts[i];
    }
    double wanted = share * (double)all;
    double before = 0;
    for (int i = 0; i < TALLY_BUCKETS; i++) {
        before += (double)counts[i];
        if (counts[i] > 0 && before >= wanted) {
            return llround(middle_of(i));
        }
    }
    return 0;
}

/* ---- the table ---- */

static int add_to(struct db *db, enum tally_span span, const struct tally *tally)
{
    int64_t span_ms = SPANS[span].span_ms;
    return db_do(
        db,
        "INSERT INTO {tallies} AS sums (span_ms, slot_ms, caller, tool, provider, bucket, calls, "
        "failures, recalled, input_tokens, output_tokens, nano_usd) VALUES (?1, ?2, ?3, ?4, ?5, "
        "?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (span_ms, slot_ms, caller, tool, provider, "
        "bucket) DO UPDATE SET calls = sums.calls + excluded.calls,"
        " failures = sums.failures + excluded.failures,"
        " recalled = sums.recalled + excluded.recalled,"
        " input_tokens = sums.input_tokens + excluded.input_tokens,"
        " output_tokens = sums.output_tokens + excluded.output_tokens,"
        " nano_usd = sums.nano_usd + excluded.nano_usd",
        DB_INT(span_ms), DB_INT(tally->at_ms - tally->at_ms % span_ms), DB_TEXT(tally->caller),
        DB_TEXT(tally->tool), DB_TEXT(tally->provider), DB_INT(tally->bucket), DB_INT(tally->calls),
        DB_INT(tally->failures), DB_INT(tally->recalled), DB_INT(tally->input_tokens),
        DB_INT(tally->output_tokens), DB_INT(tally->nano_usd));
}

int tallies_write(struct db *db, struct tally_batch *batch)
{
    int status = OK;
    for (size_t i = 0; i < batch->count; i++) {
        for (int span = 0; status == OK && span < TALLY_SPANS; span++) {
            status = add_to(db, (enum tally_span)span, &batch->tallies[i]);
        }
    }
    batch->count = 0;
    return status;
}

/* Whether both are of the same sums: hours and days begin with a minute. */
static bool same_sums(const struct tally *a, const struct tally *b)
{
    int64_t minute_ms = SPANS[TALLY_MINUTES].span_ms;
    return a->bucket == b->bucket && a->at_ms / minute_ms == b->at_ms / minute_ms &&
           strcmp(a->tool, b->tool) == 0 && strcmp(a->caller, b->caller) == 0 &&
           strcmp(a->provider, b->provider) == 0;
}

int tallies_gather(struct db *db, struct tally_batch *batch, const struct tally *tally)
{
    size_t i = 0;
    while (i < batch->count && !same_sums(&batch->tallies[i], tally)) {
        i++;
    }
    if (i == sizeof batch->tallies / sizeof *batch->tallies) {
        int status = tallies_write(db, batch);
        if (status != OK) {
            return status;
        }
        i = 0;
    }
    struct tally *sum = &batch->tallies[i];
    if (i == batch->count) {
        *sum = *tally;
        batch->count++;
        return OK;
    }
    sum->calls += tally->calls;
    sum->failures += tally->failures;
    sum->recalled += tally->recalled;
    sum->input_tokens += tally->input_tokens;
    sum->output_tokens += tally->output_tokens;
    sum->nano_usd += tally->nano_usd;
    return OK;
}

int tallies_read(struct db *db, const struct tally_filter *filter, tallies_take take, void *context)
{
    struct db_rows *rows = db_at_most(
        db_ask(
            db,
            "SELECT slot_ms, caller, tool, provider, bucket, calls, failures, recalled, "
            "input_tokens, output_tokens, nano_usd FROM {tallies} WHERE span_ms = ?1 AND slot_ms "
            ">= ?2 AND (CAST(?3 AS TEXT) IS NULL OR caller = ?3) AND (CAST(?4 AS TEXT) IS NULL OR "
            "tool = ?4) AND (CAST(?5 AS TEXT) IS NULL OR provider = ?5) ORDER BY slot_ms",
            DB_INT(SPANS[filter->span].span_ms), DB_INT(filter->from_ms), DB_TEXT(filter->caller),
            DB_TEXT(filter->tool), DB_TEXT(filter->provider)),
        MOST_ROWS);
    int found;
    while ((found = db_step(rows)) > 0) {
        int64_t bucket = db_int(rows, 4);
        take(context, &(struct tally){
                          .at_ms = db_int(rows, 0),
                          .caller = db_words(rows, 1),
                          .tool = db_words(rows, 2),
                          .provider = db_words(rows, 3),
                          .bucket = bucket < 0                ? -1
                                    : bucket >= TALLY_BUCKETS ? TALLY_BUCKETS - 1
                                                              : (int)bucket,
                          .calls = db_int(rows, 5),
                          .failures = db_int(rows, 6),
                          .recalled = db_int(rows, 7),
                          .input_tokens = db_int(rows, 8),
                          .output_tokens = db_int(rows, 9),
                          .nano_usd = db_int(rows, 10),
                      });
    }
    db_end(rows);
    return found;
}

int tallies_tidy(struct db *db, int64_t now_ms)
{
    int status = OK;
    for (int span = 0; status == OK && span < TALLY_SPANS; span++) {
        status = db_do(db, "DELETE FROM {tallies} WHERE span_ms = ?1 AND slot_ms < ?2",
                       DB_INT(SPANS[span].span_ms), DB_INT(now_ms - SPANS[span].kept_ms));
    }
    return status;
}
