/* Memories over REST: each route is one of the memory tools, with its arguments in the path, the
 * query and the body. What comes back is what the tool answers. */
#include "doors/memories.h"

#include "call/errors.h"
#include "core/limits.h"
#include "text/text.h"
#include "text/url.h"

#include <string.h>

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

/* A part of a URL as text; NULL after call_fail() when it holds what no argument can. */
static const char *decoded(struct building *building, const char *data, size_t length,
                           bool in_query)
{
    char *copy = arena_strndup(building->arena, data, length);
    for (size_t i = 0; copy && in_query && i < length; i++) {
        copy[i] = copy[i] == '+' ? ' ' : copy[i];
    }
    size_t size = 0;
    const char *text = copy ? url_decode(building->arena, copy, length, &size) : NULL;
    if (text && (strlen(text) != size || !text_is_utf8(text, size))) {
        call_fail(building->rest->call, CODE_VALIDATION,
                  "the URL holds a NUL or bytes that are no UTF-8");
        return NULL;
    }
    return text;
}

static int add_query(struct building *building)
{
    struct slice query = exchange_request(building->rest->exchange)->query;
    const char *at = query.data;
    const char *end = query.data ? query.data + query.length : NULL;
    int status = OK;
    while (at < end && status == OK) {
        const char *stop = memchr(at, '&', (size_t)(end - at));
        stop = stop ? stop : end;
        const char *equals = memchr(at, '=', (size_t)(stop - at));
        const char *name_end = equals ? equals : stop;
        if (stop > at) {
            const char *name = decoded(building, at, (size_t)(name_end - at), true);
            const char *text =
                equals ? decoded(building, equals + 1, (size_t)(stop - equals - 1), true) : "";
            if (!name || !text) {
                return call_error(building->rest->call) ? ERR_FAILED : ERR_NOMEM;
            }
            bool short_name = strcmp(name, "q") == 0 && takes(building, "query", "string");
            status = add(building, short_name ? "query" : name, text);
        }
        at = stop + 1;
    }
    return status;
}

static int add_key(struct building *building)
{
    struct slice path = exchange_request(building->rest->exchange)->path;
    size_t skip = sizeof MEMORIES_PATH; /* with the slash behind it */
    if (path.length < skip) {
        return OK;
    }
    const char *key = decoded(building, path.data + skip, path.length - skip, false);
    if (!key) {
        return call_error(building->rest->call) ? ERR_FAILED : ERR_NOMEM;
    }
    yyjson_mut_val *given = yyjson_mut_obj_get(building->object, "key");
    if (given && yyjson_mut_equals_str(given, key)) {
        return OK;
    }
    return given ? call_fail(building->rest->call, CODE_VALIDATION,
                             "key: the body names another one than the path")
                 : add(building, "key", key);
}

/* The object as the registry wants it. */
static int finish(struct building *building)
{
    struct buf text;
    buf_init(&text, 2 * LIMIT_MESSAGE_BYTES);
    int status = json_write(&text, building->arena, building->object);
    if (status == OK) {
        yyjson_doc *parsed = json_parse(building->arena, text.data, text.length, NULL);
        building->rest->arguments = yyjson_doc_get_root(parsed);
        status = parsed ? OK : ERR_NOMEM;
    }
    buf_done(&text);
    return status;
}

static int build_arguments(struct rest_call *rest, bool key)
{
    struct building building = {.rest = rest, .arena = call_arena(rest->call)};
    building.doc = json_new(building.arena);
    building.object =
        rest->arguments ? json_copy(building.doc, rest->arguments) : yyjson_mut_obj(building.doc);
    if (!building.object) {
        return ERR_NOMEM;
    }
    int status = key ? add_key(&building) : OK;
    if (status == OK) {
        status = add_query(&building);
    }
    return status == OK ? finish(&building) : status;
}

int memories_arguments(struct rest_call *rest)
{
    return build_arguments(rest, false);
}

/* ---- the routes ---- */

struct rest_call *memories_call(struct http_door *door, struct exchange *exchange,
                                const struct caller *caller, const char *tool)
{
    struct rest_call *rest = rest_call_new(door, exchange, caller);
    if (rest) {
        rest->entry = registry_tool(app_registry(door->app), tool);
    }
    if (rest && !rest->entry) {
        respond_error(exchange, CODE_NOT_FOUND, "this tool is switched off here (FORAGE_TOOLS)");
        return NULL;
    }
    return rest;
}

static void serve(struct http_door *door, struct exchange *exchange, const struct caller *caller,
                  const char *tool, bool key)
{
    struct rest_call *rest = memories_call(door, exchange, caller, tool);
    if (!rest || !rest_read_body(rest)) {
        return;
    }
    int status = build_arguments(rest, key);
    if (status != OK) {
        call_fail_status(rest->call, status);
        rest_refuse(rest);
        return;
    }
    rest_run(rest);
}

void serve_memory_list(struct http_door *door, struct exchange *exchange,
                       const struct caller *caller)
{
    serve(door, exchange, caller, "memory_list", false);
}

void serve_memory_add(struct http_door *door, struct exchange *exchange,
                      const struct caller *caller)
{
    serve(door, exchange, caller, "memory_add", false);
}

void serve_memory_search(struct http_door *door, struct exchange *exchange,
                         const struct caller *caller)
{
    serve(door, exchange, caller, "memory_search", false);
}

void serve_memory_fulltext(struct http_door *door, struct exchange *exchange,
                           const struct caller *caller)
{
    serve(door, exchange, caller, "memory_fulltext_search", false);
}

void serve_memory_get(struct http_door *door, struct exchange *exchange,
                      const struct caller *caller)
{
    serve(door, exchange, caller, "memory_get", true);
}

void serve_memory_put(struct http_door *door, struct exchange *exchange,
                      const struct caller *caller)
{
    serve(door, exchange, caller, "memory_add", true);
}

void serve_memory_update(struct http_door *door, struct exchange *exchange,
                         const struct caller *caller)
{
    serve(door, exchange, caller, "memory_update", true);
}

void serve_memory_delete(struct http_door *door, struct exchange *exchange,
                         const struct caller *caller)
{
    serve(door, exchange, caller, "memory_delete", true);
}
