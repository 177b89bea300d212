/* REST: the tools under /api/v1, with the same bodies as their structured results over MCP. */
#include "call/errors.h"
#include "call/parts.h"
#include "core/limits.h"
#include "core/redact.h"
#include "rest/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- a call whose client watches it ---- */

/* Sends {"status": ..., "body": ...} as the last event. */
static void end_stream(struct rest_call *rest, int status, yyjson_mut_val *body, enum words words)
{
    struct buf text;
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    buf_printf(&text, "{\"status\":%d,\"body\":", status);
    int written = json_write(&text, call_arena(rest->call), body);
    buf_putc(&text, '}');
    redact_buf(&text, 0, words);
    bool good = written == OK && buf_error(&text) == OK;
    static const char FAILED[] = "{\"status\":500,\"body\":{\"success\":false,\"error\":{\"code\":"
                                 "\"" CODE_INTERNAL "\",\"message\":\"out of memory\"}}}";
    pool_work_is_done();
    stream_event(rest->exchange, "result", good ? text.data : FAILED,
                 good ? text.length : sizeof FAILED - 1, true);
    buf_done(&text);
}

static void send_progress(void *context, double done, double total, const char *message)
{
    struct rest_call *rest = context;
    struct buf text;
    buf_init(&text, KIB(8));
    buf_printf(&text, "{\"progress\":%.6g,", done);
    if (total > 0) {
        buf_printf(&text, "\"total\":%.6g,", total);
    }
    buf_puts(&text, "\"message\":");
    json_put_string(&text, message);
    buf_putc(&text, '}');
    redact_buf(&text, 0, WORDS_FROM_OUTSIDE);
    if (buf_error(&text) == OK) {
        /* A client that does not keep up misses it. */
        stream_event(rest->exchange, "progress", text.data, text.length, false);
    }
    buf_done(&text);
}

static int64_t wait_for_ever(void *context)
{
    (void)context;
    return INT64_MAX;
}

/* Clients of MCP say that they take either; who wants to watch takes nothing but events. */
static bool wants_stream(const struct route *route, const struct exchange *exchange)
{
    struct accepted accepted = read_accept(exchange);
    return route->streams && accepted.events && !accepted.json;
}

/* From now on the client hears what the call does, and waits for as long as that takes. */
static void begin_stream(struct rest_call *rest)
{
    struct buf headers;
    rest->streams = true;
    answer_headers(&headers, rest->exchange, "text/event-stream", "X-Accel-Buffering: no\r\n");
    exchange_stream_start(rest->exchange, 200, headers.data);
    buf_done(&headers);
    exchange_set_timer(rest->exchange, TIME_SSE_COMMENT_MS, stream_comment, NULL);
}

/* ---- answering ---- */

/* Sends a body with the status of the call's error, where it has one. */
static void send_body(struct rest_call *rest, int status, yyjson_mut_val *body, enum words words)
{
    const struct call_error *error = call_error(rest->call);
    char retry[48] = "";
    if (rest->streams) {
        end_stream(rest, error ? error_http_status(error->code) : status, body, words);
        return;
    }
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

bool rest_check_operator(struct rest_call *rest, const char *what)
{
    bool allowed = call_caller(rest->call)->is_operator;
    if (!allowed) {
        rest_refuse(rest, call_fail(rest->call, CODE_FORBIDDEN, "only an operator sees %s", what));
    }
    return allowed;
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
    /* A job that is not over is an answer, and not yet the result. */
    bool later = reply.job && !job_is_over(reply.job->status);
    send_body(rest, reply.is_error ? 502 : later ? 202 : 200, body, reply.words);
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
    bool local = rest->entry && rest->entry->local;
    int status = pool_run(rest->door->app->pool, rest->call, local, run_rest_call, rest);
    if (status != OK) {
        exchange_free(rest->exchange);
    }
    return status;
}

void rest_work(struct rest_call *rest, void (*work)(struct rest_call *rest))
{
    int status = rest_try_work(rest, work);
    if (status != OK && rest->streams) {
        rest_refuse(rest, call_fail(rest->call, CODE_BUSY, "%s", pool_refusal(status)));
    } else if (status != OK) {
        respond_error_status(rest->exchange, 503, "Retry-After: 1\r\n", CODE_BUSY,
                             pool_refusal(status));
    }
}

void rest_run(struct rest_call *rest)
{
    if (wants_stream(rest->route, rest->exchange)) {
        begin_stream(rest);
    }
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
    struct rest_call *rest = calloc(1, sizeof *rest);
    char session[SESSION_NAME_SIZE];
    struct call_options options = {.request_id = exchange_id(visit->exchange),
                                   .caller = visit->caller,
                                   .session =
                                       session_of(visit->door, visit->exchange, NULL, session),
                                   .parts = &visit->door->app->parts};
    if (wants_stream(visit->route, visit->exchange)) {
        options.hooks = (struct call_hooks){
            .context = rest, .progress = send_progress, .patience = wait_for_ever};
    }
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
