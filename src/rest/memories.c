/* Memories over REST: each route is one of the memory tools, with its arguments in the path, the
 * query and the body. What comes back is what the tool answers. Import and export are lines of
 * JSON, and count as calls of the tool that their route names. */
#include "call/errors.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/redact.h"
#include "memory/fields.h"
#include "memory/lines.h"
#include "rest/http.h"
#include "rest/query.h"
#include "server/spool.h"
#include "text/text.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_MS 50 /* until an export asks for a thread again, where there was none */

/* ---- arguments ---- */

struct building {
    struct rest_call *rest;
    struct arena *arena;
    yyjson_mut_doc *doc;
    yyjson_mut_val *object;
};

/* What the tool's schema says about a parameter, or one of its alternatives does. */
static bool takes(const struct building *building, const char *name, const char *type)
{
    yyjson_val *properties = yyjson_obj_get(building->rest->entry->input_schema, "properties");
    yyjson_val *property = yyjson_obj_get(properties, name);
    size_t index, max;
    yyjson_val *one;
    yyjson_arr_foreach(yyjson_obj_get(property, "anyOf"), index, max, one)
    {
        if (yyjson_equals_str(yyjson_obj_get(one, "type"), type)) {
            return true;
        }
    }
    return yyjson_equals_str(yyjson_obj_get(property, "type"), type);
}

/* A value of a query is text; where the tool takes a number and it is one, it becomes one. What is
 * wrong is left as it came, so that the tool's own words tell. */
static yyjson_mut_val *value_of(const struct building *building, const char *name, const char *text)
{
    if (takes(building, name, "integer") || takes(building, name, "boolean")) {
        yyjson_doc *parsed = json_parse(building->arena, text, strlen(text), NULL);
        yyjson_val *value = yyjson_doc_get_root(parsed);
        if (yyjson_is_num(value) || yyjson_is_bool(value)) {
            return json_copy(building->doc, value);
        }
    }
    return yyjson_mut_str(building->doc, text);
}

/* Adds one argument. The same twice is a list where the tool takes one. */
static int add(struct building *building, const char *name, const char *text)
{
    yyjson_mut_val *value = value_of(building, name, text);
    yyjson_mut_val *there = yyjson_mut_obj_get(building->object, name);
    if (!there) {
        yyjson_mut_obj_add(building->object, yyjson_mut_str(building->doc, name), value);
        return OK;
    }
    if (!takes(building, name, "array")) {
        return call_fail(building->rest->call, CODE_VALIDATION, "%s was given twice", name);
    }
    if (yyjson_mut_is_arr(there)) {
        yyjson_mut_arr_append(there, value);
        return OK;
    }
    yyjson_mut_val *list = yyjson_mut_arr(building->doc);
    yyjson_mut_arr_append(list, yyjson_mut_val_mut_copy(building->doc, there));
    yyjson_mut_arr_append(list, value);
    yyjson_mut_obj_replace(building->object, yyjson_mut_str(building->doc, name), list);
    return OK;
}

static int add_query(struct building *building)
{
    struct call *call = building->rest->call;
    struct slice left = exchange_request(building->rest->exchange)->query;
    struct slice name_part, value_part;
    int status = OK;
    while (status == OK && query_next(&left, &name_part, &value_part)) {
        const char *name, *text = "";
        status = query_decode(call, name_part, true, &name);
        if (status == OK) {
            status = query_decode(call, value_part, true, &text);
        }
        if (status == OK) {
            bool short_name = strcmp(name, "q") == 0 && takes(building, "query", "string");
            status = add(building, short_name ? "query" : name, text);
        }
    }
    return status;
}

/* Adds what stands in the path for {key}, where the route has it. */
static int add_key(struct building *building)
{
    struct slice path = exchange_request(building->rest->exchange)->path;
    const char *pattern = building->rest->route->path;
    size_t skip = strcspn(pattern, "{");
    if (!pattern[skip]) {
        return OK;
    }
    const char *key;
    int status = query_decode(building->rest->call,
                              (struct slice){path.data + skip, path.length - skip}, false, &key);
    if (status != OK) {
        return status;
    }
    yyjson_mut_val *given = yyjson_mut_obj_get(building->object, "key");
    if (given && yyjson_mut_equals_str(given, key)) {
        return OK;
    }
    return given ? call_fail(building->rest->call, CODE_VALIDATION,
                             "key: the body names another one than the path")
                 : add(building, "key", key);
}

static int build_arguments(struct rest_call *rest)
{
    struct building building = {.rest = rest, .arena = call_arena(rest->call)};
    building.doc = json_new(building.arena);
    building.object =
        rest->arguments ? json_copy(building.doc, rest->arguments) : yyjson_mut_obj(building.doc);
    if (!building.object) {
        return ERR_NOMEM;
    }
    int status = add_key(&building);
    if (status == OK) {
        status = add_query(&building);
    }
    rest->arguments = status == OK ? json_freeze(building.arena, building.object) : NULL;
    return status == OK && !rest->arguments ? ERR_NOMEM : status;
}

/* ---- the tools ---- */

/* A call of the route's tool; NULL after answering. */
static struct rest_call *call_of_tool(const struct visit *visit)
{
    struct rest_call *rest = rest_call_new(visit);
    if (rest) {
        rest->entry = registry_tool(visit->door->app->registry, visit->route->tool);
    }
    if (rest && !rest->entry) {
        respond_error(visit->exchange, CODE_NOT_FOUND,
                      "this tool is switched off here (FORAGE_TOOLS)");
        return NULL;
    }
    return rest;
}

void serve_memory(const struct visit *visit)
{
    struct rest_call *rest = call_of_tool(visit);
    if (!rest || !rest_read_body(rest)) {
        return;
    }
    int status = build_arguments(rest);
    if (status == OK) {
        rest_run(rest);
    } else {
        rest_refuse(rest, status);
    }
}

/* ---- what import and export both need ---- */

/* Whether the caller may, and whether the query holds nothing but these parameters (NULL ends
 * them). */
static int admit(struct rest_call *rest, const char *const *names)
{
    size_t index, max;
    yyjson_val *key, *value;
    yyjson_obj_foreach(rest->arguments, index, max, key, value)
    {
        const char *const *name = names;
        while (*name && !yyjson_equals_str(key, *name)) {
            name++;
        }
        if (!*name) {
            return call_fail(rest->call, CODE_VALIDATION,
                             "the query does not know the parameter \"%.60s\" here; %s",
                             yyjson_get_str(key),
                             names[1] ? "allowed: namespace, into, format" : "allowed: namespace");
        }
    }
    call_limit_time(rest->call, TIME_MEMORY_TRANSFER_MS);
    return registry_admit(rest->door->app->registry, rest->entry, rest->call);
}

static void log_end(struct rest_call *rest, const char *what, int status, size_t lines)
{
    const struct call_error *error = call_error(rest->call);
    log_info(call_request_id(rest->call), "memory=%s caller=%s status=%s lines=%zu", what,
             call_caller(rest->call)->name, error ? error->code : status_name(status), lines);
}

static void serve_lines(const struct visit *visit, void (*work)(struct rest_call *rest))
{
    struct rest_call *rest = call_of_tool(visit);
    int status = rest ? build_arguments(rest) : ERR_FAILED;
    if (status == OK) {
        rest_work(rest, work);
    } else if (rest) {
        rest_refuse(rest, status);
    }
}

/* ---- import ---- */

static yyjson_mut_val *describe_counts(struct rest_call *rest, const struct memory_space *space,
                                       struct lines_counts counts)
{
    yyjson_mut_doc *doc = json_new(call_arena(rest->call));
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_bool(doc, body, "success", true);
    yyjson_mut_val *data = yyjson_mut_obj_add_obj(doc, body, "data");
    yyjson_mut_obj_add_str(doc, data, "namespace", space->name);
    lines_describe(&counts, doc, data);
    return body;
}

/* Waits for the next piece of the body; it is empty when all has come. */
static int next_piece(struct rest_call *rest, struct slice *piece)
{
    int status;
    while ((status = exchange_take_body(rest->exchange, piece)) == ERR_BUSY) {
        struct pollfd event = {.fd = exchange_body_event(rest->exchange), .events = POLLIN};
        int ready = call_wait(rest->call, &event, 1, -1);
        if (ready < 0) {
            return ready;
        }
    }
    return status == ERR_CLOSED ? ERR_CANCELLED : status;
}

/* Checks the body while it comes, and keeps it for taking it then. */
static int check_body(struct rest_call *rest, struct lines *lines, struct spool *spool)
{
    int64_t length = exchange_request(rest->exchange)->content_length;
    struct slice piece = {0};
    int status = length > 0 ? spool_expect(spool, (size_t)length) : OK;
    while (status == OK && (status = next_piece(rest, &piece)) == OK && piece.length > 0) {
        status = spool_add(spool, piece);
        status = status == OK ? lines_feed(lines, piece.data, piece.length) : status;
    }
    return status;
}

static int take_spooled(struct lines *lines, struct spool *spool)
{
    char *memory = malloc(LIMIT_MEMORY_EXPORT_BYTES);
    struct slice piece = {0};
    size_t at = 0;
    int status = memory ? OK : ERR_NOMEM;
    while (status == OK && at < spool->length) {
        status = spool_read(spool, at, memory, LIMIT_MEMORY_EXPORT_BYTES, &piece);
        status = status == OK ? lines_feed(lines, piece.data, piece.length) : status;
        at += piece.length;
    }
    free(memory);
    return status;
}

/* Feeds all of the body: once to check it, once to take it. */
static int import_body(struct rest_call *rest, struct lines_options *options,
                       struct lines_counts *counts)
{
    struct spool spool;
    int status = OK;
    spool_init(&spool, rest->call, rest->door->uploads);
    for (int pass = 0; pass < 2 && status == OK; pass++) {
        options->only_checks = pass == 0;
        struct lines *lines = lines_new(rest->call, options);
        if (!lines) {
            status = call_error(rest->call) ? ERR_FAILED : ERR_NOMEM;
            break;
        }
        status = pass == 0 ? check_body(rest, lines, &spool) : take_spooled(lines, &spool);
        status = status == OK ? lines_end(lines) : status;
        *counts = options->only_checks ? *counts : lines_count(lines);
        lines_free(lines);
    }
    spool_done(&spool);
    return status;
}

static void run_import(struct rest_call *rest)
{
    static const char *const NAMES[] = {"namespace", "into", "format", NULL};
    struct memory_space space;
    struct lines_counts counts = {0};
    struct lines_options options = {.only = json_string(rest->arguments, NAMES[0]),
                                    .into = json_string(rest->arguments, NAMES[1]),
                                    .format = json_string(rest->arguments, NAMES[2])};
    int status = admit(rest, NAMES);
    for (int i = 0; i < 2 && status == OK; i++) {
        status =
            memory_space_of(rest->call, i && options.into ? options.into : options.only, &space);
    }
    if (status == OK) {
        status = import_body(rest, &options, &counts);
    }
    log_end(rest, "import", status, counts.lines);
    if (status == OK) {
        rest_answer(rest, describe_counts(rest, &space, counts));
    } else {
        rest_refuse(rest, status);
    }
}

void serve_memory_import(const struct visit *visit)
{
    serve_lines(visit, run_import);
}

/* ---- export: a step each time that the client has taken the one before, so that one who reads
 * slowly, or never, holds neither a thread nor more than a step in memory ---- */

struct export_stream {
    struct rest_call *rest;
    struct memory_space space;
    struct memory_scope scope;
    struct memory_position position;
    struct arena *arena; /* of one line */
    struct buf lines;    /* of one step */
    bool started;
};

/* What the lines are declared as: generated clients may know no other type for a file than the one
 * that says nothing, so whoever asks for that gets it. */
static const char *export_type(struct exchange *exchange)
{
    static const char FILE_TYPE[] = "application/octet-stream";
    struct slice accepted = exchange_header(exchange, "Accept", NULL);
    return slice_is_any_case(accepted, FILE_TYPE) ? FILE_TYPE : "application/x-ndjson";
}

/* Sends what was gathered; the answer begins with the first of it, so that an error before that has
 * its own status. */
static int send_lines(struct export_stream *export)
{
    struct exchange *exchange = export->rest->exchange;
    int status = OK;
    if (!export->started) {
        struct buf headers;
        answer_headers(&headers, exchange, export_type(exchange), NULL);
        status = exchange_stream_start(exchange, 200, headers.data);
        buf_done(&headers);
        export->started = true;
    }
    redact_buf(&export->lines, 0, WORDS_OF_CALLER);
    if (status == OK && export->lines.length > 0) {
        status = exchange_stream_send(exchange, export->lines.data, export->lines.length);
    }
    buf_clear(&export->lines);
    return status;
}

static int export_one(void *context, const struct memory_space *space, const struct memory *memory)
{
    struct export_stream *export = context;
    int status = fields_write_line(&export->lines, export->arena, space->name, NULL, memory);
    arena_reset(export->arena);
    return status;
}

/* The last line of an export that could not be completed says so. */
static void end_with_error(struct export_stream *export)
{
    struct call *call = export->rest->call;
    yyjson_mut_doc *doc = json_new(call_arena(call));
    buf_clear(&export->lines);
    if (doc && json_write(&export->lines, call_arena(call), registry_error_body(call, doc)) == OK) {
        buf_putc(&export->lines, '\n');
        redact_buf(&export->lines, 0, WORDS_FROM_OUTSIDE);
    }
}

static void end_export(struct export_stream *export, int status)
{
    struct rest_call *rest = export->rest;
    rest->left = NULL;
    log_end(rest, "export", status, (size_t) export->position.memories);
    if (!export->started) {
        rest_refuse(rest, status);
        return;
    }
    if (status != OK) {
        call_fail_status(rest->call, status);
        end_with_error(export);
    }
    exchange_stream_end(rest->exchange, export->lines.data ? export->lines.data : "",
                        export->lines.length);
}

static void export_step(struct rest_call *rest);

/* The client has taken all of the last step. */
static void export_more(struct exchange *exchange, void *context)
{
    struct rest_call *rest = context;
    if (rest_try_work(rest, export_step) != OK) {
        exchange_set_timer(exchange, RETRY_MS, export_more, rest);
    }
}

/* The client is gone, and nobody was at work for it. */
static void export_left(struct rest_call *rest)
{
    const struct export_stream *export = rest->own;
    log_end(rest, "export", ERR_CANCELLED, (size_t) export->position.memories);
}

static void export_step(struct rest_call *rest)
{
    struct export_stream *export = rest->own;
    rest->left = NULL;
    export->arena = arena_new(LIMIT_MEMORY_LINE_BYTES * 4);
    buf_init(&export->lines, LIMIT_HTTP_OUT_BYTES);
    int status = export->arena ? OK : ERR_NOMEM;
    while (status == OK && !export->position.over && export->lines.length == 0) {
        status =
            memory_export_some(rest->call, &export->scope, &export->position, export_one, export);
    }
    if (status == OK) {
        status = send_lines(export);
    }
    bool over = status != OK || export->position.over;
    if (over) {
        end_export(export, status);
    }
    buf_done(&export->lines);
    export->arena = arena_free(export->arena);
    if (!over) {
        rest->left = export_left;
        exchange_on_drained(rest->exchange, export_more, rest);
    }
}

static void run_export(struct rest_call *rest)
{
    static const char *const NAMES[] = {"namespace", NULL};
    struct export_stream *export = arena_zalloc(call_arena(rest->call), sizeof *export);
    const char *name = json_string(rest->arguments, NAMES[0]);
    int status = export ? admit(rest, NAMES) : ERR_NOMEM;
    if (status == OK) {
        status = memory_space_of(rest->call, name, &export->space);
    }
    if (status != OK) {
        log_end(rest, "export", status, 0);
        rest_refuse(rest, status);
        return;
    }
    export->rest = rest;
    export->scope.space = name ? &export->space : NULL;
    rest->own = export;
    export_step(rest);
}

void serve_memory_export(const struct visit *visit)
{
    serve_lines(visit, run_export);
}
