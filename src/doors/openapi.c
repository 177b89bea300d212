/* The OpenAPI 3.1 description of the REST interface, made from the routes and the tool definitions.
 */
#include "core/limits.h"
#include "doors/http.h"

#include <ctype.h>
#include <string.h>

/* The description while it is made. */
struct description {
    yyjson_mut_doc *doc;
    struct arena *arena;
    const struct registry *registry;
    yyjson_mut_val *paths;
};

/* ---- parts of an operation ---- */

static yyjson_mut_val *add_typed(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *key,
                                 const char *type)
{
    yyjson_mut_val *schema = yyjson_mut_obj_add_obj(doc, parent, key);
    yyjson_mut_obj_add_str(doc, schema, "type", type);
    return schema;
}

static void add_reference(yyjson_mut_doc *doc, yyjson_mut_val *content, const char *target)
{
    yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, content, "schema"), "$ref", target);
}

/* Adds the content of that type to a request or a response; returns its object. */
static yyjson_mut_val *add_content(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *type)
{
    return yyjson_mut_obj_add_obj(doc, yyjson_mut_obj_add_obj(doc, parent, "content"), type);
}

static yyjson_mut_val *add_response(yyjson_mut_doc *doc, yyjson_mut_val *responses,
                                    const char *status, const char *description, const char *type)
{
    yyjson_mut_val *response = yyjson_mut_obj_add_obj(doc, responses, status);
    yyjson_mut_obj_add_str(doc, response, "description", description);
    return add_content(doc, response, type);
}

static yyjson_mut_val *add_operation(struct description *to, const char *path, const char *method,
                                     const char *id, const char *summary)
{
    char *lower = arena_strdup(to->arena, method);
    for (char *c = lower; c && *c; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    yyjson_mut_val *item = yyjson_mut_obj_get(to->paths, path);
    item = item ? item : yyjson_mut_obj_add_obj(to->doc, to->paths, path);
    yyjson_mut_val *operation = yyjson_mut_obj_add_obj(to->doc, item, lower);
    yyjson_mut_obj_add_str(to->doc, operation, "operationId", id);
    json_add_string(to->doc, operation, "summary", summary);
    return operation;
}

static void add_tag(yyjson_mut_doc *doc, yyjson_mut_val *operation, const char *tag)
{
    yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, operation, "tags"), tag);
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

static void add_failures(yyjson_mut_doc *doc, yyjson_mut_val *responses)
{
    for (size_t i = 0; i < sizeof FAILURES / sizeof *FAILURES; i++) {
        yyjson_mut_val *failure = add_response(doc, responses, FAILURES[i].status,
                                               FAILURES[i].description, "application/json");
        add_reference(doc, failure, "#/components/schemas/Failure");
    }
}

/* ---- the tools ---- */

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

/* Adds a schema of a tool, whose references are within itself. */
static void add_schema(struct description *to, yyjson_mut_val *content, yyjson_val *schema,
                       const struct entry *entry, const char *part)
{
    yyjson_mut_val *copy = json_copy(to->doc, schema);
    const char *place = arena_printf(
        to->arena, "#/paths/~1api~1v1~1tools~1%s/post/%s/content/application~1json/schema",
        entry->name, part);
    if (place) {
        move_references(to->arena, copy, place);
    }
    yyjson_mut_obj_add_val(to->doc, content, "schema", copy);
}

static void add_tool(struct description *to, const struct entry *entry)
{
    yyjson_mut_doc *doc = to->doc;
    const char *path = arena_printf(to->arena, "/api/v1/tools/%s", entry->name);
    yyjson_mut_val *post = add_operation(to, path ? path : "", "POST", entry->name, entry->title);
    json_add_string(doc, post, "description", entry->description);
    add_tag(doc, post, entry->group);
    yyjson_mut_val *request = yyjson_mut_obj_add_obj(doc, post, "requestBody");
    add_schema(to, add_content(doc, request, "application/json"), entry->input_schema, entry,
               "requestBody");
    yyjson_mut_val *responses = yyjson_mut_obj_add_obj(doc, post, "responses");
    yyjson_mut_val *success =
        add_response(doc, responses, "200", "The result.", "application/json");
    if (entry->output_schema) {
        add_schema(to, success, entry->output_schema, entry, "responses/200");
    }
    add_failures(doc, responses);
}

/* ---- the routes of the memories: each is a tool, its parameters in the path, query or body ----
 */

static void add_parameter(yyjson_mut_doc *doc, yyjson_mut_val *parameters, const char *name,
                          const char *place, yyjson_val *schema, bool required)
{
    yyjson_mut_val *parameter = yyjson_mut_arr_add_obj(doc, parameters);
    yyjson_mut_obj_add_strcpy(doc, parameter, "name", name);
    yyjson_mut_obj_add_str(doc, parameter, "in", place);
    json_add_string(doc, parameter, "description", json_string(schema, "description"));
    yyjson_mut_obj_add_val(doc, parameter, "schema", json_copy(doc, schema));
    yyjson_mut_obj_add_bool(doc, parameter, "required", required);
}

static bool is_required(const struct entry *entry, yyjson_val *name)
{
    size_t index, max;
    yyjson_val *one;
    yyjson_arr_foreach(yyjson_obj_get(entry->input_schema, "required"), index, max, one)
    {
        if (yyjson_equals(one, name)) {
            return true;
        }
    }
    return false;
}

/* Whether the arguments of a route stand in its body; the query then has only the namespace. */
static bool has_body(const struct route *route)
{
    return route->body != BODY_ANY && strcmp(route->method, "DELETE") != 0;
}

static void add_parameters(struct description *to, yyjson_mut_val *operation,
                           const struct route *route, const struct entry *entry)
{
    yyjson_mut_val *parameters = yyjson_mut_obj_add_arr(to->doc, operation, "parameters");
    bool keyed = strstr(route->path, "{key}") != NULL;
    size_t index, max;
    yyjson_val *name, *schema;
    yyjson_obj_foreach(yyjson_obj_get(entry->input_schema, "properties"), index, max, name, schema)
    {
        const char *text = yyjson_get_str(name);
        bool wanted = route->lines || has_body(route) ? strcmp(text, "namespace") == 0
                                                      : !(keyed && strcmp(text, "keys") == 0);
        if (keyed && strcmp(text, "key") == 0) {
            add_parameter(to->doc, parameters, "key", "path", schema, true);
        } else if (wanted) {
            add_parameter(to->doc, parameters, strcmp(text, "query") == 0 ? "q" : text, "query",
                          schema, !route->lines && is_required(entry, name));
        }
    }
}

/* Adds what the body takes; the key of a path is not part of it. */
static void add_body(yyjson_mut_doc *doc, yyjson_mut_val *operation, const struct route *route,
                     const struct entry *entry)
{
    yyjson_mut_val *request = yyjson_mut_obj_add_obj(doc, operation, "requestBody");
    if (route->lines) {
        yyjson_mut_val *lines = add_content(doc, request, "application/x-ndjson");
        yyjson_mut_obj_add_str(doc, add_typed(doc, lines, "schema", "string"), "description",
                               route->lines);
        return;
    }
    yyjson_mut_val *schema = json_copy(doc, entry->input_schema);
    yyjson_mut_val *required =
        strstr(route->path, "{key}") ? yyjson_mut_obj_get(schema, "required") : NULL;
    size_t index, max;
    yyjson_mut_val *name;
    yyjson_mut_arr_foreach(required, index, max, name)
    {
        if (yyjson_mut_equals_str(name, "key")) {
            yyjson_mut_arr_remove(required, index);
            break;
        }
    }
    yyjson_mut_obj_add_val(doc, add_content(doc, request, "application/json"), "schema", schema);
}

static void add_memory_route(struct description *to, const struct route *route)
{
    yyjson_mut_doc *doc = to->doc;
    const struct entry *entry = registry_tool(to->registry, route->tool);
    if (!entry) {
        return;
    }
    yyjson_mut_val *operation =
        add_operation(to, route->path, route->method, route->operation, route->summary);
    add_tag(doc, operation, entry->group);
    add_parameters(to, operation, route, entry);
    if (has_body(route)) {
        add_body(doc, operation, route, entry);
    }
    bool exports = route->lines && !has_body(route);
    yyjson_mut_val *responses = yyjson_mut_obj_add_obj(doc, operation, "responses");
    yyjson_mut_val *success =
        add_response(doc, responses, "200", exports ? route->lines : "The result.",
                     exports ? "application/x-ndjson" : "application/json");
    if (route->lines) {
        add_typed(doc, success, "schema", exports ? "string" : "object");
    } else {
        const char *place = arena_printf(to->arena,
                                         "#/paths/~1api~1v1~1tools~1%s/post/responses/200/content/"
                                         "application~1json/schema",
                                         route->tool);
        add_reference(doc, success, place ? place : "");
    }
    add_failures(doc, responses);
}

/* ---- the whole ---- */

/* Adds a route that is no tool: its query takes numbers, none of them needed. */
static void add_plain_route(struct description *to, const struct route *route)
{
    yyjson_mut_doc *doc = to->doc;
    yyjson_mut_val *operation =
        add_operation(to, route->path, route->method, route->operation, route->summary);
    char *rest = NULL;
    char *names = route->numbers ? arena_strdup(to->arena, route->numbers) : NULL;
    yyjson_mut_val *parameters =
        names ? yyjson_mut_obj_add_arr(doc, operation, "parameters") : NULL;
    for (char *name = names ? strtok_r(names, " ", &rest) : NULL; name;
         name = strtok_r(NULL, " ", &rest)) {
        yyjson_mut_val *parameter = yyjson_mut_arr_add_obj(doc, parameters);
        yyjson_mut_obj_add_str(doc, parameter, "name", name);
        yyjson_mut_obj_add_str(doc, parameter, "in", "query");
        add_typed(doc, parameter, "schema", "integer");
    }
    bool is_text = strcmp(route->path, "/metrics") == 0;
    add_response(doc, yyjson_mut_obj_add_obj(doc, operation, "responses"), "200", route->summary,
                 is_text ? "text/plain" : "application/json");
}

static void add_routes(struct description *to)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *route = &ROUTES[i];
        if (route->serve == serve_tool_call) {
            for (size_t j = 0; j < to->registry->tool_count; j++) {
                add_tool(to, &to->registry->tools[j]);
            }
        } else if (route->tool) {
            add_memory_route(to, route);
        } else if (route->operation) {
            add_plain_route(to, route);
        }
    }
}

static const char COMPONENTS[] =
    "{\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}},"
    "\"schemas\":{\"Failure\":{\"type\":\"object\",\"properties\":{"
    "\"success\":{\"type\":\"boolean\"},\"error\":{\"type\":\"object\",\"properties\":{"
    "\"code\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"},"
    "\"request_id\":{\"type\":\"string\"},\"retry_after_s\":{\"type\":\"integer\"}}}}}}}";

static yyjson_mut_val *describe(const struct visit *visit, struct arena *arena, yyjson_mut_doc *doc)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, root, "openapi", "3.1.0");
    yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, root, "info");
    yyjson_mut_obj_add_str(doc, info, "title", "forage");
    yyjson_mut_obj_add_str(doc, info, "version", FORAGE_VERSION);
    yyjson_mut_obj_add_str(doc, info, "description",
                           "Search for AI agents. The same tools are served over MCP at /mcp.");
    struct buf url;
    buf_init(&url, KIB(1));
    write_base_url(&url, visit->exchange);
    yyjson_mut_val *server =
        yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, root, "servers"));
    json_add_string(doc, server, "url", url.data ? arena_strdup(arena, url.data) : NULL);
    buf_done(&url);
    struct description to = {doc, arena, visit->door->app->registry,
                             yyjson_mut_obj_add_obj(doc, root, "paths")};
    add_routes(&to);
    yyjson_doc *components = json_parse(arena, COMPONENTS, sizeof COMPONENTS - 1, NULL);
    yyjson_mut_obj_add_val(doc, root, "components",
                           json_copy(doc, yyjson_doc_get_root(components)));
    if (callers_count(visit->door->app->callers)) {
        yyjson_mut_obj_add_arr(
            doc, yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, root, "security")),
            "token");
    }
    return root;
}

void serve_openapi(const struct visit *visit)
{
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    yyjson_mut_doc *doc = arena ? json_new(arena) : NULL;
    respond_json(visit->exchange, arena, 200, NULL, doc ? describe(visit, arena, doc) : NULL);
    arena_free(arena);
}
