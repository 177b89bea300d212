/* REST: the tools under /api/v1, with the same bodies as their structured results over MCP. */
#include "doors/rest.h"
#include "call/errors.h"
#include "core/limits.h"
#include "core/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOOLS_PATH "/api/v1/tools/"

void respond_json(struct exchange *exchange, struct arena *arena, int status, const char *headers,
                  yyjson_mut_val *value)
{
    struct buf body;
    buf_init(&body, LIMIT_CALL_ARENA_BYTES);
    int written = json_write(&body, arena, value);
    redact_buf(&body, 0);
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
    call_free(rest->call);
    free(rest);
}

/* A question to the client has no way to go over REST. */
static int run_tool(struct rest_call *rest, struct reply *reply)
{
    int status = registry_run(app_registry(rest->door->app), rest->entry, rest->call,
                              rest->arguments, reply);
    if (status != OK) {
        call_fail_status(rest->call, ERR_UNSUPPORTED);
        reply->doc = json_new(call_arena(rest->call));
        reply->structured = registry_error_body(rest->call, reply->doc);
    }
    return OK;
}

/* Sends a body with the status of the call's error, where it has one. */
static void send_body(struct rest_call *rest, int status, yyjson_mut_val *body)
{
    const struct call_error *error = call_error(rest->call);
    char retry[48] = "";
    if (error && error->retry_after_s > 0) {
        snprintf(retry, sizeof retry, "Retry-After: %d\r\n", error->retry_after_s);
    }
    respond_json(rest->exchange, call_arena(rest->call),
                 error ? error_http_status(error->code) : status, retry, body);
}

void rest_refuse(struct rest_call *rest)
{
    yyjson_mut_doc *doc = json_new(call_arena(rest->call));
    send_body(rest, 500, registry_error_body(rest->call, doc));
}

void rest_answer(struct rest_call *rest, yyjson_mut_val *body)
{
    send_body(rest, 200, body);
}

static void answer_tool(struct rest_call *rest)
{
    struct reply reply;
    run_tool(rest, &reply);
    yyjson_mut_val *body = reply.structured;
    if (!body && reply.content) {
        body = yyjson_mut_obj(reply.doc);
        yyjson_mut_obj_add_val(reply.doc, body, "content", reply.content);
    }
    send_body(rest, reply.is_error ? 502 : 200, body);
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

void rest_work(struct rest_call *rest, void (*work)(struct rest_call *rest))
{
    rest->work = work;
    exchange_ref(rest->exchange);
    exchange_on_gone(rest->exchange, client_gone, rest);
    if (pool_run(app_pool(rest->door->app), rest->call, run_rest_call, rest) != OK) {
        respond_error_status(
            rest->exchange, 503, "Retry-After: 1\r\n", CODE_BUSY,
            "forage is busy with as many calls as it may run (FORAGE_WORKERS); try "
            "again in a moment");
        exchange_free(rest->exchange);
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
    call_fail(rest->call, CODE_VALIDATION, "the body must be a JSON object of arguments: %s", why);
    rest_refuse(rest);
    return false;
}

struct rest_call *rest_call_new(struct http_door *door, struct exchange *exchange,
                                const struct caller *caller)
{
    struct rest_call *rest = calloc(1, sizeof *rest);
    if (!rest) {
        respond_error(exchange, CODE_INTERNAL, "out of memory");
        return NULL;
    }
    struct call_options options = {
        .request_id = exchange_id(exchange), .caller = caller, .parts = app_parts(door->app)};
    rest->door = door;
    rest->exchange = exchange;
    rest->call = call_new(&options);
    if (!rest->call) {
        respond_error(exchange, CODE_INTERNAL, "out of memory");
        free(rest);
        return NULL;
    }
    exchange_set_user(exchange, rest, rest_call_free);
    return rest;
}

/* ---- POST /api/v1/tools/{name} ---- */

void serve_tool_call(struct http_door *door, struct exchange *exchange, const struct caller *caller)
{
    struct rest_call *rest = rest_call_new(door, exchange, caller);
    if (!rest) {
        return;
    }
    struct slice path = exchange_request(exchange)->path;
    struct slice name = {path.data + sizeof TOOLS_PATH - 1, path.length - (sizeof TOOLS_PATH - 1)};
    const char *text = slice_copy(call_arena(rest->call), name);
    rest->entry = text ? registry_tool(app_registry(door->app), text) : NULL;
    if (!rest->entry) {
        respond_error(exchange, CODE_NOT_FOUND,
                      "there is no such tool; GET /api/v1/tools names them");
        return;
    }
    if (rest_read_body(rest)) {
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
    yyjson_mut_val *item = registry_public_definition(doc, entry);
    yyjson_mut_obj_add_str(doc, item, "group", entry->group);
    yyjson_mut_obj_add_bool(doc, item, "ready", readiness.ready);
    if (!readiness.ready) {
        yyjson_mut_obj_add_strcpy(doc, item, "lacks", readiness.lacks);
    }
    return item;
}

void serve_tool_list(struct http_door *door, struct exchange *exchange, const struct caller *caller)
{
    (void)caller;
    const struct registry *registry = app_registry(door->app);
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    yyjson_mut_doc *doc = arena ? json_new(arena) : NULL;
    if (!doc) {
        respond_error(exchange, CODE_INTERNAL, "out of memory");
    } else {
        yyjson_mut_val *tools = yyjson_mut_arr(doc);
        for (size_t i = 0; i < registry_tool_count(registry); i++) {
            yyjson_mut_arr_append(tools, describe_tool(doc, registry_tool_at(registry, i)));
        }
        yyjson_mut_val *body = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_val(doc, body, "tools", tools);
        respond_json(exchange, arena, 200, NULL, body);
    }
    arena_free(arena);
}
