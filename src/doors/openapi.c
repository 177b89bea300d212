/* The OpenAPI 3.1 description of the REST interface, made from the tool definitions. */
#include "doors/openapi.h"
#include "call/errors.h"
#include "core/limits.h"
#include "core/redact.h"
#include "doors/http.h"

#include <string.h>

yyjson_mut_val *openapi_add_object(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *key)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_val(doc, parent, key, object);
    return object;
}

yyjson_mut_val *openapi_add_reference(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *key,
                                      const char *target)
{
    yyjson_mut_val *object = openapi_add_object(doc, parent, key);
    yyjson_mut_obj_add_str(doc, object, "$ref", target);
    return object;
}

yyjson_mut_val *openapi_add_response(yyjson_mut_doc *doc, yyjson_mut_val *responses,
                                     const char *status, const char *description, const char *type)
{
    yyjson_mut_val *response = openapi_add_object(doc, responses, status);
    yyjson_mut_obj_add_str(doc, response, "description", description);
    return type ? openapi_add_object(doc, openapi_add_object(doc, response, "content"), type)
                : NULL;
}

/* Makes the references of a schema to its own parts begin at `place`, where it now stands. */
static void move_references(struct arena *arena, yyjson_mut_val *schema, const char *place)
{
    size_t index, max;
    yyjson_mut_val *key, *value;
    if (yyjson_mut_is_arr(schema)) {
        yyjson_mut_arr_foreach(schema, index, max, value)
        {
            move_references(arena, value, place);
        }
        return;
    }
    yyjson_mut_obj_foreach(schema, index, max, key, value)
    {
        const char *target = yyjson_mut_get_str(value);
        if (yyjson_mut_equals_str(key, "$ref") && target && *target == '#') {
            const char *moved = arena_printf(arena, "%s%s", place, target + 1);
            yyjson_mut_set_str(value, moved ? moved : "");
        } else {
            move_references(arena, value, place);
        }
    }
}

static void add_schema(yyjson_mut_doc *doc, struct arena *arena, yyjson_mut_val *content,
                       yyjson_val *schema, const struct entry *entry, const char *part)
{
    yyjson_mut_val *copy = json_copy(doc, schema);
    const char *place =
        arena_printf(arena, "#/paths/~1api~1v1~1tools~1%s/post/%s/content/application~1json/schema",
                     entry->name, part);
    if (place) {
        move_references(arena, copy, place);
    }
    yyjson_mut_obj_add_val(doc, content, "schema", copy);
}

/* The statuses that a failed call can have; their body is always the same. */
static const struct {
    const char *status;
    const char *description;
} FAILURES[] = {
    {"400", "An argument is wrong; the message names it."},
    {"401", "The token is missing or wrong."},
    {"403", "The Host, the Origin or an address is not allowed."},
    {"404", "There is no such thing."},
    {"409", "It conflicts with what is there."},
    {"429", "Too often; Retry-After tells when to come back."},
    {"502", "An upstream failed."},
    {"503", "Busy, or not configured."},
    {"504", "Out of time."},
};

void openapi_add_failures(yyjson_mut_doc *doc, yyjson_mut_val *responses)
{
    for (size_t i = 0; i < sizeof FAILURES / sizeof *FAILURES; i++) {
        yyjson_mut_val *failure = openapi_add_response(doc, responses, FAILURES[i].status,
                                                       FAILURES[i].description, "application/json");
        openapi_add_reference(doc, failure, "schema", "#/components/schemas/Failure");
    }
}

static void add_tool(yyjson_mut_doc *doc, yyjson_mut_val *paths, struct arena *arena,
                     const struct entry *entry)
{
    const char *path = arena_printf(arena, "/api/v1/tools/%s", entry->name);
    yyjson_mut_val *post =
        openapi_add_object(doc, openapi_add_object(doc, paths, path ? path : ""), "post");
    yyjson_mut_obj_add_str(doc, post, "operationId", entry->name);
    json_add_string(doc, post, "summary", entry->title);
    json_add_string(doc, post, "description", entry->description);
    yyjson_mut_val *tags = yyjson_mut_arr(doc);
    yyjson_mut_arr_add_str(doc, tags, entry->group);
    yyjson_mut_obj_add_val(doc, post, "tags", tags);
    yyjson_mut_val *request = openapi_add_object(doc, post, "requestBody");
    yyjson_mut_val *json =
        openapi_add_object(doc, openapi_add_object(doc, request, "content"), "application/json");
    add_schema(doc, arena, json, entry->input_schema, entry, "requestBody");
    yyjson_mut_val *responses = openapi_add_object(doc, post, "responses");
    yyjson_mut_val *success =
        openapi_add_response(doc, responses, "200", "The result.", "application/json");
    if (entry->output_schema) {
        add_schema(doc, arena, success, entry->output_schema, entry, "responses/200");
    }
    openapi_add_failures(doc, responses);
}

static yyjson_mut_val *add_typed(yyjson_mut_doc *doc, yyjson_mut_val *properties, const char *name,
                                 const char *type)
{
    yyjson_mut_val *property = openapi_add_object(doc, properties, name);
    yyjson_mut_obj_add_str(doc, property, "type", type);
    return property;
}

static const struct {
    const char *method;
    const char *path;
    const char *operation;
    const char *summary;
    const char *type;
    const char *parameters[3]; /* of the query string: numbers, none of them needed */
} PLAIN[] = {
    {"get",
     "/api/v1/tools",
     "list_tools",
     "The tools that are switched on.",
     "application/json",
     {NULL}},
    {"get",
     "/api/v1/usage",
     "usage",
     "The caller's calls, tokens and money, per day and tool.",
     "application/json",
     {"days"}},
    {"get",
     "/api/v1/history",
     "history",
     "What the caller asked, newest first.",
     "application/json",
     {"limit", "before"}},
    {"delete",
     "/api/v1/history",
     "wipe_history",
     "Forgets what the caller asked.",
     "application/json",
     {NULL}},
    {"get", "/api/v1/openapi.json", "openapi", "This description.", "application/json", {NULL}},
    {"get",
     "/health",
     "health",
     "Whether the server is up. Needs no token.",
     "application/json",
     {NULL}},
    {"get", "/metrics", "metrics", "Numbers in Prometheus' text format.", "text/plain", {NULL}},
};

static void add_parameters(yyjson_mut_doc *doc, yyjson_mut_val *operation, const char *const *names)
{
    yyjson_mut_val *parameters = *names ? yyjson_mut_arr(doc) : NULL;
    for (; *names; names++) {
        yyjson_mut_val *parameter = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_str(doc, parameter, "name", *names);
        yyjson_mut_obj_add_str(doc, parameter, "in", "query");
        add_typed(doc, parameter, "schema", "integer");
        yyjson_mut_arr_append(parameters, parameter);
    }
    if (parameters) {
        yyjson_mut_obj_add_val(doc, operation, "parameters", parameters);
    }
}

static void add_plain(yyjson_mut_doc *doc, yyjson_mut_val *paths)
{
    for (size_t i = 0; i < sizeof PLAIN / sizeof *PLAIN; i++) {
        yyjson_mut_val *path = yyjson_mut_obj_get(paths, PLAIN[i].path);
        path = path ? path : openapi_add_object(doc, paths, PLAIN[i].path);
        yyjson_mut_val *operation = openapi_add_object(doc, path, PLAIN[i].method);
        yyjson_mut_obj_add_str(doc, operation, "operationId", PLAIN[i].operation);
        yyjson_mut_obj_add_str(doc, operation, "summary", PLAIN[i].summary);
        add_parameters(doc, operation, PLAIN[i].parameters);
        yyjson_mut_val *responses = openapi_add_object(doc, operation, "responses");
        openapi_add_response(doc, responses, "200", PLAIN[i].summary, PLAIN[i].type);
    }
}

static void add_components(yyjson_mut_doc *doc, yyjson_mut_val *root)
{
    yyjson_mut_val *components = openapi_add_object(doc, root, "components");
    yyjson_mut_val *schemes = openapi_add_object(doc, components, "securitySchemes");
    yyjson_mut_val *bearer = openapi_add_object(doc, schemes, "token");
    yyjson_mut_obj_add_str(doc, bearer, "type", "http");
    yyjson_mut_obj_add_str(doc, bearer, "scheme", "bearer");
    yyjson_mut_val *failure =
        openapi_add_object(doc, openapi_add_object(doc, components, "schemas"), "Failure");
    yyjson_mut_obj_add_str(doc, failure, "type", "object");
    yyjson_mut_val *properties = openapi_add_object(doc, failure, "properties");
    add_typed(doc, properties, "success", "boolean");
    yyjson_mut_val *error = add_typed(doc, properties, "error", "object");
    yyjson_mut_val *parts = openapi_add_object(doc, error, "properties");
    add_typed(doc, parts, "code", "string");
    add_typed(doc, parts, "message", "string");
    add_typed(doc, parts, "request_id", "string");
    add_typed(doc, parts, "retry_after_s", "integer");
}

static yyjson_mut_val *describe(struct http_door *door, struct exchange *exchange,
                                struct arena *arena, yyjson_mut_doc *doc)
{
    const struct registry *registry = app_registry(door->app);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, root, "openapi", "3.1.0");
    yyjson_mut_val *info = openapi_add_object(doc, root, "info");
    yyjson_mut_obj_add_str(doc, info, "title", "forage");
    yyjson_mut_obj_add_str(doc, info, "version", FORAGE_VERSION);
    yyjson_mut_obj_add_str(doc, info, "description",
                           "Search for AI agents. The same tools are served over MCP at /mcp.");
    struct buf url;
    buf_init(&url, KIB(1));
    write_base_url(&url, exchange);
    yyjson_mut_val *server = yyjson_mut_obj(doc);
    json_add_string(doc, server, "url", url.data ? arena_strdup(arena, url.data) : NULL);
    buf_done(&url);
    yyjson_mut_val *servers = yyjson_mut_arr(doc);
    yyjson_mut_arr_append(servers, server);
    yyjson_mut_obj_add_val(doc, root, "servers", servers);
    yyjson_mut_val *paths = openapi_add_object(doc, root, "paths");
    add_plain(doc, paths);
    for (size_t i = 0; i < registry_tool_count(registry); i++) {
        add_tool(doc, paths, arena, registry_tool_at(registry, i));
    }
    openapi_add_memories(doc, paths, arena, registry);
    add_components(doc, root);
    if (callers_count(app_callers(door->app))) {
        yyjson_mut_val *security = yyjson_mut_arr(doc);
        yyjson_mut_val *token = yyjson_mut_obj(doc);
        yyjson_mut_obj_add_val(doc, token, "token", yyjson_mut_arr(doc));
        yyjson_mut_arr_append(security, token);
        yyjson_mut_obj_add_val(doc, root, "security", security);
    }
    return root;
}

void serve_openapi(struct http_door *door, struct exchange *exchange, const struct caller *caller)
{
    (void)caller;
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    yyjson_mut_doc *doc = arena ? json_new(arena) : NULL;
    if (doc) {
        respond_json(exchange, arena, 200, NULL, describe(door, exchange, arena, doc));
    } else {
        respond_error(exchange, CODE_INTERNAL, "out of memory");
    }
    arena_free(arena);
}
