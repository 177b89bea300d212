/* A tool that asks a model whatever it is told to ask, and gives back all of the reply: for the
 * tests of the dialects. The request is JSON, in the words of model/model.h. */
#include "fixture.h"
#include "model/model.h"

#include <string.h>

static struct model_use read_use(yyjson_val *value)
{
    return (struct model_use){
        .id = json_string(value, "id"),
        .name = json_string(value, "name"),
        .arguments = json_string(value, "arguments"),
        .raw = json_string(value, "raw"),
        .unnamed = yyjson_get_bool(yyjson_obj_get(value, "unnamed")),
    };
}

static const struct model_reply *read_reply(struct arena *arena, yyjson_val *value)
{
    struct model_reply *reply = arena_zalloc(arena, sizeof *reply);
    yyjson_val *list = yyjson_obj_get(value, "uses");
    struct model_use *uses = arena_zalloc(arena, (yyjson_arr_size(list) + 1) * sizeof *uses);
    if (!reply || !uses) {
        return NULL;
    }
    size_t at, most;
    yyjson_val *use;
    yyjson_arr_foreach(list, at, most, use)
    {
        uses[at] = read_use(use);
    }
    *reply = (struct model_reply){
        .text = json_string(value, "text"),
        .uses = uses,
        .use_count = yyjson_arr_size(list),
        .echo = json_string(value, "echo"),
    };
    return reply;
}

static int read_messages(struct arena *arena, yyjson_val *list, struct model_request *request)
{
    static const char *const ROLES[] = {"user", "assistant", "result"};
    size_t count = yyjson_arr_size(list);
    struct model_message *messages = arena_zalloc(arena, (count + 1) * sizeof *messages);
    struct model_use *used = arena_zalloc(arena, (count + 1) * sizeof *used);
    if (!messages || !used) {
        return ERR_NOMEM;
    }
    size_t at, most;
    yyjson_val *item;
    yyjson_arr_foreach(list, at, most, item)
    {
        const char *role = json_string(item, "role");
        struct model_message *message = &messages[at];
        for (size_t i = 0; role && i < sizeof ROLES / sizeof *ROLES; i++) {
            message->role = strcmp(role, ROLES[i]) == 0 ? (enum model_role)i : message->role;
        }
        used[at] = read_use(yyjson_obj_get(item, "use"));
        message->text = json_string(item, "text");
        message->use = &used[at];
        message->failed = yyjson_get_bool(yyjson_obj_get(item, "failed"));
        message->reply = read_reply(arena, yyjson_obj_get(item, "reply"));
        if (!message->reply) {
            return ERR_NOMEM;
        }
    }
    request->messages = messages;
    request->message_count = count;
    return OK;
}

static int read_tools(struct arena *arena, yyjson_val *list, struct model_request *request)
{
    struct model_tool *tools = arena_zalloc(arena, (yyjson_arr_size(list) + 1) * sizeof *tools);
    if (!tools) {
        return ERR_NOMEM;
    }
    size_t at, most;
    yyjson_val *item;
    yyjson_arr_foreach(list, at, most, item)
    {
        tools[at] = (struct model_tool){
            .name = json_string(item, "name"),
            .description = json_string(item, "description"),
            .schema = json_text_of(arena, yyjson_obj_get(item, "schema")),
        };
    }
    request->tools = tools;
    request->tool_count = yyjson_arr_size(list);
    return OK;
}

static void add_uses(yyjson_mut_doc *doc, yyjson_mut_val *root, const struct model_reply *from)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "uses");
    for (size_t i = 0; i < from->use_count; i++) {
        yyjson_mut_val *use = yyjson_mut_arr_add_obj(doc, list);
        json_add_string(doc, use, "id", from->uses[i].id);
        json_add_string(doc, use, "name", from->uses[i].name);
        json_add_string(doc, use, "arguments", from->uses[i].arguments);
        json_add_string(doc, use, "raw", from->uses[i].raw);
        yyjson_mut_obj_add_bool(doc, use, "unnamed", from->uses[i].unnamed);
    }
}

static void describe(struct reply *reply, int status, const struct model_reply *from)
{
    static const char *const STOPS[] = {"ended", "uses", "cut", "refused"};
    yyjson_mut_doc *doc = reply->doc;
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    reply->structured = root;
    json_add_string(doc, root, "status", status_name(status));
    json_add_string(doc, root, "text", from->text);
    json_add_string(doc, root, "stop", STOPS[from->stop]);
    json_add_string(doc, root, "echo", from->echo);
    add_uses(doc, root, from);
    yyjson_mut_val *usage = yyjson_mut_obj_add_obj(doc, root, "usage");
    yyjson_mut_obj_add_int(doc, usage, "requests", from->usage.requests);
    yyjson_mut_obj_add_int(doc, usage, "input", from->usage.input_tokens);
    yyjson_mut_obj_add_int(doc, usage, "cached", from->usage.cached_tokens);
    yyjson_mut_obj_add_int(doc, usage, "output", from->usage.output_tokens);
    yyjson_mut_obj_add_int(doc, usage, "reasoning", from->usage.reasoning_tokens);
    yyjson_mut_obj_add_bool(doc, usage, "estimated", from->usage.estimated);
}

static int run_model(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct arena *arena = call_arena(call);
    char problem[512];
    struct model *model;
    struct model_request request = {0};
    struct model_reply from = {0};
    const char *text = json_string(arguments, "request");
    yyjson_val *root = yyjson_doc_get_root(json_parse(arena, text, strlen(text), NULL));
    int status = model_choose(arena, json_string(root, "model"), &model, problem, sizeof problem);
    if (status == ERR_NOTFOUND || status == ERR_INVALID) {
        return call_fail(call, "CONFIG", "%s", problem);
    }
    status =
        status == OK ? read_messages(arena, yyjson_obj_get(root, "messages"), &request) : status;
    status = status == OK ? read_tools(arena, yyjson_obj_get(root, "tools"), &request) : status;
    if (status != OK) {
        return status;
    }
    request.system = json_string(root, "system");
    request.must_use = yyjson_get_bool(yyjson_obj_get(root, "must_use"));
    request.shape_name = "answer";
    request.shape = json_text_of(arena, yyjson_obj_get(root, "shape"));
    request.max_tokens = yyjson_get_sint(yyjson_obj_get(root, "max_tokens"));
    int64_t timeout = yyjson_get_sint(yyjson_obj_get(root, "timeout_ms"));
    if (timeout > 0) {
        call_limit_time(call, timeout);
    }
    status = model_ask(call, model, &request, &from);
    if (status == OK || status == ERR_LIMIT || status == ERR_UNSUPPORTED) {
        describe(reply, status, &from);
        return OK;
    }
    return status;
}

static const struct tool TOOLS[] = {
    {"{\"name\":\"test_model\",\"description\":\"Asks a model.\",\"inputSchema\":" ARGUMENTS(
         TEXT_ARGUMENT("request"), "\"request\"") ",\"forage\":{\"group\":\"test\",\"quick\":"
                                                  "false,\"paid\":true,\"timeoutMs\":600000}}",
     run_model, NULL},
};

int add_model_tools(struct registry *registry)
{
    return add_tools(registry, TOOLS, sizeof TOOLS / sizeof *TOOLS);
}
