/* The OpenAPI 3.1 description of the REST interface, made for each request that asks for it: from
 * the routes, the tools' definitions and the codes of errors, so that it cannot say anything else
 * than they do. openapi.json holds what none of them says: the bodies of the few routes that are no
 * tool. Schemas, parameters and failures are components, which generators of clients give names. */
#include "call/errors.h"
#include "core/limits.h"
#include "core/redact.h"
#include "core/sha256.h"
#include "embedded.h"
#include "rest/http.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define SCHEMAS    "#/components/schemas/"
#define PARAMETERS "#/components/parameters/"
#define RESPONSES  "#/components/responses/"
#define HEADERS    "#/components/headers/"
#define JSON       "application/json"

#define ETAG_BYTES 16 /* of the digest */

/* The description while it is made. */
struct description {
    yyjson_mut_doc *doc;
    struct arena *arena;
    const struct registry *registry;
    yyjson_mut_val *paths;
    yyjson_mut_val *schemas, *parameters, *responses; /* the components */
};

/* ---- small parts ---- */

/* "#/components/schemas/" and a name; the name where there is no memory, which ends the writing. */
static const char *join(struct arena *arena, const char *before, const char *name)
{
    const char *text = arena_printf(arena, "%s%s", before, name);
    return text ? text : name;
}

static void set_reference(const struct description *to, yyjson_mut_val *object, const char *place,
                          const char *name)
{
    yyjson_mut_obj_add_str(to->doc, object, "$ref", join(to->arena, place, name));
}

static void add_reference(const struct description *to, yyjson_mut_val *parent, const char *key,
                          const char *place, const char *name)
{
    set_reference(to, yyjson_mut_obj_add_obj(to->doc, parent, key), place, name);
}

/* "memory_add" and "Result" make "MemoryAddResult". */
static const char *type_name(struct arena *arena, const char *words, const char *suffix)
{
    char *name = arena_alloc(arena, strlen(words) + strlen(suffix) + 1);
    char *at = name;
    bool begins = true;
    for (const char *c = words; at && *c; c++) {
        if (isalnum((unsigned char)*c)) {
            *at++ = begins ? (char)toupper((unsigned char)*c) : *c;
        }
        begins = !isalnum((unsigned char)*c);
    }
    if (at) {
        memcpy(at, suffix, strlen(suffix) + 1);
    }
    return name ? name : words;
}

/* Whether a list of words, separated by spaces, holds this one. */
static bool names(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at && *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == length && memcmp(at, word, length) == 0) {
            return true;
        }
        at += size;
    }
    return false;
}

/* Adds the content of that type to a request or a response; returns its object. */
static yyjson_mut_val *add_content(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *type)
{
    yyjson_mut_val *content = yyjson_mut_obj_get(parent, "content");
    content = content ? content : yyjson_mut_obj_add_obj(doc, parent, "content");
    return yyjson_mut_obj_add_obj(doc, content, type);
}

/* Adds a content that is a file: of lines, in an import or export. */
static void add_file(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *type)
{
    yyjson_mut_val *schema = yyjson_mut_obj_add_obj(doc, add_content(doc, parent, type), "schema");
    yyjson_mut_obj_add_str(doc, schema, "type", "string");
    yyjson_mut_obj_add_str(doc, schema, "format", "binary");
}

/* ---- responses ---- */

/* Which routes can fail in a way. */
enum failure_reach {
    REACH_ALL,       /* every route */
    REACH_GUARDED,   /* those that ask for a token */
    REACH_ARGUMENTS, /* those that take arguments */
    REACH_BODY,      /* those that take a body */
    REACH_TOOL,      /* those that run a tool */
};

/* The statuses that a request can fail with; the body is always the same. The codes of each come
 * from the table of errors. */
static const struct failure_response {
    int status; /* 0: any other */
    enum failure_reach reach;
    const char *name;
    const char *description;
} FAILURES[] = {
    {400, REACH_ARGUMENTS, "BadRequest", "An argument is wrong; the message names it."},
    {401, REACH_GUARDED, "Unauthorized", "The token is missing or wrong."},
    {403, REACH_ALL, "Forbidden", "The Host, the Origin or an address is not allowed."},
    {404, REACH_TOOL, "NotFound", "There is no such thing."},
    {409, REACH_TOOL, "Conflict", "It conflicts with what is there."},
    {413, REACH_BODY, "TooLarge", "The body is too large."},
    {415, REACH_BODY, "UnsupportedMediaType", "The body is of a type that is not taken."},
    {429, REACH_TOOL, "TooManyRequests", "Too often; Retry-After says when to come back."},
    {500, REACH_TOOL, "InternalError", "The server has a fault, or no memory."},
    {502, REACH_TOOL, "BadGateway", "An upstream failed."},
    {503, REACH_ARGUMENTS, "Unavailable", "The server is busy, or something is not set up."},
    {504, REACH_ARGUMENTS, "GatewayTimeout", "Out of time."},
    {0, REACH_ALL, "OtherFailure", "Any other failure, for example of HTTP itself."},
};

#define FAILURE_COUNT (sizeof FAILURES / sizeof *FAILURES)

static void add_header(const struct description *to, yyjson_mut_val *response, const char *header,
                       const char *name)
{
    yyjson_mut_val *headers = yyjson_mut_obj_get(response, "headers");
    headers = headers ? headers : yyjson_mut_obj_add_obj(to->doc, response, "headers");
    add_reference(to, headers, header, HEADERS, name);
}

static yyjson_mut_val *add_response(const struct description *to, yyjson_mut_val *responses,
                                    const char *key, const char *description)
{
    yyjson_mut_val *response = yyjson_mut_obj_add_obj(to->doc, responses, key);
    json_add_string(to->doc, response, "description", description);
    add_header(to, response, "X-Request-Id", "RequestId");
    return response;
}

/* "An upstream failed. Codes: AUTH, PROVIDER." */
static const char *describe_failure(struct arena *arena, const struct failure_response *failure)
{
    const char *text = failure->description;
    const char *before = " Codes: ";
    for (size_t i = 0; i < ERROR_CODE_COUNT; i++) {
        if (ERROR_CODES[i].http_status == failure->status) {
            const char *longer = arena_printf(arena, "%s%s%s", text, before, ERROR_CODES[i].code);
            text = longer ? longer : text;
            before = ", ";
        }
    }
    return text;
}

static void add_failure_components(const struct description *to)
{
    for (size_t i = 0; i < FAILURE_COUNT; i++) {
        const struct failure_response *failure = &FAILURES[i];
        yyjson_mut_val *response =
            add_response(to, to->responses, failure->name, describe_failure(to->arena, failure));
        if (failure->status == 429 || failure->status == 503) {
            add_header(to, response, "Retry-After", "RetryAfter");
        }
        add_reference(to, add_content(to->doc, response, JSON), "schema", SCHEMAS, "Failure");
    }
}

static bool takes_body(const struct route *route)
{
    return route->body != BODY_ANY && strcmp(route->method, "DELETE") != 0;
}

static bool can_fail(const struct route *route, enum failure_reach reach)
{
    switch (reach) {
    case REACH_TOOL:
        return route->tool || route->serve == serve_tool_call || route->serve == serve_jobs ||
               route->serve == serve_experiments;
    case REACH_ARGUMENTS:
        return can_fail(route, REACH_TOOL) || route->serve == serve_records;
    case REACH_BODY:
        return takes_body(route);
    case REACH_GUARDED:
        return !route->open;
    default:
        return true;
    }
}

static void add_failures(const struct description *to, yyjson_mut_val *responses,
                         const struct route *route)
{
    for (size_t i = 0; i < FAILURE_COUNT; i++) {
        if (can_fail(route, FAILURES[i].reach)) {
            const char *key =
                FAILURES[i].status ? arena_printf(to->arena, "%d", FAILURES[i].status) : "default";
            add_reference(to, responses, key ? key : "default", RESPONSES, FAILURES[i].name);
        }
    }
}

/* ---- schemas of the tools ---- */

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
            yyjson_mut_set_str(value, join(arena, place, target + 1));
        } else {
            move_references(arena, value, place);
        }
    }
}

/* Takes out every keyword that begins with x-. */
static void drop_extensions(yyjson_mut_val *schema)
{
    yyjson_mut_val *value;
    yyjson_mut_arr_iter items = yyjson_mut_arr_iter_with(schema);
    while ((value = yyjson_mut_arr_iter_next(&items)) != NULL) {
        drop_extensions(value);
    }
    yyjson_mut_val *key;
    yyjson_mut_obj_iter members = yyjson_mut_obj_iter_with(schema);
    while ((key = yyjson_mut_obj_iter_next(&members)) != NULL) {
        if (strncmp(yyjson_mut_get_str(key), "x-", 2) == 0) {
            yyjson_mut_obj_iter_remove(&members);
        } else {
            drop_extensions(yyjson_mut_obj_iter_get_val(key));
        }
    }
}

/* Copies a schema without what is for others: its dialect, which OpenAPI settles, and the words for
 * MCP's list of tools (registry/listing.c). */
static yyjson_mut_val *copy_schema(yyjson_mut_doc *doc, yyjson_val *from)
{
    yyjson_mut_val *schema = json_copy(doc, from);
    yyjson_mut_obj_remove_key(schema, "$schema");
    drop_extensions(schema);
    return schema;
}

/* Adds a schema of a tool, whose references are within itself, to the components. */
static yyjson_mut_val *add_schema(const struct description *to, const char *name, yyjson_val *from)
{
    yyjson_mut_val *schema = copy_schema(to->doc, from);
    move_references(to->arena, schema, join(to->arena, SCHEMAS, name));
    yyjson_mut_obj_add(to->schemas, yyjson_mut_str(to->doc, name), schema);
    return schema;
}

/* A result has the form of a success: failures have another status and a body of their own. */
static void narrow_to_success(const struct description *to, yyjson_mut_val *schema,
                              yyjson_val *always)
{
    yyjson_mut_val *properties = yyjson_mut_obj_get(schema, "properties");
    yyjson_mut_obj_remove_key(properties, "error");
    yyjson_mut_val *success = yyjson_mut_obj_get(properties, "success");
    if (success) {
        yyjson_mut_obj_clear(success);
        yyjson_mut_obj_add_bool(to->doc, success, "const", true);
    }
    yyjson_mut_val *required = yyjson_mut_obj_get(schema, "required");
    if (yyjson_mut_obj_get(properties, "data")) {
        yyjson_mut_arr_add_str(to->doc, required, "data");
    }
    size_t index, max;
    yyjson_val *name;
    yyjson_arr_foreach(always, index, max, name)
    {
        yyjson_mut_arr_append(required, json_copy(to->doc, name));
    }
}

static const char *arguments_name(const struct description *to, const struct entry *entry)
{
    return type_name(to->arena, entry->name, "Arguments");
}

static const char *result_name(const struct description *to, const struct entry *entry)
{
    return type_name(to->arena, entry->name, "Result");
}

static void add_tool_schemas(const struct description *to, const struct entry *entry)
{
    add_schema(to, arguments_name(to, entry), entry->input_schema);
    if (entry->output_schema) {
        narrow_to_success(to, add_schema(to, result_name(to, entry), entry->output_schema),
                          yyjson_obj_get(entry->output_schema, "x-always"));
    }
}

static bool is_required(const struct entry *entry, const char *name)
{
    size_t index, max;
    yyjson_val *one;
    yyjson_arr_foreach(yyjson_obj_get(entry->input_schema, "required"), index, max, one)
    {
        if (yyjson_equals_str(one, name)) {
            return true;
        }
    }
    return false;
}

/* ---- operations ---- */

static yyjson_mut_val *add_operation(const struct description *to, const struct route *route,
                                     const char *path, const char *id, const char *summary)
{
    char *lower = arena_strdup(to->arena, route->method);
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

/* Adds the body of a request, an object of the components. */
static void add_body(const struct description *to, yyjson_mut_val *operation, const char *name,
                     bool required)
{
    yyjson_mut_val *request = yyjson_mut_obj_add_obj(to->doc, operation, "requestBody");
    yyjson_mut_obj_add_bool(to->doc, request, "required", required);
    add_reference(to, add_content(to->doc, request, JSON), "schema", SCHEMAS, name);
}

/* Adds the result of a tool and the ways in which the route can fail. */
static void add_tool_responses(const struct description *to, yyjson_mut_val *operation,
                               const struct route *route, const struct entry *entry)
{
    yyjson_mut_val *responses = yyjson_mut_obj_add_obj(to->doc, operation, "responses");
    yyjson_mut_val *success = add_response(to, responses, "200", "The result.");
    yyjson_mut_val *content = add_content(to->doc, success, JSON);
    if (entry->output_schema) {
        add_reference(to, content, "schema", SCHEMAS, result_name(to, entry));
    } else {
        yyjson_mut_val *schema = yyjson_mut_obj_add_obj(to->doc, content, "schema");
        yyjson_mut_obj_add_str(to->doc, schema, "type", "object");
    }
    if (yyjson_obj_get(yyjson_obj_get(entry->output_schema, "properties"), "job")) {
        yyjson_mut_val *later = add_response(
            to, responses, "202", "It is not over yet: the job that works on it, under its path.");
        add_reference(to, add_content(to->doc, later, JSON), "schema", SCHEMAS, "JobHandle");
    }
    add_failures(to, responses, route);
}

static void add_tool(const struct description *to, const struct route *route,
                     const struct entry *entry)
{
    const char *path = join(to->arena, "/api/v1/tools/", entry->name);
    yyjson_mut_val *post = add_operation(to, route, path, entry->name, entry->title);
    json_add_string(to->doc, post, "description", entry->description);
    add_tag(to->doc, post, entry->group);
    add_body(to, post, arguments_name(to, entry),
             yyjson_arr_size(yyjson_obj_get(entry->input_schema, "required")) > 0);
    add_tool_responses(to, post, route, entry);
}

/* ---- the routes of the memories: each is a tool, its arguments in the path, query or body ---- */

/* Adds a parameter of the query: a reference to the component of its name, which the first of its
 * kind becomes; or itself, where another tool means something else by that name. */
static void add_parameter(const struct description *to, yyjson_mut_val *parameters,
                          const char *name, yyjson_val *schema, bool required)
{
    yyjson_mut_doc *doc = to->doc;
    yyjson_mut_val *parameter = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, parameter, "name", name);
    yyjson_mut_obj_add_str(doc, parameter, "in", "query");
    json_add_string(doc, parameter, "description", json_string(schema, "description"));
    yyjson_mut_val *copy = copy_schema(doc, schema);
    yyjson_mut_obj_remove_key(copy, "description");
    yyjson_mut_obj_add_val(doc, parameter, "schema", copy);
    if (required) {
        yyjson_mut_obj_add_bool(doc, parameter, "required", true);
    }
    yyjson_mut_val *there = yyjson_mut_obj_get(to->parameters, name);
    if (there && !yyjson_mut_equals(there, parameter)) {
        yyjson_mut_arr_append(parameters, parameter);
        return;
    }
    if (!there) {
        yyjson_mut_obj_add_val(doc, to->parameters, name, parameter);
    }
    set_reference(to, yyjson_mut_arr_add_obj(doc, parameters), PARAMETERS, name);
}

static bool is_keyed(const struct route *route)
{
    return strstr(route->path, "{key}") != NULL;
}

/* Where a route takes an argument of its tool: NULL where it does not. A key is in the path where
 * the path has one, and then the namespace, which is part of the address too, is in the query. */
static const char *place_of(const struct route *route, const char *argument)
{
    if (route->lines) {
        return strcmp(argument, "namespace") == 0 ? "query" : NULL;
    }
    if (names(route->without, argument)) {
        return NULL;
    }
    if (is_keyed(route) && strcmp(argument, "key") == 0) {
        return "path";
    }
    bool in_address = is_keyed(route) && strcmp(argument, "namespace") == 0;
    return takes_body(route) && !in_address ? "body" : "query";
}

/* Adds the parameters that the route names itself, which openapi.json has. */
static void add_own_parameters(const struct description *to, yyjson_mut_val *parameters,
                               const struct route *route)
{
    char *rest = NULL;
    char *list = route->parameters ? arena_strdup(to->arena, route->parameters) : NULL;
    for (char *name = list ? strtok_r(list, " ", &rest) : NULL; name;
         name = strtok_r(NULL, " ", &rest)) {
        set_reference(to, yyjson_mut_arr_add_obj(to->doc, parameters), PARAMETERS, name);
    }
}

static void add_parameters(const struct description *to, yyjson_mut_val *operation,
                           const struct route *route, const struct entry *entry)
{
    yyjson_mut_val *parameters = yyjson_mut_arr(to->doc);
    size_t index, max;
    yyjson_val *name, *schema;
    yyjson_obj_foreach(yyjson_obj_get(entry->input_schema, "properties"), index, max, name, schema)
    {
        const char *text = yyjson_get_str(name);
        const char *place = place_of(route, text);
        if (place && strcmp(place, "path") == 0) {
            set_reference(to, yyjson_mut_arr_add_obj(to->doc, parameters), PARAMETERS, text);
        } else if (place && strcmp(place, "query") == 0) {
            add_parameter(to, parameters, strcmp(text, "query") == 0 ? "q" : text, schema,
                          !route->lines && is_required(entry, text));
        }
    }
    add_own_parameters(to, parameters, route);
    if (yyjson_mut_arr_size(parameters)) {
        yyjson_mut_obj_add_val(to->doc, operation, "parameters", parameters);
    }
}

/* Takes a name out of the list of those that are required; a list of none goes. */
static void unrequire(yyjson_mut_val *schema, const char *name)
{
    yyjson_mut_val *required = yyjson_mut_obj_get(schema, "required");
    size_t index, max;
    yyjson_mut_val *one;
    yyjson_mut_arr_foreach(required, index, max, one)
    {
        if (yyjson_mut_equals_str(one, name)) {
            yyjson_mut_arr_remove(required, index);
            break;
        }
    }
    if (yyjson_mut_arr_size(required) == 0) {
        yyjson_mut_obj_remove_key(schema, "required");
    }
}

/* Adds the body of a route with a key: the tool's arguments without those of the address. */
static void add_rest_of_arguments(const struct description *to, yyjson_mut_val *operation,
                                  const struct route *route, const struct entry *entry)
{
    const char *name = type_name(to->arena, route->operation, "Body");
    yyjson_mut_val *schema = add_schema(to, name, entry->input_schema);
    yyjson_mut_val *properties = yyjson_mut_obj_get(schema, "properties");
    size_t index, max;
    yyjson_val *argument, *ignored;
    yyjson_obj_foreach(yyjson_obj_get(entry->input_schema, "properties"), index, max, argument,
                       ignored)
    {
        const char *text = yyjson_get_str(argument);
        const char *place = place_of(route, text);
        if (!place || strcmp(place, "body") != 0) {
            yyjson_mut_obj_remove_key(properties, text);
            unrequire(schema, text);
        }
    }
    add_body(to, operation, name, true);
}

static void add_lines_route(const struct description *to, yyjson_mut_val *operation,
                            const struct route *route)
{
    yyjson_mut_val *responses = yyjson_mut_obj_add_obj(to->doc, operation, "responses");
    yyjson_mut_val *success;
    if (takes_body(route)) {
        yyjson_mut_val *request = yyjson_mut_obj_add_obj(to->doc, operation, "requestBody");
        yyjson_mut_obj_add_str(to->doc, request, "description", route->lines);
        yyjson_mut_obj_add_bool(to->doc, request, "required", true);
        add_file(to->doc, request, "application/octet-stream");
        success = add_response(to, responses, "200", "What was imported.");
        add_reference(to, add_content(to->doc, success, JSON), "schema", SCHEMAS, route->result);
    } else {
        success = add_response(to, responses, "200", route->lines);
        add_file(to->doc, success, "application/x-ndjson");
        add_file(to->doc, success, "application/octet-stream");
    }
    add_failures(to, responses, route);
}

static void add_memory_route(const struct description *to, const struct route *route)
{
    const struct entry *entry = registry_tool(to->registry, route->tool);
    if (!entry) {
        return;
    }
    yyjson_mut_val *operation =
        add_operation(to, route, route->path, route->operation, route->summary);
    add_tag(to->doc, operation, "memories");
    add_parameters(to, operation, route, entry);
    if (route->lines) {
        add_lines_route(to, operation, route);
        return;
    }
    if (takes_body(route) && is_keyed(route)) {
        add_rest_of_arguments(to, operation, route, entry);
    } else if (takes_body(route)) {
        add_body(to, operation, arguments_name(to, entry), true);
    }
    add_tool_responses(to, operation, route, entry);
}

/* ---- the whole ---- */

/* Adds a route that is no tool: what it takes and gives stands in openapi.json. */
static void add_plain_route(const struct description *to, const struct route *route)
{
    yyjson_mut_doc *doc = to->doc;
    yyjson_mut_val *operation =
        add_operation(to, route, route->path, route->operation, route->summary);
    add_tag(doc, operation,
            route->serve == serve_records ? "records"
            : route->serve == serve_jobs  ? "research"
                                          : "server");
    if (route->parameters) {
        add_own_parameters(to, yyjson_mut_obj_add_arr(doc, operation, "parameters"), route);
    }
    yyjson_mut_val *responses = yyjson_mut_obj_add_obj(doc, operation, "responses");
    yyjson_mut_val *success = add_response(to, responses, "200", route->summary);
    if (route->serve == serve_openapi) {
        add_header(to, success, "ETag", "ETag");
        add_response(to, responses, "304", "The client has it: If-None-Match names it.");
    }
    if (route->result) {
        add_reference(to, add_content(doc, success, JSON), "schema", SCHEMAS, route->result);
    } else {
        yyjson_mut_val *schema =
            yyjson_mut_obj_add_obj(doc, add_content(doc, success, "text/plain"), "schema");
        yyjson_mut_obj_add_str(doc, schema, "type", "string");
    }
    add_failures(to, responses, route);
    if (route->open) {
        yyjson_mut_obj_add_arr(doc, operation, "security");
    }
}

static void add_routes(const struct description *to)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        const struct route *route = &ROUTES[i];
        if (route->serve == serve_tool_call) {
            for (size_t j = 0; j < to->registry->tool_count; j++) {
                add_tool_schemas(to, &to->registry->tools[j]);
                add_tool(to, route, &to->registry->tools[j]);
            }
        } else if (route->tool) {
            add_memory_route(to, route);
        } else if (route->operation) {
            add_plain_route(to, route);
        }
    }
}

static void add_head(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct visit *visit,
                     struct arena *arena)
{
    yyjson_mut_obj_add_str(doc, root, "openapi", "3.1.0");
    yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, root, "info");
    yyjson_mut_obj_add_str(doc, info, "title", "forage");
    yyjson_mut_obj_add_str(doc, info, "version", FORAGE_VERSION);
    yyjson_mut_obj_add_str(doc, info, "description",
                           "Search for AI agents. The same tools are served over MCP at /mcp.");
    yyjson_mut_obj_add_str(doc, yyjson_mut_obj_add_obj(doc, info, "license"), "name", "MIT");
    struct buf url;
    buf_init(&url, KIB(1));
    write_base_url(&url, visit->door, visit->exchange);
    yyjson_mut_val *server =
        yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, root, "servers"));
    json_add_string(doc, server, "url", url.data ? arena_strdup(arena, url.data) : NULL);
    buf_done(&url);
}

static yyjson_mut_val *describe(const struct visit *visit, struct arena *arena, yyjson_mut_doc *doc)
{
    yyjson_doc *fixed = json_embedded(arena, openapi_parts);
    yyjson_val *parts = yyjson_doc_get_root(fixed);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    add_head(doc, root, visit, arena);
    if (callers_count(visit->door->app->callers)) {
        yyjson_mut_obj_add_arr(
            doc, yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, root, "security")),
            "token");
    }
    yyjson_mut_obj_add_val(doc, root, "tags", json_copy(doc, yyjson_obj_get(parts, "tags")));
    yyjson_mut_val *paths = yyjson_mut_obj_add_obj(doc, root, "paths");
    yyjson_mut_val *components = json_copy(doc, yyjson_obj_get(parts, "components"));
    yyjson_mut_obj_add_val(doc, root, "components", components);
    struct description to = {
        .doc = doc,
        .arena = arena,
        .registry = visit->door->app->registry,
        .paths = paths,
        .schemas = yyjson_mut_obj_get(components, "schemas"),
        .parameters = yyjson_mut_obj_get(components, "parameters"),
        .responses = yyjson_mut_obj_get(components, "responses"),
    };
    add_failure_components(&to);
    add_routes(&to);
    return components ? root : NULL;
}

/* ---- answering ---- */

/* Names the bytes of the description: another version, selection of tools or host has another. */
static void write_etag(char etag[2 * ETAG_BYTES + 3], const struct buf *body)
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, body->data, body->length);
    sha256_end(&sha, digest);
    char *at = etag;
    *at++ = '"';
    for (size_t i = 0; i < ETAG_BYTES; i++) {
        at += snprintf(at, 3, "%02x", digest[i]);
    }
    *at++ = '"';
    *at = '\0';
}

/* Whether the client has it already. */
static bool has_it(struct exchange *exchange, const char *etag)
{
    struct slice known = exchange_header(exchange, "If-None-Match", NULL);
    return known.data &&
           (slice_is(known, "*") || memmem(known.data, known.length, etag, strlen(etag)) != NULL);
}

void serve_openapi(const struct visit *visit)
{
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    yyjson_mut_doc *doc = arena ? json_new(arena) : NULL;
    struct buf body;
    buf_init(&body, LIMIT_CALL_ARENA_BYTES);
    int status = json_write(&body, arena, doc ? describe(visit, arena, doc) : NULL);
    redact_buf(&body, 0, WORDS_FROM_OUTSIDE);
    if (status == OK && buf_error(&body) == OK) {
        char etag[2 * ETAG_BYTES + 3], headers[160];
        write_etag(etag, &body);
        bool known = has_it(visit->exchange, etag);
        snprintf(headers, sizeof headers, "%sCache-Control: no-cache\r\nETag: %s\r\n",
                 known ? "" : "Content-Type: application/json\r\n", etag);
        respond(visit->exchange, known ? 304 : 200, headers, NULL, body.data,
                known ? 0 : body.length);
    } else {
        respond_error(visit->exchange, CODE_INTERNAL, "out of memory");
    }
    buf_done(&body);
    arena_free(arena);
}
