/* The store in an SQLite file. */
#include "core/id.h"
#include "core/limits.h"
#include "db/sqlite.h"
#include "ops/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS INT64_C(86400000)

static const char *const VERSIONS[] = {
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
    NULL,
};

struct file_store {
    struct store store;
    struct sqlite *db;
    bool synced;     /* what the options want */
    bool now_synced; /* what the connection does */
};

static struct sqlite *db_of(const struct store *store)
{
    return ((const struct file_store *)store)->db;
}

static struct store *close_store(struct store *store)
{
    if (store) {
        sqlite_close(db_of(store));
        free(store);
    }
    return NULL;
}

static const char *problem_of(const struct store *store)
{
    return sqlite_problem(db_of(store));
}

static int read_secret(struct store *store, unsigned char key[SHA256_SIZE])
{
    unsigned char fresh[SHA256_SIZE];
    struct sqlite *db = db_of(store);
    struct sqlite_statement *select =
        sqlite_prepare(db, "SELECT value FROM secrets WHERE name = 'fingerprint'");
    int found = sqlite_step(select);
    if (found == 1) {
        size_t length;
        const void *bytes = sqlite_bytes(select, 0, &length);
        found = length == SHA256_SIZE ? 1 : ERR_INVALID;
        if (found == 1) {
            memcpy(key, bytes, SHA256_SIZE);
        }
    }
    sqlite_end(select);
    if (found != 0) {
        return found < 0 ? found : OK;
    }
    if (id_random(fresh, sizeof fresh) != OK) {
        return ERR_IO;
    }
    /* Another process may be faster; then its key counts. */
    struct sqlite_statement *insert =
        sqlite_prepare(db, "INSERT OR IGNORE INTO secrets VALUES ('fingerprint', ?)");
    sqlite_bind_bytes(insert, 1, fresh, sizeof fresh);
    int status = sqlite_finish(insert);
    return status == OK ? read_secret(store, key) : status;
}

/* ---- writing ---- */

static int begin(struct store *store, bool durable)
{
    struct file_store *file = (struct file_store *)store;
    if (file->synced && durable != file->now_synced) {
        int status = sqlite_set_synced(file->db, durable);
        if (status != OK) {
            return status;
        }
        file->now_synced = durable;
    }
    return sqlite_begin(file->db);
}

static int commit(struct store *store)
{
    return sqlite_commit(db_of(store));
}

static void rollback(struct store *store)
{
    sqlite_rollback(db_of(store));
}

static int read_window(struct store *store, const char *key, struct limit_window *window)
{
    struct sqlite *db = db_of(store);
    struct sqlite_statement *select =
        sqlite_prepare(db, "SELECT ends_ms, used FROM windows WHERE key = ?");
    sqlite_bind_text(select, 1, key);
    int found = sqlite_step(select);
    *window = (struct limit_window){0};
    if (found == 1) {
        *window = (struct limit_window){sqlite_int(select, 0), sqlite_int(select, 1)};
    }
    sqlite_end(select);
    return found < 0 ? found : OK;
}

static int write_window(struct store *store, const char *key, const struct limit_window *window)
{
    struct sqlite *db = db_of(store);
    struct sqlite_statement *insert = sqlite_prepare(db, "REPLACE INTO windows VALUES (?, ?, ?)");
    sqlite_bind_text(insert, 1, key);
    sqlite_bind_int(insert, 2, window->ends_ms);
    sqlite_bind_int(insert, 3, window->used);
    return sqlite_finish(insert);
}

static int take(struct store *store, struct limit_claim *claims, size_t count, int64_t now_ms)
{
    return store_take_windows(store, read_window, write_window, claims, count, now_ms);
}

static int spent(struct store *store, const char *caller, int64_t now_ms, struct spending *spent)
{
    char day[GATE_DAY_SIZE];
    gate_day(now_ms, day);
    struct sqlite_statement *select = sqlite_prepare(
        db_of(store), "SELECT total(CASE WHEN caller = ?2 THEN nano_usd END), total(nano_usd) "
                      "FROM usage WHERE day = ?1");
    sqlite_bind_text(select, 1, day);
    sqlite_bind_text(select, 2, caller);
    int found = sqlite_step(select);
    if (found == 1) {
        *spent = (struct spending){sqlite_int(select, 0), sqlite_int(select, 1)};
    }
    sqlite_end(select);
    return found < 0 ? found : OK;
}

static int add_usage(struct sqlite *db, const struct store_record *record)
{
    char day[GATE_DAY_SIZE];
    gate_day(record->at_ms, day);
    struct sqlite_statement *insert = sqlite_prepare(
        db, "INSERT INTO usage VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "calls = calls + 1, failures = failures + excluded.failures,"
            "recalled = recalled + excluded.recalled,"
            "input_tokens = input_tokens + excluded.input_tokens,"
            "output_tokens = output_tokens + excluded.output_tokens,"
            "nano_usd = nano_usd + excluded.nano_usd, unpriced = unpriced + excluded.unpriced");
    sqlite_bind_text(insert, 1, day);
    sqlite_bind_text(insert, 2, record->caller);
    sqlite_bind_text(insert, 3, record->tool);
    sqlite_bind_int(insert, 4, record->code != NULL);
    sqlite_bind_int(insert, 5, record->recalled);
    sqlite_bind_int(insert, 6, record->input_tokens);
    sqlite_bind_int(insert, 7, record->output_tokens);
    sqlite_bind_int(insert, 8, record->nano_usd);
    sqlite_bind_int(insert, 9, record->unpriced);
    return sqlite_finish(insert);
}

static int add_history(struct sqlite *db, const struct store_record *record)
{
    struct sqlite_statement *insert = sqlite_prepare(
        db, "INSERT INTO history (caller, at_ms, tool, arguments, code, took_ms, input_tokens, "
            "output_tokens, nano_usd) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    sqlite_bind_text(insert, 1, record->caller);
    sqlite_bind_int(insert, 2, record->at_ms);
    sqlite_bind_text(insert, 3, record->tool);
    sqlite_bind_text(insert, 4, record->arguments);
    sqlite_bind_text(insert, 5, record->code);
    sqlite_bind_int(insert, 6, record->took_ms);
    sqlite_bind_int(insert, 7, record->input_tokens);
    sqlite_bind_int(insert, 8, record->output_tokens);
    sqlite_bind_int(insert, 9, record->nano_usd);
    return sqlite_finish(insert);
}

static int add(struct store *store, const struct store_record *record)
{
    int status = add_usage(db_of(store), record);
    return status == OK && record->arguments ? add_history(db_of(store), record) : status;
}

static int tidy(struct store *store, int64_t now_ms)
{
    char day[GATE_DAY_SIZE];
    struct sqlite *db = db_of(store);
    gate_day(now_ms - LIMIT_USAGE_DAYS * DAY_MS, day);
    struct sqlite_statement *windows = sqlite_prepare(db, "DELETE FROM windows WHERE ends_ms <= ?");
    sqlite_bind_int(windows, 1, now_ms);
    int status = sqlite_finish(windows);
    if (status == OK) {
        struct sqlite_statement *usage = sqlite_prepare(db, "DELETE FROM usage WHERE day < ?");
        sqlite_bind_text(usage, 1, day);
        status = sqlite_finish(usage);
    }
    if (status == OK) {
        struct sqlite_statement *history = sqlite_prepare(
            db, "DELETE FROM history WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER "
                "(PARTITION BY caller ORDER BY id DESC) AS place FROM history) WHERE place > ?)");
        sqlite_bind_int(history, 1, LIMIT_HISTORY_ROWS);
        status = sqlite_finish(history);
    }
    return status;
}

/* ---- reading ---- */

static int read_usage(struct store *store, struct call *call, const char *caller,
                      const char *from_day, store_usage_row row, void *context)
{
    struct sqlite *db = db_of(store);
    sqlite_work_for(db, call);
    struct sqlite_statement *select = sqlite_prepare(
        db, "SELECT day, caller, tool, calls, failures, recalled, input_tokens, output_tokens, "
            "nano_usd, unpriced FROM usage WHERE day >= ?1 AND (?2 IS NULL OR caller = ?2) "
            "ORDER BY day DESC, caller, tool");
    sqlite_bind_text(select, 1, from_day);
    sqlite_bind_text(select, 2, caller);
    int found;
    while ((found = sqlite_step(select)) == 1) {
        struct store_usage sums = {
            .day = sqlite_text(select, 0),
            .caller = sqlite_text(select, 1),
            .tool = sqlite_text(select, 2),
            .calls = sqlite_int(select, 3),
            .failures = sqlite_int(select, 4),
            .recalled = sqlite_int(select, 5),
            .input_tokens = sqlite_int(select, 6),
            .output_tokens = sqlite_int(select, 7),
            .nano_usd = sqlite_int(select, 8),
            .unpriced = sqlite_int(select, 9),
        };
        row(context, &sums);
    }
    sqlite_end(select);
    sqlite_work_for(db, NULL);
    return found;
}

static int read_history(struct store *store, struct call *call, const char *caller, int64_t before,
                        int64_t limit, store_past_row row, void *context)
{
    struct sqlite *db = db_of(store);
    sqlite_work_for(db, call);
    struct sqlite_statement *select = sqlite_prepare(
        db, "SELECT id, at_ms, tool, arguments, code, took_ms, input_tokens, output_tokens, "
            "nano_usd FROM history WHERE caller = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3");
    sqlite_bind_text(select, 1, caller);
    sqlite_bind_int(select, 2, before > 0 ? before : INT64_MAX);
    sqlite_bind_int(select, 3, limit);
    int found;
    while ((found = sqlite_step(select)) == 1) {
        struct store_past_call past = {
            .id = sqlite_int(select, 0),
            .at_ms = sqlite_int(select, 1),
            .tool = sqlite_text(select, 2),
            .arguments = sqlite_text(select, 3),
            .code = sqlite_text(select, 4),
            .took_ms = sqlite_int(select, 5),
            .input_tokens = sqlite_int(select, 6),
            .output_tokens = sqlite_int(select, 7),
            .nano_usd = sqlite_int(select, 8),
        };
        row(context, &past);
    }
    sqlite_end(select);
    sqlite_work_for(db, NULL);
    return found;
}

/* What was wiped must not be found in the file either: freed pages are overwritten, and the log is
 * written back and emptied. */
static int wipe(struct store *store, struct call *call, const char *caller, int64_t *wiped)
{
    struct sqlite *db = db_of(store);
    sqlite_work_for(db, call);
    int status = sqlite_run(db, "PRAGMA secure_delete = ON");
    if (status == OK) {
        status = begin(store, true);
    }
    if (status == OK) {
        struct sqlite_statement *delete =
            sqlite_prepare(db, "DELETE FROM history WHERE caller = ?");
        sqlite_bind_text(delete, 1, caller);
        status = sqlite_finish(delete);
        *wiped = sqlite_changes(db);
        status = status == OK ? sqlite_commit(db) : status;
        sqlite_rollback(db);
    }
    if (status == OK) {
        sqlite_run(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    }
    sqlite_work_for(db, NULL);
    return status;
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

struct store *store_sqlite_open(const char *path, bool synced, struct call *call, char *problem,
                                size_t size)
{
    struct sqlite_options options = {.path = path, .versions = VERSIONS, .unsynced = !synced};
    struct file_store *file = calloc(1, sizeof *file);
    if (!file) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    *file = (struct file_store){{&FUNCTIONS}, NULL, synced, synced};
    file->db = sqlite_open(&options, call, problem, size);
    if (!file->db) {
        free(file);
        return NULL;
    }
    return &file->store;
}
