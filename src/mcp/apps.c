/* MCP Apps: the extension by which a server hands a client a page to show beside the conversation
 * (SEP-1865, 2026-01-26). A page is a resource, ui://NAME; a tool whose results it shows names it
 * in its definition, and a tool that is for the page alone says so. Only clients that declare the
 * extension hear of any of this: to all others nothing is new.
 *
 * In the modern era each request says what its client can do. In the legacy one the handshake does:
 * over stdio it is remembered, over HTTP the session label that the client sends back with every
 * request says it, since nobody remembers anything there. */
#include "mcp/internal.h"

#include <string.h>

#define SCHEME       "ui://"
#define PAGE_MIME    "text/html;profile=mcp-app"
#define LABEL_SUFFIX "-ui"

bool apps_is_page(const struct resource *resource)
{
    return strncmp(resource->uri, SCHEME, strlen(SCHEME)) == 0;
}

bool apps_declared(yyjson_val *capabilities)
{
    yyjson_val *extension =
        yyjson_obj_get(yyjson_obj_get(capabilities, "extensions"), APPS_EXTENSION);
    size_t index, max;
    yyjson_val *type;
    bool taken = false;
    yyjson_arr_foreach(yyjson_obj_get(extension, "mimeTypes"), index, max, type)
    {
        taken = taken || yyjson_equals_str(type, PAGE_MIME);
    }
    return taken;
}

const char *apps_label(struct mcp_work *work, const char *label)
{
    return apps_declared(yyjson_obj_get(work->params, "capabilities"))
               ? arena_printf(work->arena, "%s" LABEL_SUFFIX, label)
               : label;
}

static bool label_says_so(const char *label)
{
    size_t length = label ? strlen(label) : 0;
    size_t suffix = strlen(LABEL_SUFFIX);
    return length > suffix && strcmp(label + length - suffix, LABEL_SUFFIX) == 0;
}

bool apps_known(const struct mcp_work *work)
{
    if (work->modern) {
        return apps_declared(yyjson_obj_get(work->meta, META_CAPABILITIES));
    }
    if (!work->client) {
        return label_says_so(work->new_label ? work->new_label : work->label);
    }
    pthread_mutex_lock(&work->client->lock);
    bool known = work->client->shows_apps;
    pthread_mutex_unlock(&work->client->lock);
    return known;
}

/* ---- tools ---- */

bool apps_list_tool(const struct mcp_work *work, const struct entry *entry)
{
    const struct registry *registry = work->mcp->options.registry;
    return registry_is_listed(registry, entry) ||
           (entry->ui && registry_is_offered(registry, entry) && apps_known(work));
}

void apps_describe_tool(struct mcp_work *work, const struct entry *entry, yyjson_mut_val *item)
{
    if (!entry->ui || !apps_known(work)) {
        return;
    }
    yyjson_mut_val *meta = yyjson_mut_obj_get(item, "_meta");
    meta = meta ? meta : yyjson_mut_obj_add_obj(work->doc, item, "_meta");
    yyjson_mut_obj_add_val(work->doc, meta, "ui", json_share(work->doc, entry->ui));
    yyjson_val *shown = yyjson_obj_get(yyjson_obj_get(entry->definition, "forage"), "shown");
    if (shown) { /* what it is for where there is a page to show */
        yyjson_mut_obj_replace(item, yyjson_mut_str(work->doc, "description"),
                               json_share(work->doc, shown));
    }
}

/* ---- pages ---- */

/* Whether a tool that this client can have shows its results in the page. */
static bool is_shown(const struct mcp_work *work, const struct resource *resource)
{
    const struct registry *registry = work->mcp->options.registry;
    bool shown = false;
    for (size_t i = 0; apps_is_page(resource) && i < registry->tool_count; i++) {
        const struct entry *entry = &registry->tools[i];
        const char *uri = json_string(entry->ui, "resourceUri");
        shown = shown || (uri && strcmp(uri, resource->uri) == 0 && apps_list_tool(work, entry));
    }
    return shown && apps_known(work);
}

void apps_add_capability(struct mcp_work *work, yyjson_mut_val *capabilities)
{
    const struct registry *registry = work->mcp->options.registry;
    bool any = false;
    for (size_t i = 0; i < registry->resource_count; i++) {
        any = any || is_shown(work, registry->resources[i]);
    }
    if (any) {
        add_extension(work, capabilities, APPS_EXTENSION);
    }
}

void apps_add_resources(struct mcp_work *work, yyjson_mut_val *items)
{
    const struct registry *registry = work->mcp->options.registry;
    for (size_t i = 0; i < registry->resource_count; i++) {
        if (is_shown(work, registry->resources[i])) {
            yyjson_mut_val *item = describe_named(work->doc, registry->resources[i], "uri");
            apps_describe_content(work, registry->resources[i], item);
            yyjson_mut_arr_append(items, item);
        }
    }
}

/* Our pages reach nothing but the client that shows them, and have no border of their own. */
void apps_describe_content(struct mcp_work *work, const struct resource *resource,
                           yyjson_mut_val *content)
{
    if (!resource || !apps_is_page(resource)) {
        return;
    }
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(doc, content, "_meta");
    yyjson_mut_val *ui = yyjson_mut_obj_add_obj(doc, meta, "ui");
    yyjson_mut_val *csp = yyjson_mut_obj_add_obj(doc, ui, "csp");
    yyjson_mut_obj_add_arr(doc, csp, "connectDomains");
    yyjson_mut_obj_add_arr(doc, csp, "resourceDomains");
    yyjson_mut_obj_add_bool(doc, ui, "prefersBorder", true);
}
