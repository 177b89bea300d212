/* A connection, its statements and transactions. */
#include "db/postgres.h"

#include "core/clock.h"
#include "core/limits.h"
#include "db/postgres_connect.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum stage { AT_REST, ASKED, RUNNING, ENDED };

struct postgres {
    const struct postgres_api *api;
    struct postgres_options options;
    char *url;
    PGconn *handle; /* NULL: lost */
    struct call *call;
    int64_t until_ms; /* how long the server is waited for, without a call */
    int version;
    bool opening; /* the connection is being made: nothing is repeated */
    bool in_transaction;
    bool in_doubt;

    /* the statement */
    enum stage stage;
    const char *sql;
    int error; /* of a parameter */
    int count;
    const char *values[LIMIT_POSTGRES_PARAMETERS];
    int lengths[LIMIT_POSTGRES_PARAMETERS];
    int formats[LIMIT_POSTGRES_PARAMETERS]; /* 0: text, 1: bytes */
    char numbers[LIMIT_POSTGRES_PARAMETERS][24];
    PGresult *row;

    size_t prepared_count;
    const char *prepared[LIMIT_POSTGRES_STATEMENTS]; /* their names are their places */
    char problem[256];
};

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
    {"53100", ERR_IO, "the database's disk is full"},
    {"25006", ERR_IO, "the database takes no changes: it is read-only"},
};

/* The connection is of no use any more. Its transaction, if there is one, is known to be over once
 * somebody undoes it. */
static int lose(struct postgres *db, int status)
{
    db->api->finish(db->handle);
    db->handle = NULL;
    db->prepared_count = 0;
    return status;
}

static int lose_broken(struct postgres *db)
{
    postgres_words(db->api->errorMessage(db->handle), db->problem, sizeof db->problem);
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
    postgres_words(words ? words : "the server closed the connection", db->problem,
                   sizeof db->problem);
    return status;
}

/* ---- waiting ---- */

static int wait_ready(struct postgres *db, short events)
{
    struct pollfd socket = {.fd = db->api->socket(db->handle), .events = events};
    int ready;
    if (db->call) {
        ready = call_wait(db->call, &socket, 1, -1);
    } else {
        int64_t left = db->until_ms - clock_now_ms();
        ready = left > 0 ? poll(&socket, 1, (int)left) : 0;
    }
    if (ready > 0) {
        return OK;
    }
    if (ready == 0) {
        snprintf(db->problem, sizeof db->problem, "the database did not answer within %d seconds",
                 TIME_POSTGRES_PATIENCE_MS / 1000);
        return lose(db, ERR_CLOSED);
    }
    snprintf(db->problem, sizeof db->problem, "the call ended while it waited for the database");
    return lose(db, db->call ? ready : ERR_CLOSED);
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
    return OK;
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

/* Makes the connection; the reason of a failure is in db->problem. */
static int connect_for(struct postgres *db, struct call *call)
{
    const struct postgres_options *options = &db->options;
    char problem[sizeof db->problem] = "";
    db->opening = true;
    int status =
        postgres_connect(db->api, db->url, call, &db->handle, db->problem, sizeof db->problem);
    if (status == OK) {
        status = take_habits(db);
    }
    if (status == OK) {
        status = postgres_migrate(db, options->part, options->versions, &db->version, problem,
                                  sizeof problem);
        if (status != OK) {
            memcpy(db->problem, problem, sizeof problem);
        }
    }
    db->opening = false;
    db->in_doubt = false;
    if (status != OK && db->handle) {
        lose(db, status);
    }
    return status;
}

static int make_connection(struct postgres *db)
{
    if (db->call) {
        return connect_for(db, db->call);
    }
    struct call *call = call_new(&(struct call_options){.timeout_ms = TIME_POSTGRES_PATIENCE_MS});
    if (!call) {
        return ERR_NOMEM;
    }
    int status = connect_for(db, call);
    call_free(call);
    return status;
}

struct postgres *postgres_open(const struct postgres_options *options, struct call *call,
                               char *problem, size_t size)
{
    const char *missing;
    const struct postgres_api *api = postgres_api_open(&missing);
    struct postgres *db = api ? calloc(1, sizeof *db) : NULL;
    char *url = db ? strdup(options->url) : NULL;
    if (!url) {
        snprintf(problem, size, "%s", api ? "out of memory" : missing);
        free(db);
        return NULL;
    }
    db->api = api;
    db->options = *options;
    db->url = url;
    db->call = call;
    if (make_connection(db) != OK) {
        snprintf(problem, size, "%s", db->problem);
        return postgres_close(db);
    }
    return db;
}

struct postgres *postgres_close(struct postgres *db)
{
    if (db) {
        postgres_end(db);
        db->api->finish(db->handle); /* the server undoes what was not committed */
        free(db->url);
        free(db);
    }
    return NULL;
}

bool postgres_alive(struct postgres *db)
{
    if (!db->handle) {
        return false;
    }
    /* Nothing is asked, so whatever comes is its end. */
    struct pollfd socket = {.fd = db->api->socket(db->handle), .events = POLLIN};
    return db->api->status(db->handle) == CONNECTION_OK && poll(&socket, 1, 0) == 0;
}

void postgres_work_for(struct postgres *db, struct call *call)
{
    db->call = call;
}

const char *postgres_problem(const struct postgres *db)
{
    return db->problem;
}

int postgres_version(const struct postgres *db)
{
    return db->version;
}

/* ---- statements ---- */

void postgres_ask(struct postgres *db, const char *sql)
{
    db->stage = ASKED;
    db->sql = sql;
    db->error = OK;
    db->count = 0;
}

static void give(struct postgres *db, const char *value, size_t length, int format)
{
    if (db->count == LIMIT_POSTGRES_PARAMETERS || length > INT32_MAX) {
        db->error = ERR_LIMIT;
        return;
    }
    db->values[db->count] = value;
    db->lengths[db->count] = (int)length;
    db->formats[db->count] = format;
    db->count++;
}

void postgres_give_text(struct postgres *db, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (text && !text_is_utf8(text, length)) {
        db->error = ERR_INVALID;
    }
    give(db, text, length, 0);
}

void postgres_give_bytes(struct postgres *db, const void *bytes, size_t length)
{
    give(db, bytes, length, 1);
}

void postgres_give_int(struct postgres *db, int64_t value)
{
    if (db->count < LIMIT_POSTGRES_PARAMETERS) {
        char *text = db->numbers[db->count];
        int length = snprintf(text, sizeof db->numbers[0], "%lld", (long long)value);
        give(db, text, (size_t)length, 0);
    } else {
        db->error = ERR_LIMIT;
    }
}

/* The name of a statement that the server knows; it is told at first use. */
static int prepare(struct postgres *db, char *name, size_t size)
{
    size_t at = 0;
    while (at < db->prepared_count && strcmp(db->prepared[at], db->sql) != 0) {
        at++;
    }
    snprintf(name, size, "forage_%zu", at);
    if (at < db->prepared_count) {
        return OK;
    }
    if (at == LIMIT_POSTGRES_STATEMENTS) {
        snprintf(db->problem, sizeof db->problem, "too many different statements");
        return ERR_LIMIT;
    }
    if (!db->api->sendPrepare(db->handle, name, db->sql, 0, NULL)) {
        return lose_broken(db);
    }
    int status = finish_results(db, NULL, 0);
    if (status == OK) {
        db->prepared[db->prepared_count++] = db->sql;
    }
    return status;
}

static int send_statement(struct postgres *db)
{
    char name[32];
    start_waiting(db);
    int status = prepare(db, name, sizeof name);
    if (status != OK) {
        return status;
    }
    if (!db->api->sendQueryPrepared(db->handle, name, db->count, db->values, db->lengths,
                                    db->formats, 1)) {
        return lose_broken(db);
    }
    db->api->setSingleRowMode(db->handle);
    db->stage = RUNNING;
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
    while (db->stage == RUNNING) {
        PGresult *result;
        int status = next_result(db, &result);
        if (status != OK || !result) {
            db->stage = ENDED;
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
            db->stage = ENDED;
            int rest = finish_results(db, NULL, 0);
            return rest == ERR_CLOSED ? rest : status;
        }
    }
    return OK;
}

/* Outside of a transaction a connection that has died unnoticed is replaced, once. */
static int try_again(struct postgres *db, int status, int attempt)
{
    if (status != ERR_CLOSED || db->handle || db->in_transaction || db->opening || attempt > 0) {
        return status;
    }
    return make_connection(db);
}

static int first_row(struct postgres *db)
{
    if (!db->handle && (db->in_transaction || db->opening)) {
        return ERR_CLOSED; /* and why has been said */
    }
    int status = db->handle ? OK : make_connection(db);
    for (int attempt = 0; status == OK; attempt++) {
        status = send_statement(db);
        if (status == OK) {
            status = next_row(db);
        }
        int again = try_again(db, status, attempt);
        if (status != ERR_CLOSED || again != OK) {
            return again;
        }
        status = again;
    }
    return status;
}

int postgres_step(struct postgres *db)
{
    if (db->error != OK) {
        snprintf(db->problem, sizeof db->problem, "%s",
                 db->error == ERR_INVALID ? "a text is not valid UTF-8" : "a value is too large");
        return db->error;
    }
    return db->stage == ASKED ? first_row(db) : next_row(db);
}

void postgres_end(struct postgres *db)
{
    while (db->handle && db->stage == RUNNING && next_row(db) > 0) {
    }
    drop_row(db);
    db->stage = AT_REST;
}

int postgres_finish(struct postgres *db)
{
    int step;
    do {
        step = postgres_step(db);
    } while (step == 1);
    postgres_end(db);
    return step;
}

int postgres_run(struct postgres *db, const char *sql)
{
    if (!db->handle && (db->in_transaction || db->opening)) {
        return ERR_CLOSED;
    }
    int status = db->handle ? OK : make_connection(db);
    for (int attempt = 0; status == OK; attempt++) {
        status = run_once(db, sql, NULL, 0);
        int again = try_again(db, status, attempt);
        if (status != ERR_CLOSED || again != OK) {
            return again;
        }
        status = again;
    }
    return status;
}

/* ---- rows ---- */

int64_t postgres_int(const struct postgres *db, int column)
{
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

const char *postgres_text(const struct postgres *db, int column)
{
    bool null = db->api->getisnull(db->row, 0, column);
    return null ? NULL : db->api->getvalue(db->row, 0, column);
}

const void *postgres_bytes(const struct postgres *db, int column, size_t *length)
{
    *length = (size_t)db->api->getlength(db->row, 0, column);
    return postgres_text(db, column);
}

/* ---- transactions ---- */

static int start_transaction(struct postgres *db, const char *sql)
{
    db->in_doubt = false;
    int status = postgres_run(db, sql);
    db->in_transaction = status == OK;
    return status;
}

int postgres_begin(struct postgres *db)
{
    return start_transaction(db, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE");
}

int postgres_begin_reading(struct postgres *db)
{
    return start_transaction(db, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
}

int postgres_commit(struct postgres *db)
{
    char tag[32] = "";
    struct call *call = db->call;
    if (!db->in_transaction || !db->handle) {
        db->in_transaction = false;
        return ERR_CLOSED;
    }
    db->call = NULL;
    int status = run_once(db, "COMMIT", tag, sizeof tag);
    db->call = call;
    db->in_transaction = false;
    if (!db->handle) {
        db->in_doubt = true;
    } else if (status == OK && strcmp(tag, "COMMIT") != 0) {
        snprintf(db->problem, sizeof db->problem, "the database undid the change");
        status = ERR_IO;
    }
    return status;
}

bool postgres_in_doubt(const struct postgres *db)
{
    return db->in_doubt;
}

void postgres_rollback(struct postgres *db)
{
    if (db->in_transaction && db->handle) {
        struct call *call = db->call;
        db->call = NULL;
        if (run_once(db, "ROLLBACK", NULL, 0) != OK && db->handle) {
            lose(db, ERR_CLOSED);
        }
        db->call = call;
    }
    db->in_transaction = false;
}
