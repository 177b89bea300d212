/* The methods that do something: calling a tool, reading a resource, getting a prompt, completing
 * an argument. */
#include "call/errors.h"
#include "mcp/internal.h"

#include <string.h>

/* ---- tools/call ---- */

int prepare_tool_call(struct mcp_work *work)
{
    const char *name = json_string(work->params, "name");
    yyjson_val *arguments = yyjson_obj_get(work->params, "arguments");
    if (!name) {
        answer_error(work, RPC_INVALID_PARAMS, NULL, "params.name must be the name of a tool");
        return ERR_INVALID;
    }
    if (arguments && !yyjson_is_obj(arguments)) {
        answer_error(work, RPC_INVALID_PARAMS, NULL, "params.arguments must be an object");
        return ERR_INVALID;
    }
    work->entry = registry_tool(work->mcp->options.registry, name);
    if (!work->entry) {
        answer_error(work, RPC_INVALID_PARAMS, NULL,
                     "there is no tool \"%.128s\"; tools/list names them", name);
        return ERR_INVALID;
    }
    return ask_read_inputs(work);
}

/* The result twice: structured, and the same JSON as text for clients that do not read that. It is
 * written once. */
static void add_structured(struct mcp_work *work, struct reply *reply, yyjson_mut_val *result)
{
    size_t length = 0;
    const char *text = json_text(work->arena, reply->structured, &length);
    if (!text) {
        return; /* the arena is marked, and answer_result() sees it */
    }
    if (!reply->content) {
        yyjson_mut_val *block = yyjson_mut_obj(reply->doc);
        yyjson_mut_obj_add_str(reply->doc, block, "type", "text");
        yyjson_mut_obj_add_strn(reply->doc, block, "text", text, length);
        reply->content = yyjson_mut_arr(reply->doc);
        yyjson_mut_arr_append(reply->content, block);
    }
    yyjson_mut_obj_add_val(reply->doc, result, "structuredContent",
                           yyjson_mut_rawn(reply->doc, text, length));
}

void call_tool(struct mcp_work *work)
{
    struct reply reply;
    int status = registry_run(work->mcp->options.registry, work->entry, work->call,
                              yyjson_obj_get(work->params, "arguments"), &reply);
    if (status != OK) {
        ask_answer(work, status);
        return;
    }
    work->doc = reply.doc;
    yyjson_mut_val *result = yyjson_mut_obj(reply.doc);
    if (reply.structured) {
        add_structured(work, &reply, result);
    }
    yyjson_mut_obj_add_val(reply.doc, result, "content", reply.content);
    if (reply.is_error) {
        yyjson_mut_obj_add_bool(reply.doc, result, "isError", true);
    }
    answer_result(work, result);
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

static void answer_no_resource(struct mcp_work *work, const char *uri)
{
    yyjson_mut_val *data = yyjson_mut_obj(work->doc);
    json_add_string(work->doc, data, "uri", uri);
    answer_error(work, work->modern ? RPC_INVALID_PARAMS : RPC_LEGACY_RESOURCE_NOT_FOUND, data,
                 "there is no resource \"%.256s\"; resources/list names them", uri);
}

void read_resource(struct mcp_work *work)
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
    struct resource_content content = {0};
    int status = resource ? resource->read(work->call, uri, &content) : ERR_NOTFOUND;
    if (status == ERR_NOTFOUND) {
        answer_no_resource(work, uri);
        return;
    }
    if (status != OK) {
        answer_failure(work, status);
        return;
    }
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *one = yyjson_mut_obj(doc);
    json_add_string(doc, one, "uri", content.uri ? content.uri : uri);
    json_add_string(doc, one, "mimeType", content.mime ? content.mime : resource->mime);
    json_add_string(doc, one, "text", content.text);
    json_add_string(doc, one, "blob", content.blob_base64);
    yyjson_mut_val *contents = yyjson_mut_arr(doc);
    yyjson_mut_arr_append(contents, one);
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_val(doc, result, "contents", contents);
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
            answer_error(work, RPC_INVALID_PARAMS, NULL, "argument \"%.128s\" must be a string",
                         yyjson_get_str(key));
            return ERR_INVALID;
        }
    }
    for (const struct prompt_argument *argument = prompt->arguments; argument && argument->name;
         argument++) {
        const char *given = json_string(arguments, argument->name);
        if (argument->required && (!given || !*given)) {
            answer_error(work, RPC_INVALID_PARAMS, NULL, "argument \"%s\" is required: %s",
                         argument->name, argument->description ? argument->description : "");
            return ERR_INVALID;
        }
    }
    return OK;
}

void get_prompt(struct mcp_work *work)
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
         type && uri && strcmp(type, "ref/resource") == 0 && i < registry_resource_count(registry);
         i++) {
        const struct resource *resource = registry_resource_at(registry, i);
        if (strcmp(resource->uri, uri) == 0) {
            *found = resource->complete;
            return OK;
        }
    }
    return ERR_NOTFOUND;
}

void complete_argument(struct mcp_work *work)
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
    yyjson_mut_val *completion = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_val(doc, completion, "values", values);
    yyjson_mut_obj_add_uint(doc, completion, "total", total);
    yyjson_mut_obj_add_bool(doc, completion, "hasMore", total > MOST_COMPLETIONS);
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_val(doc, result, "completion", completion);
    answer_result(work, result);
}
