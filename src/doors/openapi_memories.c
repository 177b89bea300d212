/* The routes of the memories in the OpenAPI description: each is a tool, its parameters in the
 * path, the query or the body. */
#include "doors/openapi.h"

#include <string.h>

static const struct route {
    const char *path;
    const char *method;
    const char *tool;
    const char *operation;
    const char *summary;
    const char *lines; /* an import or an export: what they are; NULL: the tool itself */
    bool body;         /* parameters are in the body; otherwise in the query */
} ROUTES[] = {
    {"/api/v1/memories", "get", "memory_list", "list_memories", "Lists memories, newest first.",
     NULL, false},
    {"/api/v1/memories", "post", "memory_add", "add_memory", "Adds or replaces a memory.", NULL,
     true},
    {"/api/v1/memories/search", "get", "memory_search", "search_memories",
     "Finds memories by what they are about.", NULL, false},
    {"/api/v1/memories/fulltext", "get", "memory_fulltext_search", "search_memory_words",
     "Finds memories by the words that they hold.", NULL, false},
    {"/api/v1/memories/import", "post", "memory_add", "import_memories",
     "Adds many memories, 1,000 in a transaction.",
     "One memory on each line, as a JSON object: key, summary, text, tags, metadata, session, "
     "place, role, created_at, expires_at. At most 64 MiB.",
     true},
    {"/api/v1/memories/export", "get", "memory_list", "export_memories",
     "All memories of a namespace, as the import takes them.",
     "One memory on each line, in the order of keys. An export that could not be completed ends "
     "with a line that holds an error.",
     false},
    {"/api/v1/memories/{key}", "get", "memory_get", "get_memory", "Reads a memory.", NULL, false},
    {"/api/v1/memories/{key}", "put", "memory_add", "put_memory",
     "Adds the memory of this key, or replaces it.", NULL, true},
    {"/api/v1/memories/{key}", "patch", "memory_update", "update_memory",
     "Changes parts of a memory.", NULL, true},
    {"/api/v1/memories/{key}", "delete", "memory_delete", "delete_memory", "Deletes a memory.",
     NULL, false},
};

static yyjson_mut_val *add_parameter(yyjson_mut_doc *doc, yyjson_mut_val *parameters,
                                     const char *name, const char *place, yyjson_val *schema)
{
    yyjson_mut_val *parameter = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_strcpy(doc, parameter, "name", name);
    yyjson_mut_obj_add_str(doc, parameter, "in", place);
    json_add_string(doc, parameter, "description", json_string(schema, "description"));
    yyjson_mut_obj_add_val(doc, parameter, "schema", json_copy(doc, schema));
    yyjson_mut_arr_append(parameters, parameter);
    return parameter;
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

static void add_parameters(yyjson_mut_doc *doc, yyjson_mut_val *operation,
                           const struct route *route, const struct entry *entry)
{
    yyjson_mut_val *parameters = yyjson_mut_arr(doc);
    bool keyed = strstr(route->path, "{key}") != NULL;
    size_t index, max;
    yyjson_val *name, *schema;
    yyjson_obj_foreach(yyjson_obj_get(entry->input_schema, "properties"), index, max, name, schema)
    {
        const char *text = yyjson_get_str(name);
        bool key = strcmp(text, "key") == 0;
        bool wanted = route->lines || route->body ? strcmp(text, "namespace") == 0
                                                  : !(keyed && strcmp(text, "keys") == 0);
        if (key && keyed) {
            yyjson_mut_val *made = add_parameter(doc, parameters, "key", "path", schema);
            yyjson_mut_obj_add_bool(doc, made, "required", true);
        } else if (wanted) {
            bool short_name = strcmp(text, "query") == 0;
            yyjson_mut_val *made =
                add_parameter(doc, parameters, short_name ? "q" : text, "query", schema);
            yyjson_mut_obj_add_bool(doc, made, "required",
                                    !route->lines && is_required(entry, name));
        }
    }
    yyjson_mut_obj_add_val(doc, operation, "parameters", parameters);
}

/* What the body takes; the key of a path is not part of it. */
static void add_body(yyjson_mut_doc *doc, yyjson_mut_val *operation, const struct route *route,
                     const struct entry *entry)
{
    yyjson_mut_val *request = openapi_add_object(doc, operation, "requestBody");
    yyjson_mut_val *content = openapi_add_object(doc, request, "content");
    if (route->lines) {
        yyjson_mut_val *lines = openapi_add_object(doc, content, "application/x-ndjson");
        yyjson_mut_val *schema = openapi_add_object(doc, lines, "schema");
        yyjson_mut_obj_add_str(doc, schema, "type", "string");
        yyjson_mut_obj_add_str(doc, schema, "description", route->lines);
        return;
    }
    yyjson_mut_val *json = openapi_add_object(doc, content, "application/json");
    yyjson_mut_val *schema = json_copy(doc, entry->input_schema);
    if (strstr(route->path, "{key}")) {
        yyjson_mut_val *required = yyjson_mut_obj_get(schema, "required");
        size_t index, max;
        yyjson_mut_val *name;
        yyjson_mut_arr_foreach(required, index, max, name)
        {
            if (yyjson_mut_equals_str(name, "key")) {
                yyjson_mut_arr_remove(required, index);
                break;
            }
        }
    }
    yyjson_mut_obj_add_val(doc, json, "schema", schema);
}

static void add_answers(yyjson_mut_doc *doc, yyjson_mut_val *operation, struct arena *arena,
                        const struct route *route)
{
    bool exports = route->lines && !route->body;
    yyjson_mut_val *responses = openapi_add_object(doc, operation, "responses");
    yyjson_mut_val *success =
        openapi_add_response(doc, responses, "200", exports ? route->lines : "The result.",
                             exports ? "application/x-ndjson" : "application/json");
    if (route->lines) {
        yyjson_mut_val *schema = openapi_add_object(doc, success, "schema");
        yyjson_mut_obj_add_str(doc, schema, "type", exports ? "string" : "object");
    } else {
        const char *place = arena_printf(arena,
                                         "#/paths/~1api~1v1~1tools~1%s/post/responses/200/content/"
                                         "application~1json/schema",
                                         route->tool);
        openapi_add_reference(doc, success, "schema", place ? place : "");
    }
    openapi_add_failures(doc, responses);
}

void openapi_add_memories(yyjson_mut_doc *doc, yyjson_mut_val *paths, struct arena *arena,
                          const struct registry *registry)
{
    for (size_t i = 0; i < sizeof ROUTES / sizeof *ROUTES; i++) {
        const struct route *route = &ROUTES[i];
        const struct entry *entry = registry_tool(registry, route->tool);
        if (!entry) {
            continue;
        }
        yyjson_mut_val *path = yyjson_mut_obj_get(paths, route->path);
        path = path ? path : openapi_add_object(doc, paths, route->path);
        yyjson_mut_val *operation = openapi_add_object(doc, path, route->method);
        yyjson_mut_obj_add_str(doc, operation, "operationId", route->operation);
        yyjson_mut_obj_add_str(doc, operation, "summary", route->summary);
        yyjson_mut_val *tags = yyjson_mut_arr(doc);
        yyjson_mut_arr_add_str(doc, tags, entry->group);
        yyjson_mut_obj_add_val(doc, operation, "tags", tags);
        add_parameters(doc, operation, route, entry);
        if (route->body) {
            add_body(doc, operation, route, entry);
        }
        add_answers(doc, operation, arena, route);
    }
}
