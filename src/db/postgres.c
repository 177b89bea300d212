/* PostgreSQL: a database that several processes and machines share. Everything that waits for the
 * server waits in call_wait() for the call that the connection works for, so that a call that ends
 * ends its statement: the connection is then closed, and the server notices. Outside of a
 * transaction a connection that has died unnoticed is replaced. */
#include "core/clock.h"
#include "core/id.h"
#include "db/engine.h"
#include "db/postgres_connect.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct postgres {
    struct db base;
    const struct postgres_api *api;
    char *url;
    PGconn *handle;       /* NULL: lost */
    uint64_t connections; /* how many were made; the last one is `handle` */
    bool pooled;          /* through a pooler */
    uint64_t secret;      /* of the names of statements: nobody else prepares by them */
    int64_t until_ms;     /* how long the server is waited for, without a call */
    bool opening;         /* the connection is being made: nothing is repeated */
    bool in_transaction;
    struct db_rows *running; /* the statement whose results are coming */
    PGresult *row;
    uint64_t known[LIMIT_DB_STATEMENTS]; /* the connection that knows a statement of this place */
};

static struct postgres *postgres_of(struct db *db)
{
    return (struct postgres *)db;
}

/* ---- what errors mean ---- */

static const struct {
    const char *code; /* the begin of SQLSTATE */
    int status;
    const char *words; /* NULL: the server's own */
} ERRORS[] = {
    {"40", ERR_BUSY, NULL},    /* serialization failure, deadlock */
    {"55P03", ERR_BUSY, NULL}, /* a lock that was not waited for */
    {"23505", ERR_BUSY, NULL}, /* somebody else added the same: it is found the next time */
    {"08", ERR_CLOSED, NULL},
    {"57P", ERR_CLOSED, NULL}, /* the server ends, or ended the connection */
    {"25P03", ERR_CLOSED, NULL},
    {"25P04", ERR_CLOSED, NULL},
    {"22021", ERR_INVALID, "a text is not valid UTF-8"},
    {"26000", ERR_IO, POSTGRES_POOLER_WORDS}, /* a statement that was prepared is unknown */
    {"53100", ERR_IO, "the database's disk is full"},
    {"25006", ERR_IO, "the database takes no changes: it is read-only"},
};

/* The connection is of no use any more. Its transaction, if there is one, is known to be over once
 * somebody undoes it. */
static int lose(struct postgres *db, int status)
{
    db->api->finish(db->handle);
    db->handle = NULL;
    return status;
}

static int lose_broken(struct postgres *db)
{
    postgres_words(db->api->errorMessage(db->handle), db->base.problem, sizeof db->base.problem);
    return lose(db, ERR_CLOSED);
}

/* The status of an error that the server sent. Only its first words are kept: the rest may show
 * data. */
static int refused(struct postgres *db, const PGresult *result)
{
    const char *code = db->api->resultErrorField(result, PG_DIAG_SQLSTATE);
    const char *words = db->api->resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    int status = ERR_IO;
    if (!code) {
        status = ERR_CLOSED; /* libpq's own: the connection broke */
    }
    for (size_t i = 0; code && i < sizeof ERRORS / sizeof *ERRORS; i++) {
        if (strncmp(code, ERRORS[i].code, strlen(ERRORS[i].code)) == 0) {
            status = ERRORS[i].status;
            words = ERRORS[i].words ? ERRORS[i].words : words;
            break;
        }
    }
    postgres_words(words ? words : "the server closed the connection", db->base.problem,
                   sizeof db->base.problem);
    return status;
}

/* ---- waiting ---- */

static int wait_ready(struct postgres *db, short events)
{
    struct pollfd socket = {.fd = db->api->socket(db->handle), .events = events};
    int ready;
    if (db->base.call) {
        /* A server that never stops to send would always be ready before the call's time is up. */
        ready = call_check(db->base.call);
        ready = ready == OK ? call_wait(db->base.call, &socket, 1, -1) : ready;
    } else {
        int64_t left = db->until_ms - clock_now_ms();
        ready = left > 0 ? poll(&socket, 1, (int)left) : 0;
    }
    if (ready > 0) {
        return OK;
    }
    if (ready == 0) {
        snprintf(db->base.problem, sizeof db->base.problem,
                 "the database did not answer within %d seconds", TIME_POSTGRES_PATIENCE_MS / 1000);
        return lose(db, ERR_CLOSED);
    }
    snprintf(db->base.problem, sizeof db->base.problem,
             "the call ended while it waited for the database");
    return lose(db, db->base.call ? ready : ERR_CLOSED);
}

/* forage never copies. libpq gives such a result again and again until somebody takes the data, so
 * the connection is dropped. */
static int refuse_copy(struct postgres *db, PGresult **result)
{
    db->api->clear(*result);
    *result = NULL;
    snprintf(db->base.problem, sizeof db->base.problem,
             "the database began to copy data, which it was not asked for");
    return lose(db, ERR_CLOSED);
}

/* The next result of what was sent; NULL in `result` at the end. */
static int next_result(struct postgres *db, PGresult **result)
{
    const struct postgres_api *api = db->api;
    *result = NULL;
    while (api->isBusy(db->handle)) {
        int unsent = api->flush(db->handle);
        if (unsent < 0) {
            return lose_broken(db);
        }
        int status = wait_ready(db, unsent ? POLLIN | POLLOUT : POLLIN);
        if (status != OK) {
            return status;
        }
        if (!api->consumeInput(db->handle)) {
            return lose_broken(db);
        }
    }
    *result = api->getResult(db->handle);
    ExecStatusType kind = *result ? api->resultStatus(*result) : PGRES_EMPTY_QUERY;
    bool copies = kind == PGRES_COPY_IN || kind == PGRES_COPY_OUT || kind == PGRES_COPY_BOTH;
    return copies ? refuse_copy(db, result) : OK;
}

static void start_waiting(struct postgres *db)
{
    db->until_ms = clock_now_ms() + TIME_POSTGRES_PATIENCE_MS;
}

/* Takes all results of what was sent; the words of the last command, in `tag`. */
static int finish_results(struct postgres *db, char *tag, size_t size)
{
    int status = OK;
    PGresult *result;
    for (;;) {
        int got = next_result(db, &result);
        if (got != OK || !result) {
            status = status == OK ? got : status;
            break;
        }
        ExecStatusType kind = db->api->resultStatus(result);
        if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK && kind != PGRES_SINGLE_TUPLE) {
            status = status == OK ? refused(db, result) : status;
        } else if (tag) {
            snprintf(tag, size, "%s", db->api->cmdStatus(result));
        }
        db->api->clear(result);
    }
    if (db->handle && (status == ERR_CLOSED || db->api->status(db->handle) == CONNECTION_BAD)) {
        return lose(db, ERR_CLOSED);
    }
    return status;
}

static int run_once(struct postgres *db, const char *sql, char *tag, size_t size)
{
    start_waiting(db);
    if (!db->api->sendQuery(db->handle, sql)) {
        return lose_broken(db);
    }
    return finish_results(db, tag, size);
}

/* ---- connecting ---- */

/* A connection that a machine left behind must not hold a lock for ever, and the server should
 * notice when a call gives up its statement. What was acknowledged is on the disk, whatever the
 * server's preset is. Plans are made anew each time: one that was made and kept while the tables
 * were small goes by any index, and reads a whole namespace for each row of an import. */
static const char *const HABITS[] = {
    "SET idle_in_transaction_session_timeout = 60000",
    ("SELECT set_config('synchronous_commit', 'on', false) WHERE "
     "current_setting('synchronous_commit') = 'off'"),
    "SET plan_cache_mode = force_custom_plan",     /* since 12 */
    "SET client_connection_check_interval = 1000", /* since 14, not on every system */
};

static int take_habits(struct postgres *db)
{
    int status = OK;
    for (size_t i = 0; i < sizeof HABITS / sizeof *HABITS && db->handle; i++) {
        status = run_once(db, HABITS[i], NULL, 0);
    }
    return db->handle ? OK : status;
}

/* Makes the connection; the reason of a failure is in the problem of the connection. */
static int connect_for(struct postgres *db, struct call *call)
{
    db->opening = true;
    db->connections++;
    int status = postgres_connect(db->api, db->url, call, &db->handle, &db->pooled,
                                  db->base.problem, sizeof db->base.problem);
    if (status == OK) {
        status = id_random(&db->secret, sizeof db->secret);
    }
    if (status == OK) {
        status = take_habits(db);
    }
    if (status == OK && db->base.schema) {
        status = db_migrate(&db->base);
    }
    db->opening = false;
    db->base.in_doubt = false;
    if (status != OK && db->handle) {
        lose(db, status);
    }
    return status;
}

static int make_connection(struct postgres *db)
{
    if (db->base.call) {
        return connect_for(db, db->base.call);
    }
    struct call *call = call_new(&(struct call_options){.timeout_ms = TIME_POSTGRES_PATIENCE_MS});
    if (!call) {
        return ERR_NOMEM;
    }
    int status = connect_for(db, call);
    call_free(call);
    return status;
}

/* Whether there is a connection, made anew where it was lost and nothing of it is needed. */
static int be_connected(struct postgres *db)
{
    if (db->handle) {
        return OK;
    }
    return db->in_transaction || db->opening ? ERR_CLOSED : make_connection(db);
}

static void close_connection(struct db *base)
{
    struct postgres *db = postgres_of(base);
    if (db->handle) {
        db->api->finish(db->handle); /* the server undoes what was not committed */
    }
    free(db->url);
    free(db);
}

static bool is_alive(struct db *base)
{
    struct postgres *db = postgres_of(base);
    if (!db->handle) {
        return false;
    }
    /* Nothing is asked, so whatever comes is its end. */
    struct pollfd socket = {.fd = db->api->socket(db->handle), .events = POLLIN};
    return db->api->status(db->handle) == CONNECTION_OK && poll(&socket, 1, 0) == 0;
}

/* ---- statements ---- */

/* Makes the statement known to the server, by the number of its place. A pooler knows no
 * DEALLOCATE: there all statements get new names, and it forgets the old ones by itself. */
static int prepare(struct postgres *db, struct db_rows *rows, char *name, size_t size)
{
    char sql[96];
    int status = OK;
    bool known = rows->connection == db->connections;
    if (!known && db->pooled && db->known[rows->place] == db->connections) {
        db->connections++;
    }
    snprintf(name, size, "forage_%016llx_%llu_%zu", (unsigned long long)db->secret,
             (unsigned long long)db->connections, rows->place);
    if (known) {
        return OK;
    }
    if (db->known[rows->place] == db->connections) { /* another one had the place */
        snprintf(sql, sizeof sql, "DEALLOCATE %s", name);
        status = run_once(db, sql, NULL, 0);
        /* Then the place is empty, also where the next statement cannot be prepared. */
        db->known[rows->place] = status == OK ? 0 : db->connections;
    }
    if (status == OK && !db->api->sendPrepare(db->handle, name, rows->words, 0, NULL)) {
        return lose_broken(db);
    }
    if (status == OK) {
        status = finish_results(db, NULL, 0);
    }
    if (status == OK) {
        rows->connection = db->known[rows->place] = db->connections;
    }
    return status;
}

static int send_statement(struct postgres *db, struct db_rows *rows)
{
    char name[64];
    const char *values[LIMIT_DB_VALUES];
    int lengths[LIMIT_DB_VALUES];
    int formats[LIMIT_DB_VALUES]; /* 0: text, 1: bytes */
    char numbers[LIMIT_DB_VALUES][24];
    start_waiting(db);
    int status = prepare(db, rows, name, sizeof name);
    if (status != OK) {
        return status;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct db_value *value = &rows->values[i];
        bool is_number = value->kind == DB_VALUE_INT;
        if (is_number) {
            snprintf(numbers[i], sizeof numbers[i], "%lld", (long long)value->number);
        }
        values[i] = is_number ? numbers[i] : value->data;
        lengths[i] = (int)value->length;
        formats[i] = value->kind == DB_VALUE_BYTES;
    }
    if (!db->api->sendQueryPrepared(db->handle, name, (int)rows->count, values, lengths, formats,
                                    1)) {
        return lose_broken(db);
    }
    db->api->setSingleRowMode(db->handle);
    db->running = rows;
    return OK;
}

static void drop_row(struct postgres *db)
{
    if (db->row) {
        db->api->clear(db->row);
        db->row = NULL;
    }
}

static int next_row(struct postgres *db)
{
    drop_row(db);
    while (db->running) {
        PGresult *result;
        int status = next_result(db, &result);
        if (status != OK || !result) {
            db->running = NULL;
            return status;
        }
        ExecStatusType kind = db->api->resultStatus(result);
        if (kind == PGRES_SINGLE_TUPLE) {
            db->row = result;
            return 1;
        }
        status = kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK ? OK : refused(db, result);
        db->api->clear(result);
        if (status != OK) {
            db->running = NULL;
            int rest = finish_results(db, NULL, 0);
            return rest == ERR_CLOSED ? rest : status;
        }
    }
    return OK;
}

static int send_and_wait(struct postgres *db, struct db_rows *rows)
{
    int status = send_statement(db, rows);
    return status == OK ? next_row(db) : status;
}

/* Runs a statement, or SQL without parameters where there is none; once more when the connection
 * had died unnoticed and nothing but this needed it. */
static int run_with(struct postgres *db, struct db_rows *rows, const char *sql)
{
    int status = be_connected(db);
    for (int attempt = 0; status == OK; attempt++) {
        status = rows ? send_and_wait(db, rows) : run_once(db, sql, NULL, 0);
        bool again = status == ERR_CLOSED && !db->handle && !db->in_transaction && !db->opening &&
                     attempt == 0;
        if (!again) {
            return status;
        }
        status = make_connection(db);
    }
    return status;
}

static int run(struct db *db, const char *sql)
{
    return run_with(postgres_of(db), NULL, sql);
}

static int start(struct db_rows *rows)
{
    struct db *db = rows->db;
    for (size_t i = 0; i < rows->count; i++) {
        const struct db_value *value = &rows->values[i];
        bool is_text = value->kind == DB_VALUE_TEXT && value->data;
        if (value->length > INT32_MAX || (is_text && !text_is_utf8(value->data, value->length))) {
            bool large = value->length > INT32_MAX;
            snprintf(db->problem, sizeof db->problem, "%s",
                     large ? "a value is too large" : "a text is not valid UTF-8");
            return large ? ERR_LIMIT : ERR_INVALID;
        }
    }
    return OK;
}

static int step(struct db_rows *rows)
{
    struct postgres *db = postgres_of(rows->db);
    if (rows->began) {
        return db->running == rows ? next_row(db) : OK;
    }
    if (db->running) {
        snprintf(db->base.problem, sizeof db->base.problem, "another statement still runs");
        return ERR_INVALID;
    }
    rows->began = true;
    return run_with(db, rows, NULL);
}

/* What nobody wants any more of an answer is taken and dropped, as the protocol wants it; from a
 * server that sends more than was ever asked for, the connection is dropped. */
static void end(struct db_rows *rows)
{
    struct postgres *db = postgres_of(rows->db);
    for (size_t dropped = 0; db->running == rows && next_row(db) > 0; dropped++) {
        if (dropped == LIMIT_DB_DROPPED_ROWS) {
            drop_row(db);
            db->running = NULL;
            snprintf(db->base.problem, sizeof db->base.problem,
                     "the database sent more rows than it was asked for");
            lose(db, ERR_CLOSED);
        }
    }
}

static void forget(struct db_rows *rows)
{
    (void)rows; /* its place is given to another: see prepare() */
}

/* ---- rows ---- */

static int64_t integer(const struct db_rows *rows, int column)
{
    const struct postgres *db = postgres_of(rows->db);
    const struct postgres_api *api = db->api;
    const char *value = api->getvalue(db->row, 0, column);
    int64_t number = 0;
    /* Numbers come as bytes, the highest first; how many depends on their type. */
    int length = api->getlength(db->row, 0, column);
    if (api->getisnull(db->row, 0, column) || length < 1 || length > 8) {
        return 0;
    }
    uint64_t bits = (value[0] & 0x80) && length > 1 ? UINT64_MAX : 0;
    for (int i = 0; i < length; i++) {
        bits = bits << 8 | (unsigned char)value[i];
    }
    memcpy(&number, &bits, sizeof number);
    return number;
}

static const char *text(const struct db_rows *rows, int column)
{
    const struct postgres *db = postgres_of(rows->db);
    bool null = db->api->getisnull(db->row, 0, column);
    return null ? NULL : db->api->getvalue(db->row, 0, column);
}

static const void *bytes(const struct db_rows *rows, int column, size_t *length)
{
    const struct postgres *db = postgres_of(rows->db);
    *length = (size_t)db->api->getlength(db->row, 0, column);
    return text(rows, column);
}

/* ---- transactions ---- */

static int start_transaction(struct db *base, const char *sql)
{
    int status = run(base, sql);
    postgres_of(base)->in_transaction = status == OK;
    return status;
}

static int begin(struct db *db, bool durable)
{
    return start_transaction(db, durable ? "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
                                         : "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; "
                                           "SET LOCAL synchronous_commit = off");
}

static int begin_reading(struct db *db)
{
    return start_transaction(db, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
}

static int commit(struct db *base)
{
    struct postgres *db = postgres_of(base);
    char tag[32] = "";
    bool began = db->in_transaction && db->handle;
    db->in_transaction = false;
    if (!began) {
        return ERR_CLOSED;
    }
    int status = run_once(db, "COMMIT", tag, sizeof tag);
    if (!db->handle) {
        db->base.in_doubt = true;
    } else if (status == OK && strcmp(tag, "COMMIT") != 0) {
        snprintf(db->base.problem, sizeof db->base.problem, "the database undid the change");
        status = ERR_IO;
    }
    return status;
}

static void rollback(struct db *base)
{
    struct postgres *db = postgres_of(base);
    if (db->in_transaction && db->handle && run_once(db, "ROLLBACK", NULL, 0) != OK && db->handle) {
        lose(db, ERR_CLOSED);
    }
    db->in_transaction = false;
}

/* ---- versions ---- */

/* forage_schema says which version each part is at. */
static int read_version(struct db *db, int *version)
{
    int64_t number;
    int found = db_numbers(db_query(db, "SELECT to_regclass('forage_schema') IS NOT NULL", NULL, 0),
                           &number, 1);
    if (found > 0 && number != 0) {
        found = db_numbers(db_ask(db, "SELECT version FROM forage_schema WHERE part = ?1",
                                  DB_TEXT(db->schema->part)),
                           &number, 1);
    }
    *version = (int)number;
    return found < 0 ? found : OK;
}

/* One lock for the tables of all parts; the number is "forage". */
static int lock_tables(struct db *db)
{
    return run(db, "SELECT pg_advisory_xact_lock(112628846389093); CREATE TABLE IF NOT EXISTS "
                   "forage_schema (part TEXT PRIMARY KEY, version INTEGER NOT NULL)");
}

static int write_version(struct db *db, int version)
{
    return db_do(db,
                 "INSERT INTO forage_schema (part, version) VALUES (?1, ?2) ON CONFLICT (part) DO "
                 "UPDATE SET version = excluded.version",
                 DB_TEXT(db->schema->part), DB_INT(version));
}

static const struct db_engine POSTGRES = {
    .name = "postgresql",
    .is_postgres = true,
    .close = close_connection,
    .alive = is_alive,
    .begin = begin,
    .begin_reading = begin_reading,
    .commit = commit,
    .rollback = rollback,
    .run = run,
    .read_version = read_version,
    .lock_tables = lock_tables,
    .write_version = write_version,
    .start = start,
    .step = step,
    .integer = integer,
    .text = text,
    .bytes = bytes,
    .end = end,
    .forget = forget,
};

struct db *postgres_open(const struct db_options *options, struct call *call, int *status)
{
    const char *missing;
    struct postgres *db = calloc(1, sizeof *db);
    char *url = strdup(options->url);
    if (!db || !url) {
        free(db);
        free(url);
        return NULL;
    }
    db->base = (struct db){.engine = &POSTGRES,
                           .schema = options->schema,
                           .call = call,
                           .only_looks = options->only_looks,
                           .unsynced = options->unsynced};
    db->url = url;
    db->api = postgres_api_open(&missing);
    if (!db->api) {
        snprintf(db->base.problem, sizeof db->base.problem, "%s", missing);
    }
    *status = db->api ? make_connection(db) : ERR_IO;
    return &db->base;
}
