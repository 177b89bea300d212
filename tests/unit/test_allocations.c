/* Every allocation fails once: each message is sent again and again, and each time one allocation
 * further on returns NULL. What comes back may be an error or nothing; the process lives, nothing
 * leaks (the leak checker of the sanitizer build looks), and the same message works again
 * afterwards. */
#include "unit.h"

#include "base/log.h"
#include "config/config.h"
#include "guard/callers.h"
#include "protocol_server.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the allocator, through the linker's --wrap ---- */

static long fail_after = -1; /* negative: never */
static bool failed;

static bool should_fail(void)
{
    if (fail_after < 0) {
        return false;
    }
    if (fail_after-- == 0) {
        failed = true;
        return true;
    }
    return false;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return should_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return should_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return should_fail() ? NULL : __real_realloc(old, size);
}

/* ---- what is sent ---- */

#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}}"
#define REQUEST(method, params)                                                                    \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"" method "\",\"params\":{" params "}}"

static const char *const MESSAGES[] = {
    REQUEST("initialize", "\"protocolVersion\":\"2025-06-18\""),
    REQUEST("server/discover", META),
    REQUEST("tools/list", META),
    REQUEST("tools/list", ""),
    REQUEST("tools/call", "\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}"),
    REQUEST("tools/call", "\"name\":\"echo\",\"arguments\":{\"text\":5}"),
    REQUEST("tools/call", "\"name\":\"fail\""),
    REQUEST("tools/call", "\"name\":\"ask_name\"," META),
    REQUEST("tools/call", "\"name\":\"ask_name\",\"inputResponses\":{\"name\":{}}," META),
    REQUEST("tools/call", "\"name\":\"talk\",\"_meta\":{\"progressToken\":1}"),
    REQUEST("tools/call", "\"name\":\"nothing\""),
    REQUEST("resources/list", ""),
    REQUEST("resources/templates/list", META),
    REQUEST("resources/read", "\"uri\":\"test://one\""),
    REQUEST("resources/read", "\"uri\":\"test://two\""),
    REQUEST("resources/read", "\"uri\":\"test://none\""),
    REQUEST("prompts/list", ""),
    REQUEST("prompts/get", "\"name\":\"greet\",\"arguments\":{\"who\":\"me\"}"),
    REQUEST("completion/complete", "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"greet\"},"
                                   "\"argument\":{\"name\":\"who\",\"value\":\"a\"}"),
    REQUEST("subscriptions/listen", "\"notifications\":{\"toolsListChanged\":true}," META),
    REQUEST("no/such", ""),
    "[" REQUEST("ping", "") "," REQUEST("tools/call", "\"name\":\"fail\"") "]",
    "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{\"a\":1}}",
    "not JSON at all",
};

static char *send(struct test_server *server, const char *message)
{
    int status;
    struct mcp_peer peer = {.session = server->session, .caller = caller_local()};
    return test_server_send(server, &peer, message, strlen(message), &status);
}

/* Fails one allocation after the other until a run needs none of those that would fail. */
static void fail_each(struct test_server *server, const char *message)
{
    enum { MOST_ALLOCATIONS = 10000 };
    for (long n = 0; n < MOST_ALLOCATIONS; n++) {
        failed = false;
        fail_after = n;
        char *answer = send(server, message);
        fail_after = -1;
        free(answer);
        if (!failed) {
            assert_true(n > 0);
            return;
        }
    }
    fail_msg("more than %d allocations for one message", MOST_ALLOCATIONS);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct test_server server;
    assert_true(test_server_open(&server));
    for (size_t i = 0; i < COUNT(MESSAGES); i++) {
        char *before = send(&server, MESSAGES[i]);
        fail_each(&server, MESSAGES[i]);
        char *after = send(&server, MESSAGES[i]);
        assert_true((before == NULL) == (after == NULL));
        free(before);
        free(after);
    }
    test_server_close(&server);
}

static void a_server_opens_or_says_no(void **state)
{
    (void)state;
    bool opened = false;
    for (long n = 0; !opened; n++) {
        struct test_server server;
        fail_after = n;
        opened = test_server_open(&server);
        fail_after = -1;
        if (opened) {
            test_server_close(&server);
        }
    }
    assert_true(opened);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_server_opens_or_says_no),
    };
    return cmocka_run_group_tests(tests, load_config, NULL);
}
