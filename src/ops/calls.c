/* The table of single calls. */
#include "ops/calls.h"

#include "config/config.h"
#include "ops/records.h"
#include "ops/tallies.h"

#include <string.h>

static int add_row(struct db *db, const struct record *record)
{
    return db_do(db,
                 "INSERT INTO {calls} (at_ms, caller, tool, provider, took_us, code, recalled, "
                 "input_tokens, output_tokens, nano_usd) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                 "?9, ?10)",
                 DB_INT(record->at_ms), DB_TEXT(record->caller), DB_TEXT(record->tool),
                 DB_TEXT(record->provider), DB_INT(record->took_us), DB_TEXT(record->code),
                 DB_INT(record->recalled), DB_INT(record->input_tokens),
                 DB_INT(record->output_tokens), DB_INT(record->nano_usd));
}

int calls_add(struct db *db, const struct record *record, struct tally_batch *batch)
{
    struct tally tally = {
        .at_ms = record->at_ms,
        .caller = record->caller,
        .tool = record->tool,
        .provider = record->provider,
        .bucket = -1,
    };
    if (record->charge) {
        tally.input_tokens = record->input_tokens;
        tally.output_tokens = record->output_tokens;
        tally.nano_usd = record->nano_usd;
        return tallies_gather(db, batch, &tally);
    }
    tally.bucket = tally_bucket(record->took_us);
    tally.calls = 1;
    tally.failures = record->code != NULL;
    tally.recalled = record->recalled;
    int status = config_int("FORAGE_CALLS_KEPT") > 0 ? add_row(db, record) : OK;
    return status == OK ? tallies_gather(db, batch, &tally) : status;
}

int calls_read(struct db *db, const struct call_filter *filter,
               void (*take)(void *context, const struct call_row *row), void *context)
{
    int64_t before = filter->before > 0 ? filter->before : INT64_MAX;
    struct db_rows *rows = db_at_most(
        db_ask(db,
               "SELECT id, at_ms, caller, tool, provider, took_us, code, recalled, input_tokens, "
               "output_tokens, nano_usd FROM {calls} WHERE id < ?1 AND at_ms >= ?2 AND at_ms < ?3 "
               "AND (CAST(?4 AS TEXT) IS NULL OR caller = ?4) AND (CAST(?5 AS TEXT) IS NULL OR "
               "tool = ?5) AND (CAST(?6 AS TEXT) IS NULL OR provider = ?6) AND (CAST(?7 AS TEXT) "
               "IS NULL OR (?7 = 'ok' AND code IS NULL) OR (?7 = 'failed' AND code IS NOT NULL) OR "
               "(?7 = 'cached' AND recalled = 1) OR code = ?7) ORDER BY id DESC LIMIT ?8",
               DB_INT(before), DB_INT(filter->from_ms),
               DB_INT(filter->until_ms ? filter->until_ms : INT64_MAX), DB_TEXT(filter->caller),
               DB_TEXT(filter->tool), DB_TEXT(filter->provider), DB_TEXT(filter->outcome),
               DB_INT(filter->limit)),
        (size_t)filter->limit);
    int found;
    while ((found = db_step(rows)) > 0) {
        if (db_int(rows, 0) >= before) {
            found = db_goes_back(rows);
            break;
        }
        take(context, &(struct call_row){
                          .id = db_int(rows, 0),
                          .at_ms = db_int(rows, 1),
                          .caller = db_words(rows, 2),
                          .tool = db_words(rows, 3),
                          .provider = db_words(rows, 4),
                          .took_us = db_int(rows, 5),
                          .code = db_text(rows, 6),
                          .recalled = db_int(rows, 7) != 0,
                          .input_tokens = db_int(rows, 8),
                          .output_tokens = db_int(rows, 9),
                          .nano_usd = db_int(rows, 10),
                      });
    }
    db_end(rows);
    return found;
}

int calls_tidy(struct db *db, int64_t now_ms)
{
    int status = db_do(db, "DELETE FROM {calls} WHERE at_ms < ?1",
                       DB_INT(now_ms - config_duration_ms("FORAGE_CALLS_TTL")));
    if (status == OK) {
        /* Numbers have few gaps, and counting rows would mean reading them. */
        status = db_do(db, "DELETE FROM {calls} WHERE id <= (SELECT max(id) FROM {calls}) - ?1",
                       DB_INT(config_int("FORAGE_CALLS_KEPT")));
    }
    return status == OK ? tallies_tidy(db, now_ms) : status;
}
