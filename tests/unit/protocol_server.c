/* A small server for tests of the protocol. */
#include "protocol_server.h"

#include "call/errors.h"
#include "config/config.h"
#include "core/limits.h"
#include "guard/callers.h"

#include <stdlib.h>
#include <string.h>

/* ---- tools ---- */

static int echo(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)call;
    reply->structured = yyjson_mut_obj(reply->doc);
    json_add_string(reply->doc, reply->structured, "text", json_string(arguments, "text"));
    yyjson_mut_obj_add_int(reply->doc, reply->structured, "times",
                           yyjson_get_int(yyjson_obj_get(arguments, "times")));
    return OK;
}

static int fail(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    (void)reply;
    call_fail(call, CODE_PROVIDER, "the provider is down; try later");
    call_fail_details(call, "{\"provider\":\"none\"}");
    call_fail_retry_after(call, 3);
    return ERR_FAILED;
}

static int ask_name(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    const char *response;
    const char *state = call_resume_state(call);
    int status =
        call_ask(call, "name", "elicitation/create",
                 "{\"message\":\"Who?\",\"requestedSchema\":{\"type\":\"object\"}}", &response);
    if (status == ERR_NEED_INPUT) {
        int kept = call_keep_state(call, "round-1");
        return kept == OK ? status : kept;
    }
    if (status != OK) {
        return status;
    }
    call_progress(call, 1, 2, "asked");
    reply->structured = yyjson_mut_obj(reply->doc);
    json_add_string(reply->doc, reply->structured, "response", response);
    json_add_string(reply->doc, reply->structured, "state", state);
    return OK;
}

static int talk(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    call_progress(call, 1, 3, "one");
    call_progress(call, 1, 3, "not further");
    call_progress(call, 2, 3, "two");
    call_log(call, "info", "hello");
    call_log(call, "error", "oh");
    reply->structured = yyjson_mut_obj(reply->doc);
    return OK;
}

#define SCHEMA_NONE "{\"type\":\"object\"}"

static const struct tool TOOLS[] = {
    {"{\"name\":\"echo\",\"title\":\"Echo\",\"description\":\"Says it again.\",\"inputSchema\":{"
     "\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"maxLength\":10,"
     "\"x-mcp-header\":\"Text\"},\"times\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5,"
     "\"default\":2}},\"required\":[\"text\"],\"additionalProperties\":false},"
     "\"forage\":{\"group\":\"one\",\"quick\":true}}",
     echo, NULL},
    {"{\"name\":\"fail\",\"description\":\"Fails.\",\"inputSchema\":" SCHEMA_NONE
     ",\"forage\":{\"group\":\"two\",\"quick\":true}}",
     fail, NULL},
    {"{\"name\":\"ask_name\",\"description\":\"Asks.\",\"inputSchema\":" SCHEMA_NONE
     ",\"forage\":{\"group\":\"two\",\"timeoutMs\":200}}",
     ask_name, NULL},
    {"{\"name\":\"talk\",\"description\":\"Talks.\",\"inputSchema\":" SCHEMA_NONE
     ",\"forage\":{\"group\":\"two\",\"brief\":\"Talks.\",\"use\":\"talks\"}}",
     talk, NULL},
};

/* ---- resources and prompts ---- */

static int read_text(struct call *call, const char *uri, struct resource_content *content)
{
    content->text = arena_printf(call_arena(call), "text of %s", uri);
    return content->text ? OK : ERR_NOMEM;
}

static int read_nothing(struct call *call, const char *uri, struct resource_content *content)
{
    (void)uri;
    (void)content;
    return call_fail(call, CODE_PROVIDER, "cannot be read now");
}

static const struct resource RESOURCES[] = {
    {"test://one", "one", NULL, "The first.", "text/plain", read_text, NULL},
    {"test://two", "two", NULL, NULL, "text/plain", read_nothing, NULL},
    {"test://item/{id}/part", "item", NULL, NULL, "text/plain", read_text, NULL},
};

static int get_prompt(struct call *call, yyjson_val *arguments, yyjson_mut_doc *doc,
                      yyjson_mut_val *messages)
{
    (void)call;
    yyjson_mut_val *message = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, message, "role", "user");
    json_add_string(doc, message, "who", json_string(arguments, "who"));
    yyjson_mut_arr_append(messages, message);
    return OK;
}

static int complete_many(struct call *call, const char *argument, const char *prefix,
                         yyjson_mut_doc *doc, yyjson_mut_val *values)
{
    (void)argument;
    for (int i = 0; i < 120; i++) {
        const char *value = arena_printf(call_arena(call), "%s%d", prefix, i);
        yyjson_mut_arr_add_str(doc, values, value ? value : "");
    }
    return OK;
}

static const struct prompt_argument ARGUMENTS[] = {{"who", NULL, "The name.", true}, {0}};
static const struct prompt PROMPTS[] = {
    {"greet", "Greet", "Greets.", ARGUMENTS, get_prompt, complete_many},
};

/* More than fit a page, each with a folder that has more files than fit one. */
static const struct skill_file SKILL_FILES[] = {
    {"SKILL.md", "text/markdown", "---\nname: x\ndescription: Says what: it is.\n---\n\nText.\n"},
    {"a/1.md", "text/markdown", "1"},
    {"a/2.md", "text/markdown", "2"},
    {"a/3.md", "text/markdown", "3"},
    {"a/4.md", "text/markdown", "4"},
    {0},
};
static const struct skill SKILLS[] = {
    {"one", SKILL_FILES}, {"two", SKILL_FILES}, {"three", SKILL_FILES}, {"four", SKILL_FILES}};

static int fill(struct registry *registry)
{
    int status = OK;
    for (size_t i = 0; status == OK && i < sizeof SKILLS / sizeof *SKILLS; i++) {
        status = registry_add_skill(registry, &SKILLS[i]);
    }
    for (size_t i = 0; status == OK && i < sizeof TOOLS / sizeof *TOOLS; i++) {
        status = registry_add_tool(registry, &TOOLS[i]);
    }
    for (size_t i = 0; status == OK && i < sizeof RESOURCES / sizeof *RESOURCES; i++) {
        status = registry_add_resource(registry, &RESOURCES[i]);
    }
    for (size_t i = 0; status == OK && i < sizeof PROMPTS / sizeof *PROMPTS; i++) {
        status = registry_add_prompt(registry, &PROMPTS[i]);
    }
    return status;
}

bool test_server_open(struct test_server *server)
{
    memset(server, 0, sizeof *server);
    buf_init(&server->sent, MIB(1));
    server->registry = registry_new();
    server->client = mcp_client_new();
    if (server->registry && fill(server->registry) == OK) {
        server->mcp = mcp_new(&(struct mcp_options){
            .registry = server->registry,
            .name = "test",
            .title = "Test",
            .version = "1",
            .instructions = "none",
            .features = MCP_LOGGING | MCP_LIST_CHANGED | MCP_SUBSCRIBE,
            .page_size = 3,
        });
    }
    if (!server->mcp || !server->client) {
        test_server_close(server);
        return false;
    }
    return true;
}

void test_server_close(struct test_server *server)
{
    mcp_free(server->mcp);
    mcp_client_free(server->client);
    registry_free(server->registry);
    buf_done(&server->sent);
}

static void keep(void *context, const char *message, size_t length)
{
    struct test_server *server = context;
    buf_append(&server->sent, message, length);
    buf_putc(&server->sent, '\n');
}

char *test_server_send(struct test_server *server, const struct mcp_peer *peer, const char *message,
                       size_t length, int *status)
{
    *status = 500;
    buf_clear(&server->sent);
    struct mcp_work *work = mcp_receive(server->mcp, peer, message, length);
    if (!work) {
        return NULL;
    }
    mcp_work_set_sink(work, &(struct mcp_sink){.context = server, .send = keep});
    if (mcp_work_kind(work) != MCP_DONE) {
        mcp_work_run(work);
    }
    struct mcp_answer answer = mcp_work_answer(work);
    *status = answer.http_status;
    char *copy = answer.text ? strndup(answer.text, answer.length) : NULL;
    mcp_work_free(work);
    return copy;
}
