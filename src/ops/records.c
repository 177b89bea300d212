/* The tables of records and their statements. */
#include "ops/records.h"

#include "config/config.h"
#include "config/places.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/limits.h"
#include "ops/calls.h"
#include "ops/paced.h"
#include "ops/sign_outs.h"
#include "ops/tallies.h"
#include "ops/trials.h"

#include <stdlib.h>
#include <string.h>

#define DAY_MS        INT64_C(86400000)
#define TOKEN_LIFE_MS INT64_C(3600000)

static const char *const SQLITE_VERSIONS[] = {
    "CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE windows (key TEXT PRIMARY KEY, ends_ms INTEGER NOT NULL, used INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE usage (day TEXT NOT NULL, caller TEXT NOT NULL, tool TEXT NOT NULL,"
    " calls INTEGER NOT NULL, failures INTEGER NOT NULL, recalled INTEGER NOT NULL,"
    " input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, nano_usd INTEGER NOT NULL,"
    " unpriced INTEGER NOT NULL, PRIMARY KEY (day, caller, tool)) WITHOUT ROWID;"
    "CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, caller TEXT NOT NULL,"
    " at_ms INTEGER NOT NULL, tool TEXT NOT NULL, arguments TEXT NOT NULL, code TEXT,"
    " took_ms INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,"
    " nano_usd INTEGER NOT NULL);"
    "CREATE INDEX history_caller ON history (caller, id);",
    "CREATE TABLE answers (key BLOB PRIMARY KEY, caller TEXT NOT NULL, at_ms INTEGER NOT NULL,"
    " answer TEXT NOT NULL);",
    /* Calls that are kept, and their journals: jobs/rows.c has the statements. */
    "CREATE TABLE jobs (id TEXT PRIMARY KEY, caller TEXT NOT NULL, tool TEXT NOT NULL,"
    " arguments TEXT NOT NULL, status TEXT NOT NULL, background INTEGER NOT NULL,"
    " cancelling INTEGER NOT NULL, runs INTEGER NOT NULL, owner TEXT, lease_ms INTEGER NOT NULL,"
    " created_ms INTEGER NOT NULL, updated_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,"
    " input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, nano_usd INTEGER NOT NULL,"
    " state TEXT, result TEXT, follows TEXT, context TEXT);"
    "CREATE INDEX jobs_caller ON jobs (caller, created_ms);"
    "CREATE INDEX jobs_open ON jobs (created_ms) WHERE status IN ('waiting', 'running');"
    "CREATE TABLE steps (job TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL,"
    " at_ms INTEGER NOT NULL, usage TEXT NOT NULL, body TEXT NOT NULL,"
    " PRIMARY KEY (job, number));",
    /* For people who look: single calls, and their sums (ops/calls.c, ops/tallies.c); and what came
     * of a call of the history, compressed. */
    "CREATE TABLE calls (id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, caller TEXT NOT NULL,"
    " tool TEXT NOT NULL, provider TEXT NOT NULL, took_us INTEGER NOT NULL, code TEXT,"
    " recalled INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,"
    " nano_usd INTEGER NOT NULL);"
    "CREATE INDEX calls_at ON calls (at_ms);"
    "CREATE INDEX calls_caller ON calls (caller, id);"
    "CREATE TABLE tallies (span_ms INTEGER NOT NULL, slot_ms INTEGER NOT NULL,"
    " caller TEXT NOT NULL, tool TEXT NOT NULL, provider TEXT NOT NULL, bucket INTEGER NOT NULL,"
    " calls INTEGER NOT NULL, failures INTEGER NOT NULL, recalled INTEGER NOT NULL,"
    " input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, nano_usd INTEGER NOT NULL,"
    " PRIMARY KEY (span_ms, slot_ms, caller, tool, provider, bucket)) WITHOUT ROWID;"
    "ALTER TABLE history ADD COLUMN result BLOB;",
    /* Calls that took part in experiments: ops/trials.c has the statements. */
    "CREATE TABLE trials (id INTEGER PRIMARY KEY AUTOINCREMENT, experiment TEXT NOT NULL,"
    " version TEXT NOT NULL, arm TEXT NOT NULL, unit TEXT NOT NULL, tool TEXT NOT NULL,"
    " at_ms INTEGER NOT NULL, took_us INTEGER NOT NULL, nano_usd INTEGER NOT NULL,"
    " failed INTEGER NOT NULL, claims INTEGER NOT NULL, verified INTEGER NOT NULL,"
    " nothing_found INTEGER NOT NULL, pages INTEGER NOT NULL, reformulates INTEGER NOT NULL);"
    "CREATE INDEX trials_experiment ON trials (experiment, id);"
    "CREATE INDEX trials_age ON trials (at_ms);"
    "ALTER TABLE jobs ADD COLUMN tried TEXT;",
    NULL,
};

static const char *const POSTGRES_VERSIONS[] = {
    "CREATE TABLE forage_secrets (name TEXT PRIMARY KEY, value BYTEA NOT NULL);"
    "CREATE TABLE forage_windows (key TEXT COLLATE \"C\" PRIMARY KEY, ends_ms BIGINT NOT NULL,"
    " used BIGINT NOT NULL) WITH (fillfactor = 50);"
    "CREATE TABLE forage_usage (day TEXT COLLATE \"C\" NOT NULL,"
    " caller TEXT COLLATE \"C\" NOT NULL, tool TEXT COLLATE \"C\" NOT NULL,"
    " calls BIGINT NOT NULL, failures BIGINT NOT NULL, recalled BIGINT NOT NULL,"
    " input_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL, nano_usd BIGINT NOT NULL,"
    " unpriced BIGINT NOT NULL, PRIMARY KEY (day, caller, tool)) WITH (fillfactor = 50);"
    "CREATE TABLE forage_history (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " caller TEXT COLLATE \"C\" NOT NULL, at_ms BIGINT NOT NULL, tool TEXT NOT NULL,"
    " arguments TEXT NOT NULL, code TEXT, took_ms BIGINT NOT NULL, input_tokens BIGINT NOT NULL,"
    " output_tokens BIGINT NOT NULL, nano_usd BIGINT NOT NULL);"
    "CREATE INDEX forage_history_caller ON forage_history (caller, id);"
    "CREATE TABLE forage_commits (token BYTEA PRIMARY KEY, at_ms BIGINT NOT NULL);",
    "CREATE TABLE forage_answers (key BYTEA PRIMARY KEY, caller TEXT COLLATE \"C\" NOT NULL,"
    " at_ms BIGINT NOT NULL, answer TEXT NOT NULL);",
    "CREATE TABLE forage_jobs (id TEXT COLLATE \"C\" PRIMARY KEY,"
    " caller TEXT COLLATE \"C\" NOT NULL, tool TEXT COLLATE \"C\" NOT NULL,"
    " arguments TEXT NOT NULL, status TEXT COLLATE \"C\" NOT NULL, background BIGINT NOT NULL,"
    " cancelling BIGINT NOT NULL, runs BIGINT NOT NULL, owner TEXT COLLATE \"C\","
    " lease_ms BIGINT NOT NULL, created_ms BIGINT NOT NULL, updated_ms BIGINT NOT NULL,"
    " expires_ms BIGINT NOT NULL, input_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL,"
    " nano_usd BIGINT NOT NULL, state TEXT, result TEXT, follows TEXT COLLATE \"C\","
    " context TEXT) WITH (fillfactor = 50);"
    "CREATE INDEX forage_jobs_caller ON forage_jobs (caller, created_ms);"
    "CREATE INDEX forage_jobs_open ON forage_jobs (created_ms)"
    " WHERE status IN ('waiting', 'running');"
    "CREATE TABLE forage_steps (job TEXT COLLATE \"C\" NOT NULL, number BIGINT NOT NULL,"
    " kind TEXT NOT NULL, at_ms BIGINT NOT NULL, usage TEXT NOT NULL, body TEXT NOT NULL,"
    " PRIMARY KEY (job, number));",
    "CREATE TABLE forage_calls (id BIGSERIAL PRIMARY KEY, at_ms BIGINT NOT NULL,"
    " caller TEXT COLLATE \"C\" NOT NULL, tool TEXT COLLATE \"C\" NOT NULL,"
    " provider TEXT COLLATE \"C\" NOT NULL, took_us BIGINT NOT NULL, code TEXT COLLATE \"C\","
    " recalled BIGINT NOT NULL, input_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL,"
    " nano_usd BIGINT NOT NULL);"
    "CREATE INDEX forage_calls_at ON forage_calls (at_ms);"
    "CREATE INDEX forage_calls_caller ON forage_calls (caller, id);"
    "CREATE TABLE forage_tallies (span_ms BIGINT NOT NULL, slot_ms BIGINT NOT NULL,"
    " caller TEXT COLLATE \"C\" NOT NULL, tool TEXT COLLATE \"C\" NOT NULL,"
    " provider TEXT COLLATE \"C\" NOT NULL, bucket BIGINT NOT NULL, calls BIGINT NOT NULL,"
    " failures BIGINT NOT NULL, recalled BIGINT NOT NULL, input_tokens BIGINT NOT NULL,"
    " output_tokens BIGINT NOT NULL, nano_usd BIGINT NOT NULL,"
    " PRIMARY KEY (span_ms, slot_ms, caller, tool, provider, bucket)) WITH (fillfactor = 50);"
    "ALTER TABLE forage_history ADD COLUMN result BYTEA;",
    "CREATE TABLE forage_trials (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " experiment TEXT COLLATE \"C\" NOT NULL, version TEXT COLLATE \"C\" NOT NULL,"
    " arm TEXT COLLATE \"C\" NOT NULL, unit TEXT COLLATE \"C\" NOT NULL,"
    " tool TEXT COLLATE \"C\" NOT NULL, at_ms BIGINT NOT NULL, took_us BIGINT NOT NULL,"
    " nano_usd BIGINT NOT NULL, failed BIGINT NOT NULL, claims BIGINT NOT NULL,"
    " verified BIGINT NOT NULL, nothing_found BIGINT NOT NULL, pages BIGINT NOT NULL,"
    " reformulates BIGINT NOT NULL);"
    "CREATE INDEX forage_trials_experiment ON forage_trials (experiment, id);"
    "CREATE INDEX forage_trials_age ON forage_trials (at_ms);"
    "ALTER TABLE forage_jobs ADD COLUMN tried TEXT COLLATE \"C\";",
    NULL,
};

static const struct db_schema SCHEMA = {"records", SQLITE_VERSIONS, POSTGRES_VERSIONS};

struct db *records_open(const struct places *places, struct call *call, char *problem, size_t size)
{
    struct db_options options = {
        .schema = &SCHEMA, .unsynced = !config_bool("FORAGE_STORE_SYNC"), .erases = true};
    char *path;
    struct db *db = NULL;
    if (places_database(places, PLACES_RECORDS, true, &options.url, &path, problem, size)) {
        options.path = path;
        db = db_open(&options, call, problem, size);
    }
    if (db) {
        db_work_for(db, call);
    }
    free(path);
    return db;
}

int records_clock(struct db *db, int64_t *now_ms)
{
    *now_ms = clock_wall_ms();
    if (!db_is_postgres(db)) {
        return OK;
    }
    int found = db_numbers(
        db_query(db, "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)", NULL,
                 0),
        now_ms, 1);
    return found > 0 ? OK : found < 0 ? found : ERR_IO;
}

/* 1 with the key, 0 when there is none yet. */
static int find_secret(struct db *db, unsigned char key[SHA256_SIZE])
{
    struct db_rows *rows =
        db_query(db, "SELECT value FROM {secrets} WHERE name = 'fingerprint'", NULL, 0);
    int found = db_step(rows);
    if (found > 0) {
        size_t length;
        const void *bytes = db_bytes(rows, 0, &length);
        found = length == SHA256_SIZE ? 1 : ERR_INVALID;
        if (found > 0) {
            memcpy(key, bytes, SHA256_SIZE);
        }
    }
    db_end(rows);
    return found;
}

int records_secret(struct db *db, unsigned char key[SHA256_SIZE])
{
    unsigned char fresh[SHA256_SIZE];
    int found = find_secret(db, key);
    if (found != 0) {
        return found < 0 ? found : OK;
    }
    if (id_random(fresh, sizeof fresh) != OK) {
        return ERR_IO;
    }
    /* Another process or server may be faster; then its key counts. */
    int status = db_do(db,
                       "INSERT INTO {secrets} (name, value) VALUES ('fingerprint', ?1) ON CONFLICT "
                       "DO NOTHING",
                       DB_BYTES(fresh, sizeof fresh));
    found = status == OK ? find_secret(db, key) : status;
    return found > 0 ? OK : found == 0 ? ERR_IO : found;
}

/* ---- writing ---- */

/* Those who write to a server take turns, as with a file: windows are read and then written, and
 * rows that two of them write in different order would block both. A turn is short, and ends with a
 * server that falls silent. The number is "records". */
#define TAKE_TURN                                                                                  \
    "SET LOCAL idle_in_transaction_session_timeout = 10000; "                                      \
    "SELECT pg_advisory_xact_lock(32199625090950259)"

int records_begin(struct db *db, bool durable, struct records_turn *turn)
{
    turn->has_token =
        db_is_postgres(db) && durable && id_random(turn->token, sizeof turn->token) == OK;
    int status = db_begin(db, durable);
    return status == OK && db_is_postgres(db) ? db_run(db, TAKE_TURN) : status;
}

/* A transaction on a server that is not repeated harmlessly leaves its token. 1: it was written; 0:
 * there is one like it. */
static int write_token(struct db *db, const struct records_turn *turn)
{
    struct db_rows *rows =
        db_ask(db,
               "INSERT INTO {commits} (token, at_ms) VALUES (?1, ?2) ON "
               "CONFLICT DO NOTHING RETURNING 1",
               DB_BYTES(turn->token, sizeof turn->token), DB_INT(clock_wall_ms()));
    int written = db_step(rows);
    db_end(rows);
    return written;
}

/* The server went away while it committed. Whoever writes the token first has decided: when it can
 * be written now, the other transaction did not happen, and never will; when it is there, it did.
 */
static int settle(struct db *db, const struct records_turn *turn)
{
    int status = db_begin(db, true);
    int written = status == OK ? write_token(db, turn) : status;
    if (written == 1) {
        status = db_commit(db);
    }
    db_rollback(db);
    return written == 0 ? OK : ERR_CLOSED;
}

int records_commit(struct db *db, const struct records_turn *turn)
{
    if (turn->has_token) {
        int written = write_token(db, turn);
        if (written < 0) {
            return written;
        }
    }
    int status = db_commit(db);
    return status != OK && turn->has_token && db_in_doubt(db) ? settle(db, turn) : status;
}

static int read_window(struct db *db, const char *key, struct limit_window *window)
{
    int64_t numbers[2];
    int found = db_numbers(
        db_ask(db, "SELECT ends_ms, used FROM {windows} WHERE key = ?1", DB_TEXT(key)), numbers, 2);
    *window = (struct limit_window){numbers[0], numbers[1]};
    return found < 0 ? found : OK;
}

static int write_window(struct db *db, const char *key, const struct limit_window *window)
{
    return db_do(db,
                 "INSERT INTO {windows} (key, ends_ms, used) VALUES (?1, ?2, ?3) ON CONFLICT (key) "
                 "DO UPDATE SET ends_ms = excluded.ends_ms, used = excluded.used",
                 DB_TEXT(key), DB_INT(window->ends_ms), DB_INT(window->used));
}

int records_claim(struct db *db, struct limit_claim *claims, size_t count, int64_t now_ms)
{
    struct limit_window windows[LIMIT_WINDOW_CLAIMS];
    bool used_up = false;
    for (size_t i = 0; i < count; i++) {
        int status = read_window(db, claims[i].key, &windows[i]);
        if (status != OK) {
            return status;
        }
        limit_look(&claims[i], &windows[i], now_ms);
        used_up |= claims[i].retry_after_ms > 0;
    }
    for (size_t i = 0; !used_up && i < count; i++) {
        limit_take(&claims[i], &windows[i]);
        int status = write_window(db, claims[i].key, &windows[i]);
        if (status != OK) {
            return status;
        }
    }
    return used_up ? ERR_LIMIT : OK;
}

int records_look(struct db *db, struct limit_claim *claim, int64_t now_ms,
                 struct limit_window *window)
{
    int status = read_window(db, claim->key, window);
    if (status == OK) {
        limit_look(claim, window, now_ms);
    }
    return status;
}

int records_spent(struct db *db, const char *caller, int64_t now_ms, struct spending *spent)
{
    char day[ADMISSION_DAY_SIZE];
    int64_t numbers[2];
    admission_day(now_ms, day);
    int found = db_numbers(
        db_ask(db,
               "SELECT CAST(coalesce(sum(CASE WHEN caller = ?2 THEN nano_usd END), 0) AS BIGINT), "
               "CAST(coalesce(sum(nano_usd), 0) AS BIGINT) FROM {usage} WHERE day = ?1",
               DB_TEXT(day), DB_TEXT(caller)),
        numbers, 2);
    *spent = (struct spending){numbers[0], numbers[1]};
    return found < 0 ? found : OK;
}

static int add_usage(struct db *db, const struct record *record)
{
    char day[ADMISSION_DAY_SIZE];
    const struct record amount = record->charge ? *record : (struct record){0};
    admission_day(record->at_ms, day);
    return db_do(
        db,
        "INSERT INTO {usage} AS sums VALUES (?1, ?2, ?3, ?10, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT "
        "(day, caller, tool) DO UPDATE SET calls = sums.calls + excluded.calls,"
        " failures = sums.failures + excluded.failures,"
        " recalled = sums.recalled + excluded.recalled,"
        " input_tokens = sums.input_tokens + excluded.input_tokens,"
        " output_tokens = sums.output_tokens + excluded.output_tokens,"
        " nano_usd = sums.nano_usd + excluded.nano_usd,"
        " unpriced = sums.unpriced + excluded.unpriced",
        DB_TEXT(day), DB_TEXT(record->caller), DB_TEXT(record->tool), DB_INT(record->code != NULL),
        DB_INT(record->recalled), DB_INT(amount.input_tokens), DB_INT(amount.output_tokens),
        DB_INT(amount.nano_usd), DB_INT(amount.unpriced), DB_INT(!record->charge));
}

/* Adds a charge to what its job cost. */
static int add_to_job(struct db *db, const struct record *record)
{
    return db_do(db,
                 "UPDATE {jobs} SET input_tokens = input_tokens + ?2, output_tokens = "
                 "output_tokens + ?3, nano_usd = nano_usd + ?4 WHERE id = ?1",
                 DB_TEXT(record->job), DB_INT(record->input_tokens), DB_INT(record->output_tokens),
                 DB_INT(record->nano_usd));
}

/* In place of an older one; what is oldest makes room. */
static int add_answer(struct db *db, const struct record *record)
{
    int status = db_do(db,
                       "INSERT INTO {answers} (key, caller, at_ms, answer) VALUES (?1, ?2, ?3, ?4) "
                       "ON CONFLICT (key) DO UPDATE SET at_ms = excluded.at_ms, "
                       "answer = excluded.answer",
                       DB_BYTES(record->answer_key, sizeof record->answer_key),
                       DB_TEXT(record->caller), DB_INT(record->at_ms), DB_TEXT(record->answer));
    if (status != OK) {
        return status;
    }
    return db_do(
        db,
        "DELETE FROM {answers} WHERE key IN (SELECT key FROM {answers} ORDER BY at_ms DESC "
        "{LIMIT -1|} OFFSET ?1)",
        DB_INT(LIMIT_KEPT_ANSWERS));
}

int records_drop_answers(struct db *db, int64_t time_to_live_ms)
{
    int64_t now = clock_wall_ms();
    int64_t some;
    /* Mostly there are none; to look is cheaper than to ask for the right to write. */
    int found =
        db_numbers(db_ask(db, "SELECT 1 FROM {answers} WHERE at_ms <= ?1 OR at_ms > ?2 LIMIT 1",
                          DB_INT(now - time_to_live_ms), DB_INT(now)),
                   &some, 1);
    return found <= 0 ? found
                      : db_do(db, "DELETE FROM {answers} WHERE at_ms <= ?1 OR at_ms > ?2",
                              DB_INT(now - time_to_live_ms), DB_INT(now));
}

int records_add(struct db *db, const struct record *record)
{
    struct tally_batch sums;
    sums.count = 0;
    int status = add_usage(db, record);
    if (status == OK) {
        status = calls_add(db, record, &sums);
    }
    if (status == OK) {
        status = tallies_write(db, &sums);
    }
    if (status == OK && record->charge && record->job && *record->job) {
        status = add_to_job(db, record);
    }
    if (status == OK && record->answer) {
        status = add_answer(db, record);
    }
    if (status != OK || !record->arguments) {
        return status;
    }
    return db_do(db,
                 "INSERT INTO {history} (caller, at_ms, tool, arguments, code, took_ms, "
                 "input_tokens, output_tokens, nano_usd, result) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
                 "?7, ?8, ?9, ?10)",
                 DB_TEXT(record->caller), DB_INT(record->at_ms), DB_TEXT(record->tool),
                 DB_TEXT(record->arguments), DB_TEXT(record->code), DB_INT(record->took_us / 1000),
                 DB_INT(record->input_tokens), DB_INT(record->output_tokens),
                 DB_INT(record->nano_usd), DB_BYTES(record->result, record->result_size));
}

int records_tidy(struct db *db, int64_t now_ms)
{
    char day[ADMISSION_DAY_SIZE];
    admission_day(now_ms - LIMIT_USAGE_DAYS * DAY_MS, day);
    const struct {
        const char *sql;
        struct db_value beyond;
        bool on_servers_only;
    } OLD[] = {
        {"DELETE FROM {windows} WHERE ends_ms <= ?1 AND key NOT LIKE '" PACED_PREFIX
         "%' AND key NOT LIKE '" SIGN_OUT_PREFIX "%'",
         DB_INT(now_ms), false},
        /* They end by clocks from which this one may differ. */
        {"DELETE FROM {windows} WHERE ends_ms <= ?1", DB_INT(now_ms - DAY_MS), false},
        {"DELETE FROM {commits} WHERE at_ms < ?1", DB_INT(now_ms - TOKEN_LIFE_MS), true},
        {"DELETE FROM {usage} WHERE day < ?1", DB_TEXT(day), false},
        {"DELETE FROM {history} WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER "
         "(PARTITION BY caller ORDER BY id DESC) AS place FROM {history}) AS placed WHERE place > "
         "?1)",
         DB_INT(LIMIT_HISTORY_ROWS), false},
        {"UPDATE {history} SET result = NULL WHERE result IS NOT NULL AND id IN (SELECT id FROM "
         "(SELECT id, sum(length(result)) OVER (PARTITION BY caller ORDER BY id DESC) AS bytes "
         "FROM {history} WHERE result IS NOT NULL) AS sized WHERE bytes > ?1)",
         DB_INT(LIMIT_HISTORY_ALL_BYTES), false},
    };
    int status = OK;
    for (size_t i = 0; status == OK && i < sizeof OLD / sizeof *OLD; i++) {
        if (!OLD[i].on_servers_only || db_is_postgres(db)) {
            status = db_finish(db_query(db, OLD[i].sql, &OLD[i].beyond, 1));
        }
    }
    if (status == OK) {
        status = calls_tidy(db, now_ms);
    }
    return status == OK ? trials_tidy(db, now_ms) : status;
}

/* ---- reading ---- */

int records_bytes(struct db *db, int64_t *bytes)
{
    int found = db_numbers(
        db_query(db,
                 "SELECT {page_count * page_size FROM pragma_page_count(), "
                 "pragma_page_size()|CAST(coalesce(sum(pg_total_relation_size(oid)), 0) AS BIGINT) "
                 "FROM pg_class WHERE relkind = 'r' AND relname IN ('forage_usage', "
                 "'forage_history', 'forage_answers', 'forage_jobs', 'forage_steps', "
                 "'forage_calls', 'forage_tallies', 'forage_windows')}",
                 NULL, 0),
        bytes, 1);
    return found < 0 ? found : OK;
}

int records_usage(struct db *db, const char *caller, const char *from_day, records_take_sums take,
                  void *context)
{
    struct db_rows *rows =
        db_ask(db,
               "SELECT day, caller, tool, calls, failures, recalled, input_tokens, output_tokens, "
               "nano_usd, unpriced FROM {usage} WHERE day >= ?1 AND (CAST(?2 AS TEXT) IS NULL OR "
               "caller = ?2) ORDER BY day DESC, caller, tool",
               DB_TEXT(from_day), DB_TEXT(caller));
    int found;
    while ((found = db_step(rows)) > 0) {
        take(context, &(struct record_sums){
                          .day = db_words(rows, 0),
                          .caller = db_words(rows, 1),
                          .tool = db_words(rows, 2),
                          .calls = db_int(rows, 3),
                          .failures = db_int(rows, 4),
                          .recalled = db_int(rows, 5),
                          .input_tokens = db_int(rows, 6),
                          .output_tokens = db_int(rows, 7),
                          .nano_usd = db_int(rows, 8),
                          .unpriced = db_int(rows, 9),
                      });
    }
    db_end(rows);
    return found;
}

/* As a pattern of LIKE, with a backslash before what means something there. To be freed; NULL
 * without memory. */
static char *pattern_of(const char *text)
{
    char *pattern = malloc(2 * strlen(text) + 3);
    char *out = pattern;
    if (!pattern) {
        return NULL;
    }
    *out++ = '%';
    for (; *text; text++) {
        if (strchr("\\%_", *text)) {
            *out++ = '\\';
        }
        *out++ = *text;
    }
    *out++ = '%';
    *out = '\0';
    return pattern;
}

static void take_past(const struct db_rows *rows, records_take_past take, void *context)
{
    take(context, &(struct record_past){
                      .id = db_int(rows, 0),
                      .at_ms = db_int(rows, 1),
                      .caller = db_words(rows, 2),
                      .tool = db_words(rows, 3),
                      .arguments = db_words(rows, 4),
                      .code = db_text(rows, 5),
                      .took_ms = db_int(rows, 6),
                      .input_tokens = db_int(rows, 7),
                      .output_tokens = db_int(rows, 8),
                      .nano_usd = db_int(rows, 9),
                      .has_result = db_int(rows, 10) != 0,
                  });
}

int records_history(struct db *db, const struct record_filter *filter, records_take_past take,
                    void *context)
{
    int64_t before = filter->before > 0 ? filter->before : INT64_MAX;
    char *pattern = filter->text ? pattern_of(filter->text) : NULL;
    if (filter->text && !pattern) {
        return ERR_NOMEM;
    }
    struct db_rows *rows = db_at_most(
        db_ask(db,
               "SELECT id, at_ms, caller, tool, arguments, code, took_ms, input_tokens, "
               "output_tokens, nano_usd, CASE WHEN result IS NULL THEN 0 ELSE 1 END FROM {history} "
               "WHERE id < ?1 AND at_ms >= ?2 AND at_ms < ?3 AND (CAST(?4 AS TEXT) IS NULL OR "
               "caller = ?4) AND (CAST(?5 AS TEXT) IS NULL OR tool = ?5) AND (CAST(?6 AS TEXT) IS "
               "NULL OR arguments {LIKE|ILIKE} ?6 ESCAPE '\\') ORDER BY id DESC LIMIT ?7",
               DB_INT(before), DB_INT(filter->from_ms),
               DB_INT(filter->until_ms ? filter->until_ms : INT64_MAX), DB_TEXT(filter->caller),
               DB_TEXT(filter->tool), DB_TEXT(pattern), DB_INT(filter->limit)),
        (size_t)filter->limit);
    int found;
    while ((found = db_step(rows)) > 0) {
        if (db_int(rows, 0) >= before) {
            found = db_goes_back(rows);
            break;
        }
        take_past(rows, take, context);
    }
    db_end(rows);
    free(pattern);
    return found;
}

int records_result(struct db *db, struct arena *arena, const char *caller, int64_t id,
                   const void **result, size_t *size)
{
    struct db_rows *rows = db_ask(db,
                                  "SELECT result FROM {history} WHERE id = ?1 AND (CAST(?2 AS "
                                  "TEXT) IS NULL OR caller = ?2)",
                                  DB_INT(id), DB_TEXT(caller));
    *result = NULL;
    int found = db_step(rows);
    if (found > 0) {
        const void *bytes = db_bytes(rows, 0, size);
        void *copy = bytes ? arena_alloc(arena, *size) : NULL;
        if (copy) {
            memcpy(copy, bytes, *size);
        }
        *result = copy;
        found = bytes && !copy ? ERR_NOMEM : OK;
    } else if (found == 0) {
        found = ERR_NOTFOUND;
    }
    db_end(rows);
    return found;
}

int records_find_answer(struct db *db, const char *caller, const unsigned char key[SHA256_SIZE],
                        int64_t time_to_live_ms, char **answer, int64_t *at_ms)
{
    int64_t now = clock_wall_ms();
    struct db_rows *rows = db_ask(db,
                                  "SELECT at_ms, answer FROM {answers} WHERE key = ?1 AND caller = "
                                  "?2 AND at_ms > ?3 AND at_ms <= ?4",
                                  DB_BYTES(key, SHA256_SIZE), DB_TEXT(caller),
                                  DB_INT(now - time_to_live_ms), DB_INT(now));
    *answer = NULL;
    int found = db_step(rows);
    if (found > 0) {
        *at_ms = db_int(rows, 0);
        *answer = strdup(db_words(rows, 1));
        found = *answer ? OK : ERR_NOMEM;
    }
    db_end(rows);
    return found;
}

/* What was wiped must not be found in the file either: freed pages are overwritten, and the log is
 * written back and emptied. Old contents of a server leave its disk when it vacuums. To delete
 * twice is to delete once, so that a commit in doubt is nobody's trouble. */
int records_wipe(struct db *db, const char *caller, int64_t *wiped)
{
    *wiped = 0;
    int status = db_begin(db, true);
    if (status == OK) {
        struct db_rows *rows =
            db_ask(db, "DELETE FROM {history} WHERE caller = ?1 RETURNING id", DB_TEXT(caller));
        while ((status = db_step(rows)) > 0) {
            ++*wiped;
        }
        db_end(rows);
    }
    /* A job that runs notices that it is gone, and ends. */
    static const char *const MORE[] = {
        "DELETE FROM {answers} WHERE caller = ?1",
        "DELETE FROM {steps} WHERE job IN (SELECT id FROM {jobs} WHERE caller = ?1)",
        "DELETE FROM {jobs} WHERE caller = ?1"};
    for (size_t i = 0; status == OK && i < sizeof MORE / sizeof *MORE; i++) {
        status = db_do(db, MORE[i], DB_TEXT(caller));
    }
    if (status == OK) {
        status = db_commit(db);
    }
    db_rollback(db);
    if (status == OK && !db_is_postgres(db) &&
        db_run(db, "PRAGMA wal_checkpoint(TRUNCATE)") != OK) {
        /* somebody reads: the log is emptied with a later checkpoint */
    }
    return status;
}
