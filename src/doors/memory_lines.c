/* Import and export of memories: newline-delimited JSON in and out. */
#include "call/errors.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/redact.h"
#include "doors/memories.h"
#include "guard/callers.h"
#include "memory/fields.h"
#include "memory/lines.h"

#define PAUSE_MS 5 /* for a client that does not keep up */

/* ---- what both need ---- */

/* Whether the caller may, and which namespace is meant. */
static int admit(struct rest_call *rest, struct memory_space *space)
{
    yyjson_val *name = yyjson_obj_get(rest->arguments, "namespace");
    if (yyjson_obj_size(rest->arguments) > (name ? 1u : 0u)) {
        return call_fail(rest->call, CODE_VALIDATION,
                         "the query knows only one parameter here: namespace");
    }
    call_limit_time(rest->call, TIME_MEMORY_TRANSFER_MS);
    int status = registry_admit(app_registry(rest->door->app), rest->entry, rest->call);
    return status == OK ? memory_space_of(rest->call, yyjson_get_str(name), space) : status;
}

static void log_end(struct rest_call *rest, const char *what, int status, size_t lines)
{
    const struct call_error *error = call_error(rest->call);
    log_info(call_request_id(rest->call), "memory=%s caller=%s status=%s lines=%zu", what,
             call_caller(rest->call)->name, error ? error->code : status_name(status), lines);
}

/* ---- import ---- */

static yyjson_mut_val *describe_counts(struct rest_call *rest, const struct memory_space *space,
                                       struct lines_counts counts)
{
    yyjson_mut_doc *doc = json_new(call_arena(rest->call));
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    yyjson_mut_val *data = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, body, "success", true);
    yyjson_mut_obj_add_val(doc, body, "data", data);
    yyjson_mut_obj_add_str(doc, data, "namespace", space->name);
    yyjson_mut_obj_add_uint(doc, data, "imported", counts.lines);
    yyjson_mut_obj_add_uint(doc, data, "added", counts.added);
    yyjson_mut_obj_add_uint(doc, data, "replaced", counts.replaced);
    yyjson_mut_obj_add_uint(doc, data, "unchanged", counts.unchanged);
    return body;
}

static void run_import(struct rest_call *rest)
{
    struct memory_space space;
    struct lines_counts counts = {0};
    struct slice body = exchange_request(rest->exchange)->body;
    int status = admit(rest, &space);
    struct lines *lines = status == OK ? lines_new(rest->call, &space) : NULL;
    if (status == OK) {
        status = lines ? lines_feed(lines, body.data, body.length) : ERR_NOMEM;
    }
    if (status == OK) {
        status = lines_end(lines);
    }
    if (lines) {
        counts = lines_count(lines);
    }
    lines_free(lines);
    log_end(rest, "import", status, counts.lines);
    if (status == OK) {
        rest_answer(rest, describe_counts(rest, &space, counts));
    } else {
        call_fail_status(rest->call, status);
        rest_refuse(rest);
    }
}

static void serve_lines(struct http_door *door, struct exchange *exchange,
                        const struct caller *caller, const char *tool,
                        void (*work)(struct rest_call *rest))
{
    struct rest_call *rest = memories_call(door, exchange, caller, tool);
    if (!rest) {
        return;
    }
    int status = memories_arguments(rest);
    if (status != OK) {
        call_fail_status(rest->call, status);
        rest_refuse(rest);
        return;
    }
    rest_work(rest, work);
}

void serve_memory_import(struct http_door *door, struct exchange *exchange,
                         const struct caller *caller)
{
    serve_lines(door, exchange, caller, "memory_add", run_import);
}

/* ---- export ---- */

struct export
{
    struct rest_call *rest;
    struct arena *arena; /* of one line */
    struct buf lines;
    size_t count;
    bool started;
};

/* Sends what was gathered; the answer begins with the first of it, so that an error before that has
 * its own status. */
static int send_lines(struct export *export)
{
    struct exchange *exchange = export->rest->exchange;
    int status = OK;
    if (!export->started) {
        struct buf headers;
        answer_headers(&headers, exchange, "application/x-ndjson", NULL);
        status = exchange_stream_start(exchange, 200, headers.data);
        buf_done(&headers);
        export->started = true;
    }
    redact_buf(&export->lines, 0);
    while (status == OK && export->lines.length > 0) {
        status = exchange_stream_send(exchange, export->lines.data, export->lines.length);
        if (status != ERR_LIMIT) {
            break;
        }
        status = call_sleep(export->rest->call, PAUSE_MS);
    }
    buf_clear(&export->lines);
    return status;
}

static int export_one(void *context, const struct memory *memory)
{
    struct export *export = context;
    int status = fields_write_line(&export->lines, export->arena, memory);
    arena_reset(export->arena);
    export->count++;
    if (status == OK && export->lines.length >= LIMIT_MEMORY_EXPORT_BYTES) {
        status = send_lines(export);
    }
    return status;
}

/* The last line of an export that could not be completed says so. */
static void end_with_error(struct export *export)
{
    struct call *call = export->rest->call;
    yyjson_mut_doc *doc = json_new(call_arena(call));
    buf_clear(&export->lines);
    if (doc && json_write(&export->lines, call_arena(call), registry_error_body(call, doc)) == OK) {
        buf_putc(&export->lines, '\n');
        redact_buf(&export->lines, 0);
    }
}

static void run_export(struct rest_call *rest)
{
    struct memory_space space;
    struct export export = {.rest = rest, .arena = arena_new(LIMIT_MEMORY_LINE_BYTES * 4)};
    buf_init(&export.lines, LIMIT_MEMORY_EXPORT_BYTES + LIMIT_MEMORY_LINE_BYTES);
    int status = export.arena ? admit(rest, &space) : ERR_NOMEM;
    if (status == OK) {
        status = memory_export(rest->call, &space, export_one, &export);
    }
    if (status == OK) {
        status = send_lines(&export);
    }
    log_end(rest, "export", status, export.count);
    call_fail_status(rest->call, status);
    if (!export.started) {
        rest_refuse(rest);
    } else {
        if (status != OK) {
            end_with_error(&export);
        }
        exchange_stream_end_with(rest->exchange, export.lines.data ? export.lines.data : "",
                                 export.lines.length);
    }
    buf_done(&export.lines);
    arena_free(export.arena);
}

void serve_memory_export(struct http_door *door, struct exchange *exchange,
                         const struct caller *caller)
{
    serve_lines(door, exchange, caller, "memory_list", run_export);
}
