/* The store in a PostgreSQL database, which servers on several machines share. */
#include "core/clock.h"
#include "core/id.h"
#include "core/limits.h"
#include "db/postgres.h"
#include "ops/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS        INT64_C(86400000)
#define TOKEN_SIZE    16
#define TOKEN_LIFE_MS INT64_C(3600000)

static const char *const VERSIONS[] = {
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
    NULL,
};

struct shared_store {
    struct store store;
    struct postgres *db;
    bool synced;    /* what the options want */
    bool has_token; /* of the present transaction */
    unsigned char token[TOKEN_SIZE];
};

static struct postgres *db_of(const struct store *store)
{
    return ((const struct shared_store *)store)->db;
}

static struct store *close_store(struct store *store)
{
    if (store) {
        postgres_close(db_of(store));
        free(store);
    }
    return NULL;
}

static const char *problem_of(const struct store *store)
{
    return postgres_problem(db_of(store));
}

/* 1 with the key, 0 when there is none yet. */
static int find_secret(struct postgres *db, unsigned char key[SHA256_SIZE])
{
    postgres_ask(db, "SELECT value FROM forage_secrets WHERE name = 'fingerprint'");
    int found = postgres_step(db);
    if (found == 1) {
        size_t length;
        const void *bytes = postgres_bytes(db, 0, &length);
        found = length == SHA256_SIZE ? 1 : ERR_INVALID;
        if (found == 1) {
            memcpy(key, bytes, SHA256_SIZE);
        }
    }
    postgres_end(db);
    return found;
}

static int read_secret(struct store *store, unsigned char key[SHA256_SIZE])
{
    unsigned char fresh[SHA256_SIZE];
    struct postgres *db = db_of(store);
    int found = find_secret(db, key);
    if (found != 0) {
        return found < 0 ? found : OK;
    }
    if (id_random(fresh, sizeof fresh) != OK) {
        return ERR_IO;
    }
    /* Another server may be faster; then its key counts. */
    postgres_ask(db, "INSERT INTO forage_secrets (name, value) VALUES ('fingerprint', $1) ON "
                     "CONFLICT DO NOTHING");
    postgres_give_bytes(db, fresh, sizeof fresh);
    int status = postgres_finish(db);
    found = status == OK ? find_secret(db, key) : status;
    return found > 0 ? OK : found == 0 ? ERR_IO : found;
}

/* ---- writing ---- */

/* Those who write take turns, as with a file: windows are read and then written, and rows that two
 * of them write in different order would block both. A turn is short, and ends with a server that
 * falls silent. The number is "records". */
#define TAKE_TURN                                                                                  \
    "SET LOCAL idle_in_transaction_session_timeout = 10000; "                                      \
    "SELECT pg_advisory_xact_lock(32199625090950259)"

static int begin(struct store *store, bool durable)
{
    struct shared_store *shared = (struct shared_store *)store;
    bool waits = durable && shared->synced;
    shared->has_token = false;
    if (durable && id_random(shared->token, sizeof shared->token) == OK) {
        shared->has_token = true;
    }
    int status = postgres_begin(shared->db);
    if (status == OK) {
        status = postgres_run(shared->db,
                              waits ? TAKE_TURN : "SET LOCAL synchronous_commit = off; " TAKE_TURN);
    }
    return status;
}

/* A transaction that is not repeated harmlessly leaves its token. 1: it was written; 0: there is
 * one like it. */
static int write_token(struct shared_store *shared)
{
    postgres_ask(shared->db,
                 "INSERT INTO forage_commits (token, at_ms) VALUES ($1, $2) ON CONFLICT "
                 "DO NOTHING RETURNING 1");
    postgres_give_bytes(shared->db, shared->token, sizeof shared->token);
    postgres_give_int(shared->db, clock_wall_ms());
    int written = postgres_step(shared->db);
    postgres_end(shared->db);
    return written;
}

/* The server went away while it committed. Whoever writes the token first has decided: when it can
 * be written now, the other transaction did not happen, and never will; when it is there, it did.
 */
static int settle(struct shared_store *shared)
{
    int status = postgres_begin(shared->db);
    int written = status == OK ? write_token(shared) : status;
    if (written == 1) {
        status = postgres_commit(shared->db);
    }
    postgres_rollback(shared->db);
    return written == 0 ? OK : ERR_CLOSED;
}

static int commit(struct store *store)
{
    struct shared_store *shared = (struct shared_store *)store;
    if (shared->has_token) {
        int written = write_token(shared);
        if (written < 0) {
            return written;
        }
    }
    int status = postgres_commit(shared->db);
    if (status != OK && shared->has_token && postgres_in_doubt(shared->db)) {
        status = settle(shared);
    }
    return status;
}

static void rollback(struct store *store)
{
    postgres_rollback(db_of(store));
}

static int read_window(struct store *store, const char *key, struct limit_window *window)
{
    struct postgres *db = db_of(store);
    postgres_ask(db, "SELECT ends_ms, used FROM forage_windows WHERE key = $1");
    postgres_give_text(db, key);
    int found = postgres_step(db);
    *window = (struct limit_window){0};
    if (found == 1) {
        *window = (struct limit_window){postgres_int(db, 0), postgres_int(db, 1)};
    }
    postgres_end(db);
    return found < 0 ? found : OK;
}

static int write_window(struct store *store, const char *key, const struct limit_window *window)
{
    struct postgres *db = db_of(store);
    postgres_ask(db, "INSERT INTO forage_windows (key, ends_ms, used) VALUES ($1, $2, $3) ON "
                     "CONFLICT (key) DO UPDATE SET ends_ms = excluded.ends_ms, used = "
                     "excluded.used");
    postgres_give_text(db, key);
    postgres_give_int(db, window->ends_ms);
    postgres_give_int(db, window->used);
    return postgres_finish(db);
}

static int take(struct store *store, struct limit_claim *claims, size_t count, int64_t now_ms)
{
    return store_take_windows(store, read_window, write_window, claims, count, now_ms);
}

static int spent(struct store *store, const char *caller, int64_t now_ms, struct spending *spent)
{
    char day[GATE_DAY_SIZE];
    struct postgres *db = db_of(store);
    gate_day(now_ms, day);
    postgres_ask(db, "SELECT coalesce(sum(nano_usd) FILTER (WHERE caller = $2), 0)::bigint, "
                     "coalesce(sum(nano_usd), 0)::bigint FROM forage_usage WHERE day = $1");
    postgres_give_text(db, day);
    postgres_give_text(db, caller);
    int found = postgres_step(db);
    if (found == 1) {
        *spent = (struct spending){postgres_int(db, 0), postgres_int(db, 1)};
    }
    postgres_end(db);
    return found < 0 ? found : OK;
}

static int add_usage(struct postgres *db, const struct store_record *record)
{
    char day[GATE_DAY_SIZE];
    gate_day(record->at_ms, day);
    postgres_ask(
        db, "INSERT INTO forage_usage AS kept VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9) ON "
            "CONFLICT (day, caller, tool) DO UPDATE SET calls = kept.calls + 1,"
            " failures = kept.failures + excluded.failures,"
            " recalled = kept.recalled + excluded.recalled,"
            " input_tokens = kept.input_tokens + excluded.input_tokens,"
            " output_tokens = kept.output_tokens + excluded.output_tokens,"
            " nano_usd = kept.nano_usd + excluded.nano_usd,"
            " unpriced = kept.unpriced + excluded.unpriced");
    postgres_give_text(db, day);
    postgres_give_text(db, record->caller);
    postgres_give_text(db, record->tool);
    postgres_give_int(db, record->code != NULL);
    postgres_give_int(db, record->recalled);
    postgres_give_int(db, record->input_tokens);
    postgres_give_int(db, record->output_tokens);
    postgres_give_int(db, record->nano_usd);
    postgres_give_int(db, record->unpriced);
    return postgres_finish(db);
}

static int add_history(struct postgres *db, const struct store_record *record)
{
    postgres_ask(db, "INSERT INTO forage_history (caller, at_ms, tool, arguments, code, took_ms, "
                     "input_tokens, output_tokens, nano_usd) VALUES ($1, $2, $3, $4, $5, $6, $7, "
                     "$8, $9)");
    postgres_give_text(db, record->caller);
    postgres_give_int(db, record->at_ms);
    postgres_give_text(db, record->tool);
    postgres_give_text(db, record->arguments);
    postgres_give_text(db, record->code);
    postgres_give_int(db, record->took_ms);
    postgres_give_int(db, record->input_tokens);
    postgres_give_int(db, record->output_tokens);
    postgres_give_int(db, record->nano_usd);
    return postgres_finish(db);
}

static int add(struct store *store, const struct store_record *record)
{
    int status = add_usage(db_of(store), record);
    return status == OK && record->arguments ? add_history(db_of(store), record) : status;
}

static int delete_before(struct postgres *db, const char *sql, int64_t moment_ms)
{
    postgres_ask(db, sql);
    postgres_give_int(db, moment_ms);
    return postgres_finish(db);
}

static int tidy(struct store *store, int64_t now_ms)
{
    char day[GATE_DAY_SIZE];
    struct postgres *db = db_of(store);
    gate_day(now_ms - LIMIT_USAGE_DAYS * DAY_MS, day);
    int status = delete_before(db, "DELETE FROM forage_windows WHERE ends_ms <= $1", now_ms);
    if (status == OK) {
        status = delete_before(db, "DELETE FROM forage_commits WHERE at_ms < $1",
                               now_ms - TOKEN_LIFE_MS);
    }
    if (status == OK) {
        postgres_ask(db, "DELETE FROM forage_usage WHERE day < $1");
        postgres_give_text(db, day);
        status = postgres_finish(db);
    }
    if (status == OK) {
        postgres_ask(db, "DELETE FROM forage_history WHERE id IN (SELECT id FROM (SELECT id, "
                         "row_number() OVER (PARTITION BY caller ORDER BY id DESC) AS place FROM "
                         "forage_history) AS placed WHERE place > $1)");
        postgres_give_int(db, LIMIT_HISTORY_ROWS);
        status = postgres_finish(db);
    }
    return status;
}

/* ---- reading ---- */

static int read_usage(struct store *store, struct call *call, const char *caller,
                      const char *from_day, store_usage_row row, void *context)
{
    struct postgres *db = db_of(store);
    postgres_work_for(db, call);
    postgres_ask(db, "SELECT day, caller, tool, calls, failures, recalled, input_tokens, "
                     "output_tokens, nano_usd, unpriced FROM forage_usage WHERE day >= $1 AND "
                     "($2::text IS NULL OR caller = $2) ORDER BY day DESC, caller, tool");
    postgres_give_text(db, from_day);
    postgres_give_text(db, caller);
    int found;
    while ((found = postgres_step(db)) == 1) {
        struct store_usage sums = {
            .day = postgres_text(db, 0),
            .caller = postgres_text(db, 1),
            .tool = postgres_text(db, 2),
            .calls = postgres_int(db, 3),
            .failures = postgres_int(db, 4),
            .recalled = postgres_int(db, 5),
            .input_tokens = postgres_int(db, 6),
            .output_tokens = postgres_int(db, 7),
            .nano_usd = postgres_int(db, 8),
            .unpriced = postgres_int(db, 9),
        };
        row(context, &sums);
    }
    postgres_end(db);
    postgres_work_for(db, NULL);
    return found;
}

static int read_history(struct store *store, struct call *call, const char *caller, int64_t before,
                        int64_t limit, store_past_row row, void *context)
{
    struct postgres *db = db_of(store);
    postgres_work_for(db, call);
    postgres_ask(db, "SELECT id, at_ms, tool, arguments, code, took_ms, input_tokens, "
                     "output_tokens, nano_usd FROM forage_history WHERE caller = $1 AND id < $2 "
                     "ORDER BY id DESC LIMIT $3");
    postgres_give_text(db, caller);
    postgres_give_int(db, before > 0 ? before : INT64_MAX);
    postgres_give_int(db, limit);
    int found;
    while ((found = postgres_step(db)) == 1) {
        struct store_past_call past = {
            .id = postgres_int(db, 0),
            .at_ms = postgres_int(db, 1),
            .tool = postgres_text(db, 2),
            .arguments = postgres_text(db, 3),
            .code = postgres_text(db, 4),
            .took_ms = postgres_int(db, 5),
            .input_tokens = postgres_int(db, 6),
            .output_tokens = postgres_int(db, 7),
            .nano_usd = postgres_int(db, 8),
        };
        row(context, &past);
    }
    postgres_end(db);
    postgres_work_for(db, NULL);
    return found;
}

/* To delete twice is to delete once, so that nothing has to be settled. Old contents leave the disk
 * when the server vacuums. */
static int wipe(struct store *store, struct call *call, const char *caller, int64_t *wiped)
{
    struct postgres *db = db_of(store);
    postgres_work_for(db, call);
    postgres_ask(db, "WITH gone AS (DELETE FROM forage_history WHERE caller = $1 RETURNING id) "
                     "SELECT count(*) FROM gone");
    postgres_give_text(db, caller);
    int found = postgres_step(db);
    *wiped = found == 1 ? postgres_int(db, 0) : 0;
    int status = postgres_finish(db);
    postgres_work_for(db, NULL);
    return found < 0 ? found : status;
}

static const struct store_functions FUNCTIONS = {
    .close = close_store,
    .problem = problem_of,
    .secret = read_secret,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .take = take,
    .spent = spent,
    .add = add,
    .tidy = tidy,
    .usage = read_usage,
    .history = read_history,
    .wipe = wipe,
};

struct store *store_postgres_open(const char *url, bool synced, struct call *call, char *problem,
                                  size_t size)
{
    struct postgres_options options = {.url = url, .part = "records", .versions = VERSIONS};
    struct shared_store *shared = calloc(1, sizeof *shared);
    if (!shared) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    *shared = (struct shared_store){.store = {&FUNCTIONS}, .synced = synced};
    shared->db = postgres_open(&options, call, problem, size);
    if (!shared->db) {
        free(shared);
        return NULL;
    }
    postgres_work_for(shared->db, NULL);
    return &shared->store;
}
