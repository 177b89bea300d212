/* Telling what stands between forage and a PostgreSQL server, by what it does. */
#include "db/postgres_pooler.h"

#include "core/clock.h"
#include "core/id.h"
#include "core/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_SIZE 32
#define ROUNDS      8 /* chances for a pooler to show that it shares connections */

/* Waits for a result; NULL in `result` at the end. ERR_BUSY when none came in time. */
static int next_result(const struct postgres_api *api, PGconn *handle, struct call *call,
                       int64_t end_ms, PGresult **result)
{
    *result = NULL;
    while (api->isBusy(handle)) {
        int unsent = api->flush(handle);
        struct pollfd socket = {.fd = api->socket(handle),
                                .events = unsent ? POLLIN | POLLOUT : POLLIN};
        int64_t left_ms = end_ms - clock_now_ms();
        int ready = unsent < 0 ? ERR_IO : left_ms > 0 ? call_wait(call, &socket, 1, left_ms) : 0;
        if (ready <= 0) {
            return ready == 0 ? ERR_BUSY : ready;
        }
        if (!api->consumeInput(handle)) {
            return ERR_IO;
        }
    }
    *result = api->getResult(handle);
    return OK;
}

/* Takes all results of what was sent; the first value of the last row in `answer`, "" without one.
 */
static int finish(const struct postgres_api *api, PGconn *handle, struct call *call, bool sent,
                  char answer[ANSWER_SIZE])
{
    int64_t end_ms = clock_now_ms() + TIME_POSTGRES_POOLER_MS;
    PGresult *result = NULL;
    *answer = '\0';
    int status = sent ? next_result(api, handle, call, end_ms, &result) : ERR_IO;
    while (status == OK && result) {
        ExecStatusType kind = api->resultStatus(result);
        if (kind == PGRES_TUPLES_OK && api->ntuples(result) > 0) {
            snprintf(answer, ANSWER_SIZE, "%s", api->getvalue(result, 0, 0));
        }
        api->clear(result);
        bool copies = kind == PGRES_COPY_IN || kind == PGRES_COPY_OUT || kind == PGRES_COPY_BOTH;
        status = copies ? ERR_IO : next_result(api, handle, call, end_ms, &result);
    }
    return status;
}

static int ask(const struct postgres_api *api, PGconn *handle, struct call *call, const char *sql,
               char answer[ANSWER_SIZE])
{
    return finish(api, handle, call, api->sendQuery(handle, sql), answer);
}

static const char ASK_PID[] = "SELECT pg_backend_pid()";

/* What the client was told at first is the pooler's own number. */
int postgres_pooler_there(const struct postgres_api *api, PGconn *handle, struct call *call,
                          bool *there)
{
    char pid[ANSWER_SIZE];
    int status = ask(api, handle, call, ASK_PID, pid);
    *there = *pid && strtol(pid, NULL, 10) != api->backendPID(handle);
    return status;
}

/* Those that see to prepared statements give them other names at the server. */
int postgres_pooler_prepares(const struct postgres_api *api, PGconn *handle, struct call *call,
                             bool *does)
{
    char name[ID_SECRET_SIZE + 16];
    char secret[ID_SECRET_SIZE];
    char sql[128];
    char answer[ANSWER_SIZE];
    int status = id_make_secret(secret);
    if (status != OK) {
        return status;
    }
    snprintf(name, sizeof name, "forage_%s", secret);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM pg_prepared_statements WHERE name = '%s'",
             name);
    status = ask(api, handle, call, "BEGIN", answer);
    if (status == OK) {
        status =
            finish(api, handle, call, api->sendPrepare(handle, name, "SELECT 1", 0, NULL), answer);
    }
    status = status == OK ? ask(api, handle, call, sql, answer) : status;
    *does = strcmp(answer, "0") == 0;
    return status == OK ? ask(api, handle, call, "COMMIT", answer) : status;
}

/* Whether the first connection, at rest, gives the server's to the second, or gets another one
 * while that holds it. */
static int try_once(const struct postgres_api *api, PGconn *handle, PGconn *second,
                    struct call *call, bool *shares)
{
    char first[ANSWER_SIZE];
    char other[ANSWER_SIZE];
    char again[ANSWER_SIZE] = "";
    int status = ask(api, handle, call, ASK_PID, first);
    status = status == OK ? ask(api, second, call, "BEGIN", other) : status;
    status = status == OK ? ask(api, second, call, ASK_PID, other) : status;
    *shares = status == OK && strcmp(first, other) == 0;
    if (status == OK && !*shares) {
        status = ask(api, handle, call, ASK_PID, again);
        *shares = status == OK && strcmp(first, again) != 0;
    }
    return status == OK ? ask(api, second, call, "ROLLBACK", other) : status;
}

int postgres_pooler_shares(const struct postgres_api *api, PGconn *handle, PGconn *second,
                           struct call *call, bool *does)
{
    int status = OK;
    *does = false;
    for (int i = 0; i < ROUNDS && status == OK && !*does; i++) {
        status = try_once(api, handle, second, call, does);
    }
    /* One that has no connection for the second has given the only one to the first. */
    return status == ERR_BUSY ? OK : status;
}
