/* The methods: the handshakes, the lists, calling a tool, reading a resource, getting a prompt,
 * completing an argument. The table of them all stands at the end. */
#include "call/errors.h"
#include "mcp/internal.h"
#include "registry/form.h"

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

/* List changes reach only modern listeners: a stateless legacy client has no stream for them. */
static yyjson_mut_val *capabilities(struct mcp_work *work)
{
    yyjson_mut_doc *doc = work->doc;
    const struct registry *registry = work->mcp->options.registry;
    unsigned features = work->mcp->options.features;
    bool changes = work->modern && (features & MCP_LIST_CHANGED);
    yyjson_mut_val *all = yyjson_mut_obj(doc);
    yyjson_mut_val *tools = yyjson_mut_obj_add_obj(doc, all, "tools");
    yyjson_mut_val *resources =
        registry->resource_count ? yyjson_mut_obj_add_obj(doc, all, "resources") : NULL;
    yyjson_mut_val *prompts =
        registry->prompt_count ? yyjson_mut_obj_add_obj(doc, all, "prompts") : NULL;
    if (changes) {
        yyjson_mut_obj_add_bool(doc, tools, "listChanged", true);
        yyjson_mut_obj_add_bool(doc, resources, "listChanged", true);
        yyjson_mut_obj_add_bool(doc, prompts, "listChanged", true);
    }
    if (!work->modern && (features & MCP_SUBSCRIBE)) {
        yyjson_mut_obj_add_bool(doc, resources, "subscribe", true);
    }
    if (resources || prompts) {
        yyjson_mut_obj_add_obj(doc, all, "completions");
    }
    if (features & MCP_LOGGING) {
        yyjson_mut_obj_add_obj(doc, all, "logging");
    }
    tasks_add_capability(work, all);
    skills_add_capability(work, all);
    apps_add_capability(work, all);
    return all;
}

yyjson_mut_val *add_extension(struct mcp_work *work, yyjson_mut_val *capabilities, const char *name)
{
    yyjson_mut_val *extensions = yyjson_mut_obj_get(capabilities, "extensions");
    extensions =
        extensions ? extensions : yyjson_mut_obj_add_obj(work->doc, capabilities, "extensions");
    return yyjson_mut_obj_add_obj(work->doc, extensions, name);
}

static void remember_client(struct mcp_client *client, const char *version, yyjson_val *declared)
{
    pthread_mutex_lock(&client->lock);
    client->version = version;
    client->can_sample = yyjson_is_obj(yyjson_obj_get(declared, "sampling"));
    client->can_elicit = yyjson_is_obj(yyjson_obj_get(declared, "elicitation"));
    client->can_list_roots = yyjson_is_obj(yyjson_obj_get(declared, "roots"));
    client->shows_apps = apps_declared(declared);
    pthread_mutex_unlock(&client->lock);
}

/* Which tool is for what, of those that are listed now, before what the program says of itself. */
static const char *instructions(struct mcp_work *work)
{
    const struct mcp_options *options = &work->mcp->options;
    const char *uses = registry_uses(options->registry, work->arena);
    work->partial |= !uses;
    return uses && options->instructions
               ? arena_printf(work->arena, "%s%s", uses, options->instructions)
               : options->instructions;
}

static void initialize(struct mcp_work *work)
{
    const struct mcp_options *options = &work->mcp->options;
    yyjson_mut_doc *doc = work->doc;
    /* A version that we do not know is no error: we answer with the newest that we do. */
    const char *version = era_legacy_version(json_string(work->params, "protocolVersion"));
    version = version ? version : NEWEST_LEGACY_VERSION;
    work->version = version;
    if (work->client) {
        remember_client(work->client, version, yyjson_obj_get(work->params, "capabilities"));
    } else {
        char *label = arena_alloc(work->arena, ID_SECRET_SIZE);
        if (label && id_make_secret(label) == OK) {
            work->new_label = apps_label(work, label);
        }
    }
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, result, "protocolVersion", version);
    yyjson_mut_obj_add_val(doc, result, "capabilities", capabilities(work));
    yyjson_mut_val *info = yyjson_mut_obj_add_obj(doc, result, "serverInfo");
    yyjson_mut_obj_add_str(doc, info, "name", options->name);
    json_add_string(doc, info, "title", options->title);
    yyjson_mut_obj_add_str(doc, info, "version", options->version);
    json_add_string(doc, result, "instructions", instructions(work));
    answer_result(work, result);
}

static void discover(struct mcp_work *work)
{
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    yyjson_mut_arr_add_str(doc, yyjson_mut_obj_add_arr(doc, result, "supportedVersions"),
                           MODERN_VERSION);
    yyjson_mut_obj_add_val(doc, result, "capabilities", capabilities(work));
    json_add_string(doc, result, "instructions", instructions(work));
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

/* Describes one thing of the registry; NULL for one that is not on this list. */
typedef yyjson_mut_val *(*describer)(yyjson_mut_doc *doc, const struct registry *registry,
                                     size_t index);

/* A cursor is the place of the page's first item. */
bool read_cursor(const struct mcp_work *work, size_t *start)
{
    yyjson_val *cursor = yyjson_obj_get(work->params, "cursor");
    const char *text = yyjson_get_str(cursor);
    char *end = NULL;
    *start = text && *text == 'p' ? strtoul(text + 1, &end, 10) : 0;
    return !cursor || (end && !*end && *start > 0);
}

void answer_items(struct mcp_work *work, const char *key, yyjson_mut_val *items)
{
    yyjson_mut_val *result = yyjson_mut_obj(work->doc);
    yyjson_mut_obj_add_val(work->doc, result, key, items);
    size_t count = yyjson_mut_arr_size(items);
    size_t start;
    if (!read_cursor(work, &start) || (start > 0 && start >= count)) {
        answer_error(work, RPC_INVALID_PARAMS, NULL,
                     "cursor is not one that this list gave; leave it out to begin again");
        return;
    }
    size_t size = work->mcp->options.page_size;
    if (count - start > size) {
        json_add_string(work->doc, result, "nextCursor",
                        arena_printf(work->arena, "p%zu", start + size));
        yyjson_mut_arr_remove_range(items, start + size, count - start - size);
    }
    yyjson_mut_arr_remove_range(items, 0, start);
    answer_result(work, result);
}

static yyjson_mut_val *describe_all(struct mcp_work *work, size_t all, describer describe)
{
    yyjson_mut_val *items = yyjson_mut_arr(work->doc);
    for (size_t i = 0; i < all; i++) {
        yyjson_mut_val *item = describe(work->doc, work->mcp->options.registry, i);
        if (item) {
            yyjson_mut_arr_append(items, item);
        }
    }
    return items;
}

static void list_tools(struct mcp_work *work)
{
    yyjson_mut_doc *doc = work->doc;
    const struct registry *registry = work->mcp->options.registry;
    yyjson_mut_val *items = yyjson_mut_arr(doc);
    bool tasks = !work->modern && tasks_offered(work->mcp) && tasks_known(work);
    for (size_t i = 0; i < registry->tool_count; i++) {
        const struct entry *entry = &registry->tools[i];
        if (apps_list_tool(work, entry)) {
            yyjson_mut_val *item = form_definition(doc, entry);
            work->partial |= !yyjson_mut_obj_get(item, "description");
            apps_describe_tool(work, entry, item);
            if (tasks && entry->job) {
                yyjson_mut_val *execution = yyjson_mut_obj_add_obj(doc, item, "execution");
                yyjson_mut_obj_add_str(doc, execution, "taskSupport",
                                       entry->only_job ? "required" : "optional");
            }
            yyjson_mut_arr_append(items, item);
        }
    }
    answer_items(work, "tools", items);
}

yyjson_mut_val *describe_named(yyjson_mut_doc *doc, const struct resource *resource,
                               const char *key)
{
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    json_add_string(doc, item, key, resource->uri);
    json_add_string(doc, item, "name", resource->name);
    json_add_string(doc, item, "title", resource->title);
    json_add_string(doc, item, "description", resource->description);
    json_add_string(doc, item, "mimeType", resource->mime);
    return item;
}

/* Resources and templates share a registry but not a list. */
static yyjson_mut_val *describe_resource(yyjson_mut_doc *doc, const struct registry *registry,
                                         size_t index)
{
    const struct resource *resource = registry->resources[index];
    bool listed = !resource_is_template(resource) && !apps_is_page(resource);
    return listed ? describe_named(doc, resource, "uri") : NULL;
}

static yyjson_mut_val *describe_template(yyjson_mut_doc *doc, const struct registry *registry,
                                         size_t index)
{
    const struct resource *resource = registry->resources[index];
    return resource_is_template(resource) ? describe_named(doc, resource, "uriTemplate") : NULL;
}

static void list_resources(struct mcp_work *work)
{
    size_t all = work->mcp->options.registry->resource_count;
    yyjson_mut_val *items = describe_all(work, all, describe_resource);
    skills_add_resources(work, items);
    apps_add_resources(work, items);
    answer_items(work, "resources", items);
}

static void list_templates(struct mcp_work *work)
{
    size_t all = work->mcp->options.registry->resource_count;
    answer_items(work, "resourceTemplates", describe_all(work, all, describe_template));
}

static yyjson_mut_val *describe_prompt(yyjson_mut_doc *doc, const struct registry *registry,
                                       size_t index)
{
    const struct prompt *prompt = registry->prompts[index];
    yyjson_mut_val *item = yyjson_mut_obj(doc);
    json_add_string(doc, item, "name", prompt->name);
    json_add_string(doc, item, "title", prompt->title);
    json_add_string(doc, item, "description", prompt->description);
    yyjson_mut_val *arguments = yyjson_mut_obj_add_arr(doc, item, "arguments");
    for (const struct prompt_argument *argument = prompt->arguments; argument && argument->name;
         argument++) {
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, arguments);
        json_add_string(doc, one, "name", argument->name);
        json_add_string(doc, one, "title", argument->title);
        json_add_string(doc, one, "description", argument->description);
        yyjson_mut_obj_add_bool(doc, one, "required", argument->required);
    }
    return item;
}

static void list_prompts(struct mcp_work *work)
{
    size_t all = work->mcp->options.registry->prompt_count;
    answer_items(work, "prompts", describe_all(work, all, describe_prompt));
}

/* ---- tools/call ---- */

/* Finds the tool while the call is received, because the tool says whether it is quick. OK, or
 * ERR_INVALID after answering. */
static int prepare_tool_call(struct mcp_work *work)
{
    const char *name = json_string(work->params, "name");
    yyjson_val *arguments = yyjson_obj_get(work->params, "arguments");
    if (!name) {
        return answer_error(work, RPC_INVALID_PARAMS, NULL,
                            "params.name must be the name of a tool");
    }
    if (arguments && !yyjson_is_obj(arguments)) {
        return answer_error(work, RPC_INVALID_PARAMS, NULL, "params.arguments must be an object");
    }
    work->entry = registry_offered(work->mcp->options.registry, name);
    if (!work->entry) {
        return answer_error(work, RPC_INVALID_PARAMS, NULL,
                            "there is no tool \"%.128s\"; tools/list names them", name);
    }
    int status = ask_read_inputs(work);
    return status == OK ? tasks_read_call(work) : status;
}

/* The result as text alone, or twice: structured, and the same JSON as text for clients that do not
 * read that. It is written once. An error stays what it is at every door. */
static void add_structured(struct mcp_work *work, struct reply *reply, yyjson_mut_val *result)
{
    size_t length = 0;
    bool alone = call_takes_text(work->call);
    const struct entry *entry = reply->entry ? reply->entry : work->entry;
    const char *text = alone && !reply->is_error
                           ? form_text(work->arena, entry, reply->structured, &length)
                           : json_text(work->arena, reply->structured, &length);
    if (!text) {
        return; /* the arena is marked, and answer_result() sees it */
    }
    if (!reply->content) {
        reply->content = yyjson_mut_arr(reply->doc);
        yyjson_mut_val *block = yyjson_mut_arr_add_obj(reply->doc, reply->content);
        yyjson_mut_obj_add_str(reply->doc, block, "type", "text");
        yyjson_mut_obj_add_strn(reply->doc, block, "text", text, length);
    }
    if (!alone) {
        yyjson_mut_obj_add_val(reply->doc, result, "structuredContent",
                               yyjson_mut_rawn(reply->doc, text, length));
    }
}

yyjson_mut_val *tool_result(struct mcp_work *work, struct reply *reply)
{
    yyjson_mut_val *result = yyjson_mut_obj(reply->doc);
    if (reply->structured) {
        add_structured(work, reply, result);
    }
    yyjson_mut_obj_add_val(reply->doc, result, "content", reply->content);
    if (reply->is_error) {
        yyjson_mut_obj_add_bool(reply->doc, result, "isError", true);
    }
    return result;
}

static void call_tool(struct mcp_work *work)
{
    struct reply reply;
    int status = registry_run(work->mcp->options.registry, work->entry, work->call,
                              yyjson_obj_get(work->params, "arguments"), &reply);
    if (status != OK) {
        ask_answer(work, status);
        return;
    }
    work->doc = reply.doc;
    work->words = reply.words;
    if (work->wants_task && reply.job) {
        tasks_answer_created(work, reply.job);
    } else {
        answer_result(work, tool_result(work, &reply));
    }
}

/* A failure of a prompt or a resource has no result to stand in: it is a protocol error. */
static void answer_failure(struct mcp_work *work, int status)
{
    if (status == ERR_NEED_INPUT || (status == ERR_UNSUPPORTED && !call_error(work->call))) {
        ask_answer(work, status);
        return;
    }
    call_fail_status(work->call, status);
    const struct call_error *error = call_error(work->call);
    bool callers_fault = strcmp(error->code, CODE_VALIDATION) == 0;
    answer_error(work, callers_fault ? RPC_INVALID_PARAMS : RPC_INTERNAL, NULL, "%s",
                 error->message);
}

/* ---- resources/read ---- */

static void read_resource(struct mcp_work *work)
{
    const char *uri = json_string(work->params, "uri");
    if (!uri) {
        answer_error(work, RPC_INVALID_PARAMS, NULL, "params.uri must be a string");
        return;
    }
    if (ask_read_inputs(work) != OK) {
        return;
    }
    const struct resource *resource = registry_resource(work->mcp->options.registry, uri);
    const struct skill_file *file = skills_file(work->mcp, uri);
    struct resource_content content = {0};
    int status = ERR_NOTFOUND;
    if (resource) {
        status = resource->read(work->call, uri, &content);
    } else if (file) {
        content = (struct resource_content){.mime = file->mime, .text = file->text};
        status = OK;
    }
    if (status == ERR_NOTFOUND) {
        yyjson_mut_val *data = yyjson_mut_obj(work->doc);
        json_add_string(work->doc, data, "uri", uri);
        answer_error(work, work->modern ? RPC_INVALID_PARAMS : RPC_LEGACY_RESOURCE_NOT_FOUND, data,
                     "there is no resource \"%.256s\"; resources/list names them", uri);
        return;
    }
    if (status != OK) {
        answer_failure(work, status);
        return;
    }
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    yyjson_mut_val *one =
        yyjson_mut_arr_add_obj(doc, yyjson_mut_obj_add_arr(doc, result, "contents"));
    json_add_string(doc, one, "uri", content.uri ? content.uri : uri);
    json_add_string(doc, one, "mimeType", content.mime ? content.mime : resource->mime);
    json_add_string(doc, one, "text", content.text);
    json_add_string(doc, one, "blob", content.blob_base64);
    apps_describe_content(work, resource, one);
    answer_result(work, result);
}

/* ---- prompts/get ---- */

static int check_prompt_arguments(struct mcp_work *work, const struct prompt *prompt,
                                  yyjson_val *arguments)
{
    yyjson_val *key;
    yyjson_obj_iter each = yyjson_obj_iter_with(arguments);
    while ((key = yyjson_obj_iter_next(&each)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        if (!yyjson_is_str(value)) {
            return answer_error(work, RPC_INVALID_PARAMS, NULL,
                                "argument \"%.128s\" must be a string", yyjson_get_str(key));
        }
    }
    for (const struct prompt_argument *argument = prompt->arguments; argument && argument->name;
         argument++) {
        const char *given = json_string(arguments, argument->name);
        if (argument->required && (!given || !*given)) {
            return answer_error(work, RPC_INVALID_PARAMS, NULL, "argument \"%s\" is required: %s",
                                argument->name, argument->description ? argument->description : "");
        }
    }
    return OK;
}

static void get_prompt(struct mcp_work *work)
{
    const char *name = json_string(work->params, "name");
    const struct prompt *prompt = name ? registry_prompt(work->mcp->options.registry, name) : NULL;
    yyjson_val *arguments = yyjson_obj_get(work->params, "arguments");
    if (!prompt) {
        answer_error(work, RPC_INVALID_PARAMS, NULL,
                     "there is no prompt \"%.128s\"; prompts/list names them", name ? name : "");
        return;
    }
    if (arguments && !yyjson_is_obj(arguments)) {
        answer_error(work, RPC_INVALID_PARAMS, NULL, "params.arguments must be an object");
        return;
    }
    if (check_prompt_arguments(work, prompt, arguments) != OK || ask_read_inputs(work) != OK) {
        return;
    }
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *messages = yyjson_mut_arr(doc);
    int status = prompt->get(work->call, arguments, doc, messages);
    if (status != OK) {
        answer_failure(work, status);
        return;
    }
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    json_add_string(doc, result, "description", prompt->description);
    yyjson_mut_obj_add_val(doc, result, "messages", messages);
    answer_result(work, result);
}

/* ---- completion/complete ---- */

#define MOST_COMPLETIONS 100

/* The completer of what `ref` names. ERR_NOTFOUND when there is no such prompt or template. */
static int find_completer(struct mcp_work *work, yyjson_val *ref, completer *found)
{
    const struct registry *registry = work->mcp->options.registry;
    const char *type = json_string(ref, "type");
    const char *name = json_string(ref, "name");
    const char *uri = json_string(ref, "uri");
    if (type && name && strcmp(type, "ref/prompt") == 0) {
        const struct prompt *prompt = registry_prompt(registry, name);
        *found = prompt ? prompt->complete : NULL;
        return prompt ? OK : ERR_NOTFOUND;
    }
    for (size_t i = 0;
         type && uri && strcmp(type, "ref/resource") == 0 && i < registry->resource_count; i++) {
        const struct resource *resource = registry->resources[i];
        if (strcmp(resource->uri, uri) == 0) {
            *found = resource->complete;
            return OK;
        }
    }
    return ERR_NOTFOUND;
}

static void complete_argument(struct mcp_work *work)
{
    yyjson_val *argument = yyjson_obj_get(work->params, "argument");
    const char *name = json_string(argument, "name");
    const char *prefix = json_string(argument, "value");
    completer complete = NULL;
    if (!name || !prefix) {
        answer_error(work, RPC_INVALID_PARAMS, NULL,
                     "params.argument must have a name and a value, both strings");
        return;
    }
    if (find_completer(work, yyjson_obj_get(work->params, "ref"), &complete) != OK) {
        answer_error(work, RPC_INVALID_PARAMS, NULL,
                     "params.ref must name a prompt ({type: \"ref/prompt\", name}) or a resource "
                     "template ({type: \"ref/resource\", uri}) of this server");
        return;
    }
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *values = yyjson_mut_arr(doc);
    int status = complete ? complete(work->call, name, prefix, doc, values) : OK;
    if (status != OK) {
        answer_failure(work, status);
        return;
    }
    size_t total = yyjson_mut_arr_size(values);
    while (yyjson_mut_arr_size(values) > MOST_COMPLETIONS) {
        yyjson_mut_arr_remove_last(values);
    }
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    yyjson_mut_val *completion = yyjson_mut_obj_add_obj(doc, result, "completion");
    yyjson_mut_obj_add_val(doc, completion, "values", values);
    yyjson_mut_obj_add_uint(doc, completion, "total", total);
    yyjson_mut_obj_add_bool(doc, completion, "hasMore", total > MOST_COMPLETIONS);
    answer_result(work, result);
}

/* ---- the table ---- */

static const struct method METHODS[] = {
    {"initialize", initialize, ERA_LEGACY, 0, ANEW, false, OF_PROTOCOL},
    {"ping", answer_empty, ERA_LEGACY, 0, ANEW, false, OF_PROTOCOL},
    {"server/discover", discover, ERA_MODERN, 0, BY_US, false, OF_PROTOCOL},
    {"tools/list", list_tools, ERA_LEGACY | ERA_MODERN, 0, BY_US_IN_PAGES, false, OF_PROTOCOL},
    {"tools/call", call_tool, ERA_LEGACY | ERA_MODERN, 0, ANEW, false, OF_PROTOCOL},
    {"resources/list", list_resources, ERA_LEGACY | ERA_MODERN, 0, BY_US_IN_PAGES, false,
     OF_PROTOCOL},
    {"resources/templates/list", list_templates, ERA_LEGACY | ERA_MODERN, 0, BY_US_IN_PAGES, false,
     OF_PROTOCOL},
    {"resources/read", read_resource, ERA_LEGACY | ERA_MODERN, 0, BY_CLIENTS, false, OF_PROTOCOL},
    {"resources/subscribe", answer_empty, ERA_LEGACY, MCP_SUBSCRIBE, ANEW, false, OF_PROTOCOL},
    {"resources/unsubscribe", answer_empty, ERA_LEGACY, MCP_SUBSCRIBE, ANEW, false, OF_PROTOCOL},
    {"prompts/list", list_prompts, ERA_LEGACY | ERA_MODERN, 0, BY_US_IN_PAGES, false, OF_PROTOCOL},
    {"prompts/get", get_prompt, ERA_LEGACY | ERA_MODERN, 0, ANEW, false, OF_PROTOCOL},
    {"completion/complete", complete_argument, ERA_LEGACY | ERA_MODERN, 0, ANEW, false,
     OF_PROTOCOL},
    {"logging/setLevel", set_log_level, ERA_LEGACY, MCP_LOGGING, ANEW, false, OF_PROTOCOL},
    {"subscriptions/listen", listen_start, ERA_MODERN, MCP_LIST_CHANGED, ANEW, false, OF_PROTOCOL},
    {"tasks/get", tasks_get, ERA_LEGACY | ERA_MODERN, 0, ANEW, true, OF_TASKS},
    {"tasks/cancel", tasks_cancel, ERA_LEGACY | ERA_MODERN, 0, ANEW, true, OF_TASKS},
    {"tasks/update", tasks_update, ERA_MODERN, 0, ANEW, true, OF_TASKS},
    {"tasks/result", tasks_result, ERA_LEGACY, 0, ANEW, true, OF_TASKS},
    {"tasks/list", tasks_list, ERA_LEGACY, 0, ANEW, true, OF_TASKS},
    {"skills/list", skills_list, ERA_MODERN, 0, BY_US_IN_PAGES, false, OF_SKILLS},
    {"skills/get", skills_get, ERA_MODERN, 0, BY_CLIENTS, false, OF_SKILLS},
    {"resources/directory/read", skills_read_directory, ERA_MODERN, 0, ANEW, false, OF_SKILLS},
};

static bool is_offered(const struct mcp *mcp, const struct method *method)
{
    switch (method->extension) {
    case OF_TASKS:
        return tasks_offered(mcp);
    case OF_SKILLS:
        return skills_offered(mcp);
    default:
        return (method->features & ~mcp->options.features) == 0;
    }
}

static const struct method *find_method(const struct mcp_work *work, const char *name)
{
    unsigned era = work->modern ? ERA_MODERN : ERA_LEGACY;
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++) {
        const struct method *method = &METHODS[i];
        if (strcmp(method->name, name) == 0) {
            return (method->eras & era) && is_offered(work->mcp, method) ? method : NULL;
        }
    }
    return NULL;
}

void method_receive(struct mcp_work *work, const char *name)
{
    work->method = find_method(work, name);
    bool tasks = work->method && work->method->extension == OF_TASKS;
    if (tasks && work->modern && !tasks_known(work)) {
        tasks_refuse(work);
    } else if (!work->method || (tasks && !tasks_known(work))) {
        answer_error(work, RPC_METHOD_NOT_FOUND, NULL, "there is no method \"%.128s\"", name);
    } else if (work->method->run == listen_start) {
        work->kind = MCP_LISTEN;
    } else if (work->method->run != call_tool) {
        work->kind = work->method->slow ? MCP_SLOW : MCP_QUICK;
    } else if (prepare_tool_call(work) == OK) {
        work->kind = work->entry->quick ? MCP_QUICK : MCP_SLOW;
    }
}
