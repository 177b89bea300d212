/* The methods that only tell: the handshake, the lists, completion. And the table of all methods.
 */
#include "guard/callers.h"
#include "mcp/internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const LOG_LEVELS[] = {"debug", "info",     "notice", "warning",
                                         "error", "critical", "alert",  "emergency"};

int log_level_index(const char *name)
{
    for (int i = 0; name && i < (int)(sizeof LOG_LEVELS / sizeof *LOG_LEVELS); i++) {
        if (strcmp(name, LOG_LEVELS[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---- handshakes ---- */

static yyjson_mut_val *add_object(yyjson_mut_doc *doc, yyjson_mut_val *parent, const char *key)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_val(doc, parent, key, object);
    return object;
}

/* List changes reach only modern listeners: a stateless legacy client has no stream for them. */
static yyjson_mut_val *capabilities(struct mcp_work *work)
{
    yyjson_mut_doc *doc = work->doc;
    const struct registry *registry = work->mcp->options.registry;
    unsigned features = work->mcp->options.features;
    bool changes = work->modern && (features & MCP_LIST_CHANGED);
    yyjson_mut_val *all = yyjson_mut_obj(doc);
    yyjson_mut_val *tools = add_object(doc, all, "tools");
    yyjson_mut_val *resources =
        registry_resource_count(registry) ? add_object(doc, all, "resources") : NULL;
    yyjson_mut_val *prompts =
        registry_prompt_count(registry) ? add_object(doc, all, "prompts") : NULL;
    if (changes) {
        yyjson_mut_obj_add_bool(doc, tools, "listChanged", true);
        yyjson_mut_obj_add_bool(doc, resources, "listChanged", true);
        yyjson_mut_obj_add_bool(doc, prompts, "listChanged", true);
    }
    if (!work->modern && (features & MCP_SUBSCRIBE)) {
        yyjson_mut_obj_add_bool(doc, resources, "subscribe", true);
    }
    if (resources || prompts) {
        add_object(doc, all, "completions");
    }
    if (features & MCP_LOGGING) {
        add_object(doc, all, "logging");
    }
    return all;
}

static void remember_client(struct mcp_session *session, const char *version, yyjson_val *declared)
{
    pthread_mutex_lock(&session->lock);
    session->version = version;
    session->can_sample = yyjson_is_obj(yyjson_obj_get(declared, "sampling"));
    session->can_elicit = yyjson_is_obj(yyjson_obj_get(declared, "elicitation"));
    session->can_list_roots = yyjson_is_obj(yyjson_obj_get(declared, "roots"));
    pthread_mutex_unlock(&session->lock);
}

static void initialize(struct mcp_work *work)
{
    const struct mcp_options *options = &work->mcp->options;
    yyjson_mut_doc *doc = work->doc;
    /* A version that we do not know is no error: we answer with the newest that we do. */
    const char *version = era_legacy_version(json_string(work->params, "protocolVersion"));
    version = version ? version : NEWEST_LEGACY_VERSION;
    if (work->session) {
        remember_client(work->session, version, yyjson_obj_get(work->params, "capabilities"));
    } else {
        char *label = arena_alloc(work->arena, ID_SECRET_SIZE);
        if (label && id_make_secret(label) == OK) {
            work->new_label = label;
        }
    }
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, result, "protocolVersion", version);
    yyjson_mut_obj_add_val(doc, result, "capabilities", capabilities(work));
    yyjson_mut_val *info = add_object(doc, result, "serverInfo");
    yyjson_mut_obj_add_str(doc, info, "name", options->name);
    json_add_string(doc, info, "title", options->title);
    yyjson_mut_obj_add_str(doc, info, "version", options->version);
    json_add_string(doc, result, "instructions", options->instructions);
    answer_result(work, result);
}

static void discover(struct mcp_work *work)
{
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    yyjson_mut_val *versions = yyjson_mut_arr(doc);
    yyjson_mut_arr_add_str(doc, versions, MODERN_VERSION);
    yyjson_mut_obj_add_val(doc, result, "supportedVersions", versions);
    yyjson_mut_obj_add_val(doc, result, "capabilities", capabilities(work));
    json_add_string(doc, result, "instructions", work->mcp->options.instructions);
    answer_result(work, result);
}

static void answer_empty(struct mcp_work *work)
{
    answer_result(work, yyjson_mut_obj(work->doc));
}

static void set_log_level(struct mcp_work *work)
{
    int level = log_level_index(json_string(work->params, "level"));
    if (level < 0) {
        answer_error(work, RPC_INVALID_PARAMS, NULL,
                     "level must be one of debug, info, notice, warning, error, critical, alert, "
                     "emergency");
        return;
    }
    pthread_mutex_lock(&work->mcp->lock);
    work->mcp->log_level = level;
    pthread_mutex_unlock(&work->mcp->lock);
    answer_empty(work);
}

/* ---- lists ---- */

/* Which items a page holds, by the cursor that names its first. */
struct page {
    size_t start, end;
};

static int read_cursor(struct mcp_work *work, size_t count, struct page *page)
{
    yyjson_val *cursor = yyjson_obj_get(work->params, "cursor");
    page->start = 0;
    if (cursor) {
        const char *text = yyjson_get_str(cursor);
        char *end = NULL;
        unsigned long start = text && *text == 'p' ? strtoul(text + 1, &end, 10) : 0;
        if (!end || *end || start == 0 || start >= count) {
            answer_error(work, RPC_INVALID_PARAMS, NULL,
                         "cursor is not one that this list gave; leave it out to begin again");
            return ERR_INVALID;
        }
        page->start = start;
    }
    size_t size = work->mcp->options.page_size;
    page->end = count - page->start > size ? page->start + size : count;
    return OK;
}

static void answer_page(struct mcp_work *work, const char *key, yyjson_mut_val *items,
                        const struct page *page, size_t count)
{
    yyjson_mut_val *result = yyjson_mut_obj(work->doc);
    yyjson_mut_obj_add_val(work->doc, result, key, items);
    if (page->end < count) {
        json_add_string(work->doc, result, "nextCursor",
                        arena_printf(work->arena, "p%zu", page->end));
    }
    answer_result(work, result);
}

static void list_tools(struct mcp_work *work)
{
    const struct registry *registry = work->mcp->options.registry;
    size_t count = registry_tool_count(registry);
    struct page page;
    if (read_cursor(work, count, &page) != OK) {
        return;
    }
    yyjson_mut_val *items = yyjson_mut_arr(work->doc);
    for (size_t i = page.start; i < page.end; i++) {
        yyjson_mut_arr_append(items,
                              registry_public_definition(work->doc, registry_tool_at(registry, i)));
    }
    answer_page(work, "tools", items, &page, count);
}

static yyjson_mut_val *describe_resource(yyjson_mut_doc *doc, const struct resource *resource)
{
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    json_add_string(doc, item, resource_is_template(resource) ? "uriTemplate" : "uri",
                    resource->uri);
    json_add_string(doc, item, "name", resource->name);
    json_add_string(doc, item, "title", resource->title);
    json_add_string(doc, item, "description", resource->description);
    json_add_string(doc, item, "mimeType", resource->mime);
    return item;
}

/* Resources and templates share a registry but not a list. */
static void list_resources_of_kind(struct mcp_work *work, const char *key, bool templates)
{
    const struct registry *registry = work->mcp->options.registry;
    size_t all = registry_resource_count(registry);
    size_t count = 0;
    for (size_t i = 0; i < all; i++) {
        count += resource_is_template(registry_resource_at(registry, i)) == templates;
    }
    struct page page;
    if (read_cursor(work, count, &page) != OK) {
        return;
    }
    yyjson_mut_val *items = yyjson_mut_arr(work->doc);
    size_t place = 0;
    for (size_t i = 0; i < all; i++) {
        const struct resource *resource = registry_resource_at(registry, i);
        if (resource_is_template(resource) != templates) {
            continue;
        }
        if (place >= page.start && place < page.end) {
            yyjson_mut_arr_append(items, describe_resource(work->doc, resource));
        }
        place++;
    }
    answer_page(work, key, items, &page, count);
}

static void list_resources(struct mcp_work *work)
{
    list_resources_of_kind(work, "resources", false);
}

static void list_templates(struct mcp_work *work)
{
    list_resources_of_kind(work, "resourceTemplates", true);
}

static yyjson_mut_val *describe_prompt(yyjson_mut_doc *doc, const struct prompt *prompt)
{
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    json_add_string(doc, item, "name", prompt->name);
    json_add_string(doc, item, "title", prompt->title);
    json_add_string(doc, item, "description", prompt->description);
    yyjson_mut_val *arguments = yyjson_mut_arr(doc);
    for (const struct prompt_argument *argument = prompt->arguments; argument && argument->name;
         argument++) {
        yyjson_mut_val *one = yyjson_mut_obj(doc);
        json_add_string(doc, one, "name", argument->name);
        json_add_string(doc, one, "title", argument->title);
        json_add_string(doc, one, "description", argument->description);
        yyjson_mut_obj_add_bool(doc, one, "required", argument->required);
        yyjson_mut_arr_append(arguments, one);
    }
    yyjson_mut_obj_add_val(doc, item, "arguments", arguments);
    return item;
}

static void list_prompts(struct mcp_work *work)
{
    const struct registry *registry = work->mcp->options.registry;
    size_t count = registry_prompt_count(registry);
    struct page page;
    if (read_cursor(work, count, &page) != OK) {
        return;
    }
    yyjson_mut_val *items = yyjson_mut_arr(work->doc);
    for (size_t i = page.start; i < page.end; i++) {
        yyjson_mut_arr_append(items, describe_prompt(work->doc, registry_prompt_at(registry, i)));
    }
    answer_page(work, "prompts", items, &page, count);
}

/* ---- the table ---- */

static const struct method METHODS[] = {
    {"initialize", initialize, ERA_LEGACY, 0, false},
    {"ping", answer_empty, ERA_LEGACY, 0, false},
    {"server/discover", discover, ERA_MODERN, 0, true},
    {"tools/list", list_tools, ERA_LEGACY | ERA_MODERN, 0, true},
    {"tools/call", call_tool, ERA_LEGACY | ERA_MODERN, 0, false},
    {"resources/list", list_resources, ERA_LEGACY | ERA_MODERN, 0, true},
    {"resources/templates/list", list_templates, ERA_LEGACY | ERA_MODERN, 0, true},
    {"resources/read", read_resource, ERA_LEGACY | ERA_MODERN, 0, true},
    {"resources/subscribe", answer_empty, ERA_LEGACY, MCP_SUBSCRIBE, false},
    {"resources/unsubscribe", answer_empty, ERA_LEGACY, MCP_SUBSCRIBE, false},
    {"prompts/list", list_prompts, ERA_LEGACY | ERA_MODERN, 0, true},
    {"prompts/get", get_prompt, ERA_LEGACY | ERA_MODERN, 0, false},
    {"completion/complete", complete_argument, ERA_LEGACY | ERA_MODERN, 0, false},
    {"logging/setLevel", set_log_level, ERA_LEGACY, MCP_LOGGING, false},
    {"subscriptions/listen", listen_start, ERA_MODERN, MCP_LIST_CHANGED, false},
};

const struct method *method_find(const struct mcp_work *work, const char *name)
{
    unsigned era = work->modern ? ERA_MODERN : ERA_LEGACY;
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++) {
        const struct method *method = &METHODS[i];
        if (strcmp(method->name, name) == 0) {
            bool offered = (method->features & ~work->mcp->options.features) == 0;
            return (method->eras & era) && offered ? method : NULL;
        }
    }
    return NULL;
}

void method_notification(struct mcp_work *work, const char *name)
{
    if (strcmp(name, "notifications/cancelled") == 0) {
        cancel_request(work, yyjson_obj_get(work->params, "requestId"));
    }
    /* Every other notification (initialized, progress, roots changed) needs nothing from us. */
}
