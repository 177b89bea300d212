/* The protocol, message by message: what comes in, over which transport, and what must come back. A
 * row of a table is one message; add yours. */
#include "unit.h"

#include "config/config.h"
#include "core/log.h"
#include "core/redact.h"
#include "guard/callers.h"
#include "protocol_server.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODERN "2026-07-28"
#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" MODERN                             \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define META_ELICIT                                                                                \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" MODERN                             \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}}"
#define REQUEST(method, params)                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"" method "\",\"params\":{" params "}}"
#define CALL(name, arguments) "\"name\":\"" name "\",\"arguments\":{" arguments "}"

static char *send(struct test_server *server, const struct mcp_headers *headers, const char *label,
                  const char *message, int *status)
{
    struct mcp_peer peer = {.headers = headers,
                            .client = headers ? NULL : server->client,
                            .label = label,
                            .caller = caller_local()};
    return test_server_send(server, &peer, message, strlen(message), status);
}

static void expect(const char *name, const char *answer, const char *wanted)
{
    if (!wanted) {
        if (answer) {
            print_error("%s: wanted no answer, got %s\n", name, answer);
        }
        assert_null(answer);
        return;
    }
    if (!answer || !strstr(answer, wanted)) {
        print_error("%s: wanted %s in %s\n", name, wanted, answer ? answer : "(no answer)");
    }
    assert_non_null(answer);
    assert_non_null(strstr(answer, wanted));
}

/* ---- stdio ---- */

static const struct {
    const char *name, *message, *answer; /* answer NULL: none */
} STDIO[] = {
    {"ping", REQUEST("ping", ""), "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}"},
    {"text id", "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}",
     "\"id\":\"a\",\"result\""},
    {"big id", "{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"ping\"}",
     "\"id\":9007199254740993,"},
    {"initialize", REQUEST("initialize", "\"protocolVersion\":\"2025-06-18\""),
     "\"protocolVersion\":\"2025-06-18\""},
    {"unknown version", REQUEST("initialize", "\"protocolVersion\":\"1999-01-01\""),
     "\"protocolVersion\":\"2025-11-25\""},
    {"modern version in initialize", REQUEST("initialize", "\"protocolVersion\":\"" MODERN "\""),
     "\"protocolVersion\":\"2025-11-25\""},
    {"no version", REQUEST("initialize", ""), "\"protocolVersion\":\"2025-11-25\""},
    {"discover without envelope", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}",
     "\"supportedVersions\":[\"" MODERN "\"]"},
    {"discover", REQUEST("server/discover", META), "\"resultType\":\"complete\""},
    {"modern ping is gone", REQUEST("ping", META), "-32601"},
    {"modern initialize is gone", REQUEST("initialize", META), "-32601"},
    {"modern without capabilities",
     REQUEST("tools/list",
             "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" MODERN "\"}"),
     "-32602"},
    {"modern, unknown version",
     REQUEST("tools/list", "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2099-01-01\","
                           "\"io.modelcontextprotocol/clientCapabilities\":{}}"),
     "-32022"},
    {"modern, version not a string",
     REQUEST("tools/list", "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":1}"), "-32602"},
    {"page one", REQUEST("tools/list", ""), "\"nextCursor\":\"p3\""},
    {"page two", REQUEST("tools/list", "\"cursor\":\"p3\""), "\"name\":\"talk\""},
    {"page nine", REQUEST("tools/list", "\"cursor\":\"p9\""), "-32602"},
    {"cursor of the wrong type", REQUEST("tools/list", "\"cursor\":3"), "-32602"},
    {"cursor with more behind it", REQUEST("tools/list", "\"cursor\":\"p3x\""), "-32602"},
    {"call", REQUEST("tools/call", CALL("echo", "\"text\":\"hi\"")),
     "\"structuredContent\":{\"text\":\"hi\",\"times\":2}"},
    {"call, text block", REQUEST("tools/call", CALL("echo", "\"text\":\"hi\"")),
     "\"text\":\"{\\\"text\\\":\\\"hi\\\",\\\"times\\\":2}\""},
    {"call, too long", REQUEST("tools/call", CALL("echo", "\"text\":\"0123456789x\"")),
     "\"isError\":true"},
    {"call, wrong type names it", REQUEST("tools/call", CALL("echo", "\"text\":5")),
     "text must be a string"},
    {"call, out of range", REQUEST("tools/call", CALL("echo", "\"text\":\"x\",\"times\":9")),
     "VALIDATION"},
    {"call, nothing", REQUEST("tools/call", "\"name\":\"echo\""), "text is required"},
    {"call, unknown tool", REQUEST("tools/call", CALL("nothing", "")), "-32602"},
    {"call, no name", REQUEST("tools/call", ""), "-32602"},
    {"call, arguments not an object", REQUEST("tools/call", "\"name\":\"echo\",\"arguments\":[]"),
     "-32602"},
    {"call, failing", REQUEST("tools/call", CALL("fail", "")),
     "\"error\":{\"code\":\"PROVIDER\",\"message\":\"the provider is down; try "
     "later\",\"details\":{"
     "\"provider\":\"none\"},\"retry_after_s\":3"},
    {"resource", REQUEST("resources/read", "\"uri\":\"test://one\""), "text of test://one"},
    {"template", REQUEST("resources/read", "\"uri\":\"test://item/42/part\""),
     "text of test://item/42/part"},
    {"template, empty variable", REQUEST("resources/read", "\"uri\":\"test://item//part\""),
     "-32002"},
    {"template, too many parts", REQUEST("resources/read", "\"uri\":\"test://item/a/b/part\""),
     "-32002"},
    {"no resource", REQUEST("resources/read", "\"uri\":\"test://none\""),
     "\"data\":{\"uri\":\"test://none\""},
    {"no resource, modern", REQUEST("resources/read", "\"uri\":\"test://none\"," META), "-32602"},
    {"resource that fails", REQUEST("resources/read", "\"uri\":\"test://two\""), "-32603"},
    {"resource without uri", REQUEST("resources/read", ""), "-32602"},
    {"templates", REQUEST("resources/templates/list", ""),
     "\"uriTemplate\":\"test://item/{id}/part\""},
    {"resources", REQUEST("resources/list", ""), "\"uri\":\"test://one\""},
    {"skills, legacy", REQUEST("skills/list", ""), "-32601"},
    {"skills, a page", REQUEST("skills/list", META), "\"nextCursor\":\"p3\""},
    {"skills, the next", REQUEST("skills/list", "\"cursor\":\"p3\"," META),
     "{\"skills\":[{\"uri\":\"skill://four/SKILL.md\""},
    {"skill", REQUEST("skills/get", "\"uri\":\"skill://two/SKILL.md\"," META),
     "\"frontmatter\":{\"name\":\"x\",\"description\":\"Says what: it "
     "is.\"},\"resources\":[{\"uri\":"
     "\"skill://two/SKILL.md\","},
    {"skill, its digests", REQUEST("skills/get", "\"uri\":\"skill://two/SKILL.md\"," META),
     "{\"uri\":\"skill://two/a/1.md\",\"digest\":\"sha256:"
     "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b\",\"size\":1}"},
    {"skill, another name", REQUEST("skills/get", "\"uri\":\"skill://twofold/SKILL.md\"," META),
     "-32602"},
    {"folder", REQUEST("resources/directory/read", "\"uri\":\"skill://two\"," META),
     "{\"uri\":\"skill://two/a\",\"name\":\"a\",\"mimeType\":\"inode/directory\"}]"},
    {"folder, a page", REQUEST("resources/directory/read", "\"uri\":\"skill://two/a\"," META),
     "\"nextCursor\":\"p3\""},
    {"folder, the next",
     REQUEST("resources/directory/read", "\"uri\":\"skill://two/a\",\"cursor\":\"p3\"," META),
     "{\"resources\":[{\"uri\":\"skill://two/a/4.md\""},
    {"file of a skill", REQUEST("resources/read", "\"uri\":\"skill://two/a/4.md\""),
     "\"text\":\"4\""},
    {"prompt", REQUEST("prompts/get", CALL("greet", "\"who\":\"me\"")), "\"who\":\"me\""},
    {"prompt without argument", REQUEST("prompts/get", CALL("greet", "")),
     "argument \\\"who\\\" is required"},
    {"prompt with a number", REQUEST("prompts/get", CALL("greet", "\"who\":1")),
     "must be a string"},
    {"unknown prompt", REQUEST("prompts/get", CALL("x", "")), "-32602"},
    {"prompts", REQUEST("prompts/list", ""), "\"required\":true"},
    {"complete",
     REQUEST("completion/complete", "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"greet\"},"
                                    "\"argument\":{\"name\":\"who\",\"value\":\"a\"}"),
     "\"total\":120,\"hasMore\":true"},
    {"complete nothing",
     REQUEST("completion/complete", "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"x\"},"
                                    "\"argument\":{\"name\":\"who\",\"value\":\"a\"}"),
     "-32602"},
    {"complete a template without completer",
     REQUEST("completion/complete",
             "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"test://item/{id}/part\"},"
             "\"argument\":{\"name\":\"id\",\"value\":\"\"}"),
     "\"values\":[]"},
    {"log level", REQUEST("logging/setLevel", "\"level\":\"error\""), "\"result\":{}"},
    {"wrong log level", REQUEST("logging/setLevel", "\"level\":\"loud\""), "-32602"},
    {"subscribe", REQUEST("resources/subscribe", "\"uri\":\"test://one\""), "\"result\":{}"},
    {"unknown method", REQUEST("no/such", ""), "-32601"},
    {"notification", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", NULL},
    {"unknown notification", "{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}", NULL},
    {"notification with wrong params", "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":3}", NULL},
    {"response to no question", "{\"jsonrpc\":\"2.0\",\"id\":\"forage-1\",\"result\":{}}", NULL},
    {"not JSON", "hello", "\"id\":null,\"error\":{\"code\":-32700"},
    {"empty object", "{}", "-32600"},
    {"number", "5", "-32600"},
    {"no version", "{\"id\":1,\"method\":\"ping\"}", "-32600"},
    {"version 1", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "-32600"},
    {"null id", "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600"},
    {"fraction as id", "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "-32600"},
    {"object as id", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", "-32600"},
    {"method not a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", "-32600"},
    {"no method", "{\"jsonrpc\":\"2.0\",\"id\":1}", "-32600"},
    {"params an array", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
     "-32602"},
    {"_meta a number", REQUEST("ping", "\"_meta\":3"), "-32602"},
    {"duplicate key", "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
     "duplicate key \\\"id\\\""},
};

static void messages_over_stdio(void **state)
{
    struct test_server *server = *state;
    for (size_t i = 0; i < COUNT(STDIO); i++) {
        int status;
        char *answer = send(server, NULL, NULL, STDIO[i].message, &status);
        expect(STDIO[i].name, answer, STDIO[i].answer);
        free(answer);
    }
}

/* ---- HTTP ---- */

static const struct {
    const char *name, *version, *method, *thing, *message;
    int status;
    const char *answer;
} HTTP[] = {
    {"legacy without header", NULL, NULL, NULL, REQUEST("tools/list", ""), 200, "\"tools\""},
    {"legacy", "2025-06-18", NULL, NULL, REQUEST("ping", ""), 200, "\"result\":{}"},
    {"legacy, unknown method", "2025-06-18", NULL, NULL, REQUEST("no/such", ""), 200, "-32601"},
    {"unknown version header", "2001-01-01", NULL, NULL, REQUEST("ping", ""), 400, "-32022"},
    {"initialize with modern header", MODERN, NULL, NULL, REQUEST("initialize", ""), 400, "-32020"},
    {"modern header, no envelope", MODERN, "tools/list", NULL, REQUEST("tools/list", ""), 400,
     "-32602"},
    {"modern", MODERN, "tools/list", NULL, REQUEST("tools/list", META), 200, "\"ttlMs\""},
    {"modern, no version header", NULL, "tools/list", NULL, REQUEST("tools/list", META), 400,
     "-32020"},
    {"modern, other version header", "2025-11-25", "tools/list", NULL, REQUEST("tools/list", META),
     400, "-32020"},
    {"modern, no method header", MODERN, NULL, NULL, REQUEST("tools/list", META), 400, "-32020"},
    {"modern, other method header", MODERN, "tools/call", NULL, REQUEST("tools/list", META), 400,
     "-32020"},
    {"modern, method in other case", MODERN, "Tools/List", NULL, REQUEST("tools/list", META), 400,
     "-32020"},
    {"modern, unknown method", MODERN, "no/such", NULL, REQUEST("no/such", META), 404, "-32601"},
    {"modern, call", MODERN, "tools/call", "fail", REQUEST("tools/call", CALL("fail", "") "," META),
     200, "\"isError\":true"},
    {"modern, call of another name", MODERN, "tools/call", "echo",
     REQUEST("tools/call", CALL("fail", "") "," META), 400, "-32020"},
    {"modern, call without name header", MODERN, "tools/call", NULL,
     REQUEST("tools/call", CALL("fail", "") "," META), 400, "-32020"},
    {"modern, name in base64", MODERN, "tools/call",
     "=?base64?ZmFpbA==?=", REQUEST("tools/call", CALL("fail", "") "," META), 200, "PROVIDER"},
    {"modern, name in broken base64", MODERN, "tools/call",
     "=?base64?ZmFp!A==?=", REQUEST("tools/call", CALL("fail", "") "," META), 400, "-32020"},
    {"modern, unknown tool", MODERN, "tools/call", "x",
     REQUEST("tools/call", CALL("x", "") "," META), 200, "-32602"},
    {"modern, resource", MODERN, "resources/read", "test://one",
     REQUEST("resources/read", "\"uri\":\"test://one\"," META), 200, "\"cacheScope\":\"private\""},
    {"modern, a client that cannot be asked", MODERN, "tools/call", "ask_name",
     REQUEST("tools/call", CALL("ask_name", "") "," META), 400,
     "\"requiredCapabilities\":{\"elicitation\":{}}"},
    {"modern, input required", MODERN, "tools/call", "ask_name",
     REQUEST("tools/call", CALL("ask_name", "") "," META_ELICIT), 200,
     "\"resultType\":\"input_required\",\"inputRequests\":{\"name\":{\"method\":\"elicitation/"
     "create\""},
    {"modern, input given", MODERN, "tools/call", "ask_name",
     REQUEST("tools/call",
             CALL("ask_name", "") ",\"inputResponses\":{\"name\":{\"action\":\"accept\"}}"
                                  "," META_ELICIT),
     200, "\"response\":\"{\\\"action\\\":\\\"accept\\\"}\""},
    {"modern, input null", MODERN, "tools/call", "ask_name",
     REQUEST("tools/call", CALL("ask_name", "") ",\"inputResponses\":null," META_ELICIT), 200,
     "-32602"},
    {"modern, input a number", MODERN, "tools/call", "ask_name",
     REQUEST("tools/call", CALL("ask_name", "") ",\"inputResponses\":{\"name\":1}," META_ELICIT),
     200, "-32602"},
    {"modern, state made up", MODERN, "tools/call", "ask_name",
     REQUEST("tools/call",
             CALL("ask_name", "") ",\"requestState\":\"9999999999.cm91bmQtMQ==.xx\"," META_ELICIT),
     200, "requestState is not one"},
    {"notification", MODERN, NULL, NULL, "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", 400, "-32602"},
    {"legacy notification", NULL, NULL, NULL, "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", 202, NULL},
    {"not JSON", NULL, NULL, NULL, "{", 400, "-32700"},
    {"batch", NULL, NULL, NULL, "[" REQUEST("ping", "") "," REQUEST("no/such", "") "]", 200,
     "\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":7,\"error\""},
    {"batch of notifications", NULL, NULL, NULL, "[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]", 202,
     NULL},
    {"batch with initialize", NULL, NULL, NULL, "[" REQUEST("initialize", "") "]", 200,
     "cannot be part of a batch"},
    {"batch with a modern message", NULL, NULL, NULL, "[" REQUEST("tools/list", META) "]", 200,
     "knows no batches"},
    {"batch of nothing", NULL, NULL, NULL, "[]", 400, "-32600"},
    {"batch of junk", NULL, NULL, NULL, "[1,\"x\"]", 200, "-32600"},
    {"batch in a later version", "2025-06-18", NULL, NULL, "[" REQUEST("ping", "") "]", 400,
     "-32600"},
};

static void messages_over_http(void **state)
{
    struct test_server *server = *state;
    for (size_t i = 0; i < COUNT(HTTP); i++) {
        struct mcp_headers headers = {
            .protocol_version = HTTP[i].version, .method = HTTP[i].method, .name = HTTP[i].thing};
        int status;
        char *answer = send(server, &headers, NULL, HTTP[i].message, &status);
        expect(HTTP[i].name, answer, HTTP[i].answer);
        if (status != HTTP[i].status) {
            print_error("%s: status %d\n", HTTP[i].name, status);
        }
        assert_int_equal(status, HTTP[i].status);
        free(answer);
    }
}

static const char *text_header(void *context, const char *name)
{
    return strcmp(name, "Text") == 0 ? context : NULL;
}

static void mirrored_parameters_agree(void **state)
{
    struct test_server *server = *state;
    char plain[] = "hi";
    char encoded[] = "=?base64?aGk=?=";
    char other[] = "ho";
    static const int WANTED[] = {200, 200, 400, 400};
    char *const VALUES[] = {plain, encoded, other, NULL};
    for (size_t i = 0; i < COUNT(VALUES); i++) {
        struct mcp_headers headers = {.protocol_version = MODERN,
                                      .method = "tools/call",
                                      .name = "echo",
                                      .param = text_header,
                                      .context = VALUES[i]};
        int status;
        char *answer =
            send(server, &headers, NULL,
                 REQUEST("tools/call", CALL("echo", "\"text\":\"hi\"") "," META), &status);
        assert_int_equal(status, WANTED[i]);
        free(answer);
    }
}

/* ---- more than one message ---- */

/* Sends a sealed state back, as `caller`, to the tool `tool`. The answer is to be freed. */
static char *send_state(struct test_server *server, const struct caller *caller, const char *tool,
                        const char *sealed)
{
    struct mcp_headers headers = {.protocol_version = MODERN, .method = "tools/call", .name = tool};
    struct mcp_peer peer = {.headers = &headers, .caller = caller};
    char message[2048];
    int status;
    snprintf(message, sizeof message,
             "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"requestState\":\"%s\",\"inputResponses\":{\"name\":{}}," META_ELICIT "}}",
             tool, sealed);
    return test_server_send(server, &peer, message, strlen(message), &status);
}

static void state_comes_back_sealed(void **state)
{
    struct test_server *server = *state;
    static const struct caller STRANGER = {.name = "stranger"};
    struct mcp_headers headers = {
        .protocol_version = MODERN, .method = "tools/call", .name = "ask_name"};
    int status;
    char *first = send(server, &headers, NULL,
                       REQUEST("tools/call", CALL("ask_name", "") "," META_ELICIT), &status);
    char *begin = strstr(first, "\"requestState\":\"") + strlen("\"requestState\":\"");
    char sealed[200], changed[256], later[256], longer[256];
    snprintf(sealed, sizeof sealed, "%.*s", (int)strcspn(begin, "\""), begin);
    free(first);
    snprintf(longer, sizeof longer, "%s-TAMPERED", sealed);
    snprintf(changed, sizeof changed, "%s", sealed);
    char *payload = strchr(changed, '.') + 1;
    payload[0] = payload[0] == 'c' ? 'd' : 'c';   /* another state under the same seal */
    snprintf(later, sizeof later, "9%s", sealed); /* another time under the same seal */
    const struct {
        const char *name;
        const struct caller *caller;
        const char *tool, *state, *answer;
    } CASES[] = {
        {"as it was", caller_local(), "ask_name", sealed, "\"state\":\"round-1\""},
        {"something appended", caller_local(), "ask_name", longer, "-32602"},
        {"another payload", caller_local(), "ask_name", changed, "-32602"},
        {"another time", caller_local(), "ask_name", later, "-32602"},
        {"for another tool", caller_local(), "fail", sealed, "-32602"},
        {"by another caller", &STRANGER, "ask_name", sealed, "-32602"},
        {"nothing", caller_local(), "ask_name", "", "-32602"},
        {"dots", caller_local(), "ask_name", "..", "-32602"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char *answer = send_state(server, CASES[i].caller, CASES[i].tool, CASES[i].state);
        expect(CASES[i].name, answer, CASES[i].answer);
        free(answer);
    }
}

static void progress_and_logs_go_to_the_sink(void **state)
{
    struct test_server *server = *state;
    int status;
    char *answer = send(
        server, NULL, NULL,
        REQUEST("tools/call", CALL("talk", "") ",\"_meta\":{\"progressToken\":\"t\"}"), &status);
    assert_non_null(strstr(server->sent.data,
                           "\"progressToken\":\"t\",\"progress\":1.0,\"total\":3.0,"
                           "\"message\":\"one\""));
    assert_non_null(strstr(server->sent.data, "\"message\":\"two\""));
    assert_null(strstr(server->sent.data, "not further"));
    assert_non_null(strstr(server->sent.data, "\"level\":\"error\""));
    free(answer);
    /* A modern client that named no level hears no log, and without a token no progress. */
    answer = send(server, NULL, NULL, REQUEST("tools/call", CALL("talk", "") "," META), &status);
    assert_int_equal(server->sent.length, 0);
    free(answer);
}

struct asking {
    struct test_server *server;
    const struct caller *caller;
    char *answer;
    int status;
};

static void *ask_in_thread(void *context)
{
    struct asking *asking = context;
    struct mcp_headers headers = {0};
    struct mcp_peer peer = {.headers = &headers, .caller = asking->caller};
    static const char MESSAGE[] = REQUEST("tools/call", CALL("ask_name", ""));
    asking->answer =
        test_server_send(asking->server, &peer, MESSAGE, sizeof MESSAGE - 1, &asking->status);
    return NULL;
}

/* Another caller cannot answer a question, even with its id; nobody answers: the call runs into its
 * time. */
static void a_question_waits_for_its_own_client(void **state)
{
    struct test_server *server = *state;
    struct asking asking = {.server = server, .caller = caller_local()};
    pthread_t thread;
    pthread_create(&thread, NULL, ask_in_thread, &asking);
    pthread_join(thread, NULL);
    expect("no answer", asking.answer, "TIMEOUT");
    assert_non_null(strstr(server->sent.data, "\"method\":\"elicitation/create\""));
    assert_non_null(strstr(server->sent.data, "\"id\":\"forage-"));
    free(asking.answer);
}

/* ---- lists whose bytes are kept ---- */

#define META_ALL                                                                                   \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" MODERN                             \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{\"extensions\":{"                          \
    "\"io.modelcontextprotocol/tasks\":{},\"io.modelcontextprotocol/skills\":{},"                  \
    "\"io.modelcontextprotocol/ui\":{\"mimeTypes\":[\"text/html;profile=mcp-app\"]}}}}"
#define MODERN_LIST(method, cursor) REQUEST(method, cursor META), REQUEST(method, cursor META_ALL)
#define EVERY_LIST(method)                                                                         \
    REQUEST(method, ""), REQUEST(method, "\"cursor\":\"p3\""),                                     \
        REQUEST(method, "\"cursor\":\"p1\""), REQUEST(method, "\"cursor\":\"p6\""),                \
        MODERN_LIST(method, ""), MODERN_LIST(method, "\"cursor\":\"p3\","),                        \
        MODERN_LIST(method, "\"cursor\":\"p2\","), MODERN_LIST(method, "\"cursor\":\"no\",")

/* More than are kept. */
static const char *const LISTS[] = {
    EVERY_LIST("tools/list"),
    EVERY_LIST("resources/list"),
    EVERY_LIST("resources/templates/list"),
    EVERY_LIST("prompts/list"),
    EVERY_LIST("skills/list"),
    EVERY_LIST("server/discover"),
    EVERY_LIST("resources/read"),
};

static char *send_over_stdio(struct test_server *server, const char *message)
{
    int status;
    return send(server, NULL, NULL, message, &status);
}

/* Errors have an id of their own. */
static void expect_same(const char *message, const char *answer, const char *first)
{
    assert_non_null(answer);
    const char *end = strstr(first, "\"requestId\"");
    size_t length = end ? (size_t)(end - first) : strlen(first) + 1;
    if (strncmp(answer, first, length) != 0) {
        print_error("%s: wanted %s, got %s\n", message, first, answer);
    }
    assert_int_equal(strncmp(answer, first, length), 0);
}

static void kept_lists_are_as_new_ones(void **state)
{
    struct test_server *server = *state;
    enum { ROUNDS = 3 };
    char *first[COUNT(LISTS)];
    for (size_t i = 0; i < COUNT(LISTS); i++) {
        struct test_server fresh;
        assert_true(test_server_open(&fresh));
        first[i] = send_over_stdio(&fresh, LISTS[i]);
        test_server_close(&fresh);
        assert_non_null(first[i]);
    }
    for (size_t i = 0; i < ROUNDS * COUNT(LISTS); i++) {
        char *answer = send_over_stdio(server, LISTS[i % COUNT(LISTS)]);
        char *again = send_over_stdio(server, LISTS[i % COUNT(LISTS)]);
        expect_same(LISTS[i % COUNT(LISTS)], answer, first[i % COUNT(LISTS)]);
        expect_same(LISTS[i % COUNT(LISTS)], again, first[i % COUNT(LISTS)]);
        free(answer);
        free(again);
    }
    for (size_t i = 0; i < COUNT(LISTS); i++) {
        free(first[i]);
    }
}

/* Threads of HTTP clients, more lists than are kept, and a server that says that they changed. */
struct asking_lists {
    struct mcp *mcp;
    char *const *first;
};

static void *ask_for_lists(void *context)
{
    const struct asking_lists *asking = context;
    enum { TIMES = 300 };
    for (size_t i = 0; i < TIMES; i++) {
        size_t place = i * 7 % COUNT(LISTS);
        struct mcp_peer peer = {.client = mcp_client_new(), .caller = caller_local()};
        struct mcp_work *work = mcp_receive(asking->mcp, &peer, LISTS[place], strlen(LISTS[place]));
        if (mcp_work_kind(work) != MCP_DONE) {
            mcp_work_run(work);
        }
        expect_same(LISTS[place], mcp_work_answer(work).text, asking->first[place]);
        mcp_work_free(work);
        mcp_client_free(peer.client);
        if (i % 50 == 0) {
            mcp_list_changed(asking->mcp, MCP_LIST_TOOLS);
        }
    }
    return NULL;
}

static void lists_are_kept_for_many_threads(void **state)
{
    struct test_server *server = *state;
    pthread_t threads[4];
    char *first[COUNT(LISTS)];
    for (size_t i = 0; i < COUNT(LISTS); i++) {
        first[i] = send_over_stdio(server, LISTS[i]);
    }
    struct asking_lists asking = {server->mcp, first};
    for (size_t i = 0; i < COUNT(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask_for_lists, &asking), 0);
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < COUNT(LISTS); i++) {
        free(first[i]);
    }
}

static void kept_lists_have_the_id_of_their_request(void **state)
{
    static const char LIST[] = "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"prompts/list\"}";
    static const char *const IDS[] = {"7", "-1", "18446744073709551615", "\"a\"",
                                      "\"\\u00e9 \\n\""};
    static const char *const WRITTEN[] = {"7", "-1", "18446744073709551615", "\"a\"",
                                          "\"\xc3\xa9 \\n\""};
    for (size_t i = 0; i < 2 * COUNT(IDS); i++) {
        char message[200], wanted[200];
        snprintf(message, sizeof message, LIST, IDS[i % COUNT(IDS)]);
        snprintf(wanted, sizeof wanted, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"prompts\":[{",
                 WRITTEN[i % COUNT(IDS)]);
        char *answer = send_over_stdio(*state, message);
        expect(IDS[i % COUNT(IDS)], answer, wanted);
        free(answer);
    }
}

static bool late_is_ready;

static void ready_late(struct readiness *readiness)
{
    readiness->ready = late_is_ready;
}

static void lists_follow_what_changes(void **state)
{
    struct test_server *server = *state;
    static const char PAGE[] = REQUEST("tools/list", "\"cursor\":\"p3\"");
    static const char PROMPTS[] = REQUEST("prompts/list", "");
    static const struct tool LATE = {
        "{\"name\":\"late\",\"description\":\"Comes late.\",\"inputSchema\":{\"type\":\"object\"},"
        "\"forage\":{\"group\":\"late\",\"upfront\":true}}",
        NULL, ready_late};
    static const struct {
        bool only_ready, ready;
        const char *secret, *listed, *unlisted;
    } STEPS[] = {
        {false, true, NULL, "alwaysLoad", "[redacted]"},
        {false, false, NULL, "late", "alwaysLoad"},
        {true, true, NULL, "alwaysLoad", "[redacted]"},
        {true, false, NULL, "talk", "late"},
        {true, true, NULL, "alwaysLoad", "[redacted]"},
        {true, true, "Comes late.", "[redacted]", "Comes"},
        {true, false, NULL, "talk", "late"},
    };
    static const struct prompt PROMPT = {.name = "late"};
    char *before[] = {send_over_stdio(server, PAGE), send_over_stdio(server, PROMPTS)};
    for (size_t i = 0; i < COUNT(before); i++) {
        assert_null(strstr(before[i], "late"));
        free(before[i]);
    }
    assert_int_equal(registry_add_prompt(server->registry, &PROMPT), OK);
    mcp_list_changed(server->mcp, MCP_LIST_PROMPTS);
    char *prompts = send_over_stdio(server, PROMPTS);
    expect("prompts", prompts, "late");
    free(prompts);
    assert_int_equal(registry_add_tool(server->registry, &LATE), OK);
    mcp_list_changed(server->mcp, MCP_LIST_TOOLS);
    for (size_t i = 0; i < 2 * COUNT(STEPS); i++) {
        server->registry->only_ready = STEPS[i / 2].only_ready;
        late_is_ready = STEPS[i / 2].ready;
        if (STEPS[i / 2].secret) {
            assert_int_equal(redact_add(STEPS[i / 2].secret, SECRET_SENT), OK);
        }
        char *answer = send_over_stdio(server, PAGE);
        expect("listed", answer, STEPS[i / 2].listed);
        assert_null(strstr(answer, STEPS[i / 2].unlisted));
        free(answer);
    }
    redact_reset();
}

struct sink {
    pthread_mutex_t lock;
    char last[512];
};

static void remember(void *context, const char *message, size_t length)
{
    struct sink *sink = context;
    pthread_mutex_lock(&sink->lock);
    snprintf(sink->last, sizeof sink->last, "%.*s", (int)length, message);
    pthread_mutex_unlock(&sink->lock);
}

static void listeners_hear_what_they_asked_for(void **state)
{
    struct test_server *server = *state;
    struct mcp_peer peer = {.client = server->client, .caller = caller_local()};
    static const char LISTEN[] =
        REQUEST("subscriptions/listen", "\"notifications\":{\"toolsListChanged\":true}," META);
    struct sink sink = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct mcp_work *work = mcp_receive(server->mcp, &peer, LISTEN, sizeof LISTEN - 1);
    mcp_work_set_sink(work, &(struct mcp_sink){.context = &sink, .send = remember});
    assert_int_equal(mcp_work_kind(work), MCP_LISTEN);
    mcp_work_run(work);
    expect("acknowledged", sink.last, "notifications/subscriptions/acknowledged");
    mcp_list_changed(server->mcp, MCP_LIST_PROMPTS);
    expect("not asked for", sink.last, "notifications/subscriptions/acknowledged");
    mcp_list_changed(server->mcp, MCP_LIST_TOOLS);
    expect("changed", sink.last, "notifications/tools/list_changed");
    expect("tagged", sink.last, "\"io.modelcontextprotocol/subscriptionId\":7");
    mcp_close_listeners(server->mcp);
    expect("closed", sink.last, "\"resultType\":\"complete\"");
    mcp_work_free(work);
}

static void *run_in_thread(void *context)
{
    mcp_work_run(context);
    return NULL;
}

static void a_request_is_cancelled_by_its_own_client_only(void **state)
{
    struct test_server *server = *state;
    struct mcp_headers headers = {0};
    struct mcp_peer mine = {.headers = &headers, .caller = caller_local(), .label = "mine"};
    struct mcp_peer other = {.headers = &headers, .caller = caller_local(), .label = "other"};
    static const char ASK[] = REQUEST("tools/call", CALL("ask_name", ""));
    static const char CANCEL[] =
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}";
    struct sink sink = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct mcp_work *work = mcp_receive(server->mcp, &mine, ASK, sizeof ASK - 1);
    mcp_work_set_sink(work, &(struct mcp_sink){.context = &sink, .send = remember});
    assert_int_equal(mcp_work_kind(work), MCP_SLOW);
    pthread_t thread;
    pthread_create(&thread, NULL, run_in_thread, work);
    int status;
    free(test_server_send(server, &other, CANCEL, sizeof CANCEL - 1, &status));
    assert_int_equal(status, 202);
    assert_false(call_cancelled(mcp_work_call(work)));
    free(test_server_send(server, &mine, CANCEL, sizeof CANCEL - 1, &status));
    pthread_join(thread, NULL);
    assert_true(call_cancelled(mcp_work_call(work)));
    assert_null(mcp_work_answer(work).text); /* nobody waits for it */
    mcp_work_free(work);
}

static void busy_is_an_answer(void **state)
{
    struct test_server *server = *state;
    struct mcp_headers headers = {0};
    struct mcp_peer peer = {.headers = &headers, .caller = caller_local()};
    static const char TALK[] =
        "[" REQUEST("tools/call", CALL("talk", "")) "," REQUEST("ping", "") "]";
    struct mcp_work *work = mcp_receive(server->mcp, &peer, TALK, sizeof TALK - 1);
    assert_int_equal(mcp_work_kind(work), MCP_SLOW);
    mcp_work_refuse(work, "no worker is free");
    expect("busy", mcp_work_answer(work).text, "no worker is free");
    mcp_work_free(work);
}

static void selections_keep_what_they_name(void **state)
{
    (void)state;
    static const struct {
        const char *selection;
        size_t count;
        const char *problem;
    } CASES[] = {
        {NULL, 4, NULL},
        {"", 4, NULL},
        {"all", 4, NULL},
        {"one", 1, NULL},
        {"two", 3, NULL},
        {"two,-talk", 2, NULL},
        {"-two", 1, NULL},
        {"echo, fail", 2, NULL},
        {"-talk,-echo", 2, NULL},
        {"all,-two,talk", 2, NULL},
        {"ready", 4, NULL},
        {"ready,two", 3, NULL},
        {"ready,-two", 1, NULL},
        {"nonsense", 0, "nonsense"},
        {"one,-nonsense", 0, "nonsense"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct test_server server;
        char problem[128] = "";
        assert_true(test_server_open(&server));
        int status = registry_select(server.registry, CASES[i].selection, problem, sizeof problem);
        if (CASES[i].problem) {
            assert_int_equal(status, ERR_INVALID);
            assert_non_null(strstr(problem, CASES[i].problem));
        } else {
            assert_int_equal(status, OK);
            assert_int_equal(server.registry->tool_count, CASES[i].count);
        }
        test_server_close(&server);
    }
}

static int open_server(void **state)
{
    static struct test_server server;
    *state = &server;
    return test_server_open(&server) ? 0 : -1;
}

static int close_server(void **state)
{
    test_server_close(*state);
    return 0;
}

static int load_config(void **state)
{
    (void)state;
    char *nothing[] = {NULL};
    struct buf problem;
    buf_init(&problem, 10000);
    log_set_level(LOG_LEVEL_ERROR);
    int status = config_load(nothing, NULL, &problem);
    buf_done(&problem);
    return status;
}

#define SERVER_TEST(test) cmocka_unit_test_setup_teardown(test, open_server, close_server)

UNIT_TEST(mcp)
{
    const struct CMUnitTest tests[] = {
        SERVER_TEST(messages_over_stdio),
        SERVER_TEST(messages_over_http),
        SERVER_TEST(mirrored_parameters_agree),
        SERVER_TEST(state_comes_back_sealed),
        SERVER_TEST(progress_and_logs_go_to_the_sink),
        SERVER_TEST(a_question_waits_for_its_own_client),
        SERVER_TEST(kept_lists_are_as_new_ones),
        SERVER_TEST(lists_are_kept_for_many_threads),
        SERVER_TEST(kept_lists_have_the_id_of_their_request),
        SERVER_TEST(lists_follow_what_changes),
        SERVER_TEST(listeners_hear_what_they_asked_for),
        SERVER_TEST(a_request_is_cancelled_by_its_own_client_only),
        SERVER_TEST(busy_is_an_answer),
        cmocka_unit_test(selections_keep_what_they_name),
    };
    return cmocka_run_group_tests(tests, load_config, NULL);
}
