/* REST: the tools under /api/v1, with the same bodies as their structured results over MCP; and a
 * caller's own usage and history. */
#include "call/errors.h"
#include "call/parts.h"
#include "core/limits.h"
#include "core/redact.h"
#include "doors/http.h"
#include "ops/meter.h"
#include "ops/reports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_RECORDS_MS 10000 /* for reading usage or history */

/* Writes, redacts and sends a JSON value that lives in the arena. */
static void respond_json(struct exchange *exchange, struct arena *arena, int status,
                         const char *headers, yyjson_mut_val *value, enum words words)
{
    struct buf body;
    buf_init(&body, LIMIT_CALL_ARENA_BYTES);
    int written = json_write(&body, arena, value);
    redact_buf(&body, 0, words);
    if (written == OK && buf_error(&body) == OK) {
        respond(exchange, status, headers, "application/json", body.data, body.length);
    } else {
        respond_error(exchange, CODE_INTERNAL, "out of memory");
    }
    buf_done(&body);
}

/* ---- one call ---- */

static void rest_call_free(void *context)
{
    struct rest_call *rest = context;
    if (rest->left) {
        rest->left(rest);
    }
    call_free(rest->call);
    free(rest);
}

/* Sends a body with the status of the call's error, where it has one. */
static void send_body(struct rest_call *rest, int status, yyjson_mut_val *body, enum words words)
{
    const struct call_error *error = call_error(rest->call);
    char retry[48] = "";
    if (error && error->retry_after_s > 0) {
        snprintf(retry, sizeof retry, "Retry-After: %d\r\n", error->retry_after_s);
    }
    respond_json(rest->exchange, call_arena(rest->call),
                 error ? error_http_status(error->code) : status, retry, body, words);
}

void rest_refuse(struct rest_call *rest, int status)
{
    call_fail_status(rest->call, status);
    yyjson_mut_doc *doc = json_new(call_arena(rest->call));
    send_body(rest, 500, registry_error_body(rest->call, doc), WORDS_FROM_OUTSIDE);
}

void rest_answer(struct rest_call *rest, yyjson_mut_val *body)
{
    send_body(rest, 200, body, WORDS_FROM_OUTSIDE);
}

static void answer_tool(struct rest_call *rest)
{
    struct reply reply;
    if (registry_run(rest->door->app->registry, rest->entry, rest->call, rest->arguments, &reply) !=
        OK) {
        /* The tool has a question, and over REST there is no way to ask it. */
        rest_refuse(rest, ERR_UNSUPPORTED);
        return;
    }
    yyjson_mut_val *body = reply.structured;
    if (!body && reply.content) {
        body = yyjson_mut_obj(reply.doc);
        yyjson_mut_obj_add_val(reply.doc, body, "content", reply.content);
    }
    send_body(rest, reply.is_error ? 502 : 200, body, reply.words);
}

static void run_rest_call(void *context)
{
    struct rest_call *rest = context;
    struct exchange *exchange = rest->exchange;
    rest->work(rest);
    exchange_free(exchange);
}

static void client_gone(void *context)
{
    struct rest_call *rest = context;
    call_cancel(rest->call);
}

int rest_try_work(struct rest_call *rest, void (*work)(struct rest_call *rest))
{
    rest->work = work;
    exchange_ref(rest->exchange);
    exchange_on_gone(rest->exchange, client_gone, rest);
    bool local = rest->entry && !rest->entry->outside;
    int status = pool_run(rest->door->app->pool, rest->call, local, run_rest_call, rest);
    if (status != OK) {
        exchange_free(rest->exchange);
    }
    return status;
}

void rest_work(struct rest_call *rest, void (*work)(struct rest_call *rest))
{
    int status = rest_try_work(rest, work);
    if (status != OK) {
        respond_error_status(rest->exchange, 503, "Retry-After: 1\r\n", CODE_BUSY,
                             pool_refusal(status));
    }
}

void rest_run(struct rest_call *rest)
{
    if (rest->entry->quick) {
        answer_tool(rest);
    } else {
        rest_work(rest, answer_tool);
    }
}

bool rest_read_body(struct rest_call *rest)
{
    struct slice body = exchange_request(rest->exchange)->body;
    if (body.length == 0) {
        return true;
    }
    struct json_problem problem;
    yyjson_doc *doc = json_parse(call_arena(rest->call), body.data, body.length, &problem);
    rest->arguments = yyjson_doc_get_root(doc);
    bool holds_nul = json_holds_nul(rest->arguments);
    if (yyjson_is_obj(rest->arguments) && !holds_nul) {
        return true;
    }
    const char *why = !doc        ? problem.text
                      : holds_nul ? "a string holds a NUL character (\\u0000)"
                                  : "it is not an object";
    rest_refuse(rest, call_fail(rest->call, CODE_VALIDATION,
                                "the body must be a JSON object of arguments: %s", why));
    return false;
}

struct rest_call *rest_call_new(const struct visit *visit)
{
    struct call_options options = {.request_id = exchange_id(visit->exchange),
                                   .caller = visit->caller,
                                   .parts = &visit->door->app->parts};
    struct rest_call *rest = calloc(1, sizeof *rest);
    struct call *call = rest ? call_new(&options) : NULL;
    if (!call) {
        respond_error(visit->exchange, CODE_INTERNAL, "out of memory");
        free(rest);
        return NULL;
    }
    *rest = (struct rest_call){
        .door = visit->door, .exchange = visit->exchange, .route = visit->route, .call = call};
    exchange_set_user(visit->exchange, rest, rest_call_free);
    return rest;
}

/* ---- POST /api/v1/tools/{name} ---- */

void serve_tool_call(const struct visit *visit)
{
    struct rest_call *rest = rest_call_new(visit);
    if (!rest) {
        return;
    }
    struct slice path = exchange_request(visit->exchange)->path;
    size_t skip = strcspn(visit->route->path, "{");
    const char *name =
        slice_copy(call_arena(rest->call), (struct slice){path.data + skip, path.length - skip});
    rest->entry = name ? registry_tool(visit->door->app->registry, name) : NULL;
    if (!rest->entry) {
        respond_error(visit->exchange, CODE_NOT_FOUND,
                      "there is no such tool; GET /api/v1/tools names them");
    } else if (rest_read_body(rest)) {
        rest_run(rest);
    }
}

/* ---- GET /api/v1/tools ---- */

static yyjson_mut_val *describe_tool(yyjson_mut_doc *doc, const struct entry *entry)
{
    struct readiness readiness = {.ready = true};
    if (entry->tool->ready) {
        entry->tool->ready(&readiness);
    }
    yyjson_mut_val *item = registry_whole_definition(doc, entry);
    yyjson_mut_obj_add_str(doc, item, "group", entry->group);
    yyjson_mut_obj_add_bool(doc, item, "ready", readiness.ready);
    if (!readiness.ready) {
        yyjson_mut_obj_add_strcpy(doc, item, "lacks", readiness.lacks);
    }
    return item;
}

void serve_tool_list(const struct visit *visit)
{
    const struct registry *registry = visit->door->app->registry;
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    yyjson_mut_doc *doc = arena ? json_new(arena) : NULL;
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    yyjson_mut_val *tools = yyjson_mut_obj_add_arr(doc, body, "tools");
    for (size_t i = 0; doc && i < registry->tool_count; i++) {
        yyjson_mut_arr_append(tools, describe_tool(doc, &registry->tools[i]));
    }
    respond_json(visit->exchange, arena, 200, NULL, body, WORDS_FROM_OUTSIDE);
    arena_free(arena);
}

/* ---- usage and history: each caller sees its own and nothing else ---- */

/* A number of the query string; `preset` where it is not given, and -1 where it is wrong. */
static int64_t read_number(struct slice query, const char *name, int64_t preset, int64_t most)
{
    size_t length = strlen(name);
    const char *at = query.data;
    const char *end = query.data + query.length;
    while (at && at < end) {
        const char *next = memchr(at, '&', (size_t)(end - at));
        const char *stop = next ? next : end;
        if ((size_t)(stop - at) > length && memcmp(at, name, length) == 0 && at[length] == '=') {
            int64_t number = 0;
            at += length + 1;
            for (; at < stop && *at >= '0' && *at <= '9' && number <= most; at++) {
                number = number * 10 + (*at - '0');
            }
            return at == stop && number >= 1 && number <= most ? number : -1;
        }
        at = next ? next + 1 : NULL;
    }
    return preset;
}

static int read_usage(struct rest_call *rest, struct db *db, yyjson_mut_doc *doc,
                      yyjson_mut_val **body)
{
    struct slice query = exchange_request(rest->exchange)->query;
    int64_t days = read_number(query, "days", 7, REPORT_MOST_DAYS);
    if (days < 0) {
        return call_fail(rest->call, CODE_VALIDATION, "days: a number from 1 to %d",
                         REPORT_MOST_DAYS);
    }
    return report_usage(db, call_caller(rest->call)->name, days, doc, body);
}

static int read_history(struct rest_call *rest, struct db *db, yyjson_mut_doc *doc,
                        yyjson_mut_val **body)
{
    struct slice query = exchange_request(rest->exchange)->query;
    int64_t limit = read_number(query, "limit", 20, REPORT_MOST_HISTORY);
    int64_t before = read_number(query, "before", 0, INT64_C(1000000000000000));
    if (limit < 0 || before < 0) {
        return call_fail(rest->call, CODE_VALIDATION, "%s",
                         limit < 0 ? "limit: a number from 1 to 1000" : "before: the id of a call");
    }
    return report_history(db, call_arena(rest->call), call_caller(rest->call)->name, before, limit,
                          doc, body);
}

static int wipe_history(struct rest_call *rest, struct db *db, yyjson_mut_doc *doc,
                        yyjson_mut_val **body)
{
    int64_t wiped = 0;
    const char *caller = call_caller(rest->call)->name;
    meter_forget(rest->door->app->meter, caller);
    int status = records_wipe(db, caller, &wiped);
    *body = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_sint(doc, *body, "wiped", wiped);
    return status;
}

static const struct {
    const char *operation; /* of the route */
    int (*answer)(struct rest_call *rest, struct db *db, yyjson_mut_doc *doc,
                  yyjson_mut_val **body);
} RECORDS[] = {
    {"get_usage", read_usage}, {"get_history", read_history}, {"wipe_history", wipe_history}};

static void answer_records(struct rest_call *rest)
{
    struct call *call = rest->call;
    char problem[640] = "out of memory";
    yyjson_mut_doc *doc = json_new(call_arena(call));
    yyjson_mut_val *body = NULL;
    call_waits_for(call, "the records of usage and limits");
    struct db *db =
        doc ? records_open(call_parts(call)->places, call, problem, sizeof problem) : NULL;
    int status = ERR_IO;
    for (size_t i = 0; db && i < sizeof RECORDS / sizeof *RECORDS; i++) {
        if (strcmp(rest->route->operation, RECORDS[i].operation) == 0) {
            status = RECORDS[i].answer(rest, db, doc, &body);
        }
    }
    if (status == ERR_IO || status == ERR_BUSY || status == ERR_INVALID) {
        call_fail(call, CODE_CONFIG, "the records cannot be read: %s",
                  call_without_paths(call, db ? db_problem(db) : problem, true));
    }
    db_close(db);
    if (status == OK) {
        rest_answer(rest, body);
    } else {
        rest_refuse(rest, status);
    }
}

/* Reading waits for the disk, so it has a thread of the pool. */
void serve_records(const struct visit *visit)
{
    struct rest_call *rest = rest_call_new(visit);
    if (rest) {
        call_limit_time(rest->call, TIME_RECORDS_MS);
        rest_work(rest, answer_records);
    }
}
