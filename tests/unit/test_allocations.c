/* Every allocation fails once: each message is sent again and again, and each time one allocation
 * further on returns NULL. What comes back may be an error or nothing; the process lives, nothing
 * leaks (the leak checker of the sanitizer build looks), and the same message works again
 * afterwards. */
#include "unit.h"

#include "config/config.h"
#include "core/log.h"
#include "experiment/experiment.h"
#include "failing_allocations.h"
#include "guard/callers.h"
#include "protocol_server.h"
#include "websearch/open/sources.h"
#include "websearch/order.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    REQUEST("resources/read", "\"uri\":\"skill://one/a/1.md\"," META),
    REQUEST("skills/list", META),
    REQUEST("skills/get", "\"uri\":\"skill://one/SKILL.md\"," META),
    REQUEST("resources/directory/read", "\"uri\":\"skill://one\"," META),
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

static char *send_message(struct test_server *server, const char *message)
{
    int status;
    struct mcp_peer peer = {.client = server->client, .caller = caller_local()};
    return test_server_send(server, &peer, message, strlen(message), &status);
}

/* Fails one allocation after the other until a run needs none of those that would fail. */
static void fail_each(struct test_server *server, const char *message)
{
    enum { MOST_ALLOCATIONS = 10000 };
    for (long n = 0; n < MOST_ALLOCATIONS; n++) {
        failed = false;
        fail_after = n;
        char *answer = send_message(server, message);
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
        char *before = send_message(&server, MESSAGES[i]);
        fail_each(&server, MESSAGES[i]);
        char *after = send_message(&server, MESSAGES[i]);
        assert_true((before == NULL) == (after == NULL));
        free(before);
        free(after);
    }
    test_server_close(&server);
}

/* What an answer left out for want of memory is not kept. */
static void lists_are_whole_again(void **state)
{
    (void)state;
    static const char *const LISTS[] = {
        REQUEST("tools/list", ""),
        REQUEST("tools/list", META),
        REQUEST("server/discover", META),
        REQUEST("skills/list", META),
    };
    for (size_t i = 0; i < COUNT(LISTS); i++) {
        char *whole = NULL;
        failed = true;
        for (long n = 0; failed; n++) {
            struct test_server server;
            assert_true(test_server_open(&server));
            failed = false;
            fail_after = whole ? n : -1;
            free(send_message(&server, LISTS[i]));
            fail_after = -1;
            char *answer = send_message(&server, LISTS[i]);
            assert_non_null(answer);
            assert_string_equal(answer, whole ? whole : answer);
            failed |= !whole;
            free(whole);
            whole = answer;
            test_server_close(&server);
        }
        free(whole);
    }
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

/* ---- searching ---- */

static const char *const ANSWERS[] = {
    "{\"organic\":[{\"title\":\"T\",\"link\":\"https://a.example/?utm_id=1\",\"snippet\":\"S\"}]}",
    "{\"results\":[{\"title\":\"T\",\"url\":\"https://a.example/\",\"content\":\"S\"}]}",
    "{\"results\":[],\"unresponsive_engines\":[[\"google\",\"timeout\"]]}",
    "{\"web\":{\"results\":[{\"title\":\"<b>T</b>\",\"url\":\"https://a.example/\"}]}}",
    "{\"results\":[{\"title\":\"T\",\"url\":\"https://a.example/\",\"text\":\"S\"}]}",
};

/* A request is made whole or not at all, and an answer is read or not. */
static void search_once(const struct provider *provider, const char *text)
{
    static const struct search_query QUERY = {
        .text = "mushrooms",
        .count = 3,
        .page = 1,
        .start_date = "2026-01-31",
        .region = "DE",
        .language = "de",
        .sites = {"a.example"},
        .site_count = 1,
    };
    struct arena *arena = arena_new(KIB(256));
    struct provider_request request = {
        .arena = arena, .query = &QUERY, .base = "http://base", .key = "key"};
    if (!arena) {
        return;
    }
    if (provider_build(provider, &request) == OK) {
        const char *sent = request.body ? request.body : request.url;
        assert_non_null(strstr(sent, "mushrooms"));
        assert_non_null(strstr(sent, "a.example"));
        assert_true(strstr(sent, "2026") || provider == &PROVIDER_SEARXNG);
    }
    struct hits hits;
    struct found *found;
    size_t count;
    if (provider_read(provider, arena, text, strlen(text), &QUERY, &hits) == OK) {
        static const char *const TEXTS[] = {"mushrooms"};
        static const struct order ORDER = {ORDER_WORDS | ORDER_COPIES, 25};
        struct ranking ranking = {.hits = &hits, .source = "one", .index = "one"};
        int status = merge_rankings(arena, &ranking, 1, &found, &count);
        if (status == OK) {
            status = order_found(arena, TEXTS, 1, &ORDER, found, count);
        }
        assert_true(status == OK || status == ERR_NOMEM);
    }
    arena_free(arena);
}

static void a_search_is_made_whole_or_not_at_all(void **state)
{
    (void)state;
    for (size_t i = 0; PROVIDERS[i]; i++) {
        failed = true;
        for (long n = 0; failed; n++) {
            failed = false;
            fail_after = n;
            search_once(PROVIDERS[i], ANSWERS[i]);
            fail_after = -1;
        }
    }
}

/* The first type that a source serves. */
static enum search_type type_served(const struct provider *source)
{
    enum search_type type = SEARCH_WEB;
    while (type + 1 < SEARCH_TYPES && !source->paths[type]) {
        type++;
    }
    return type;
}

static void ask_source_once(const struct provider *source)
{
    struct search_query query = {.text = "mushrooms",
                                 .count = 3,
                                 .page = 1,
                                 .type = type_served(source),
                                 .end_date = "2026-01-31"};
    struct arena *arena = arena_new(KIB(256));
    struct provider_request request = {.arena = arena, .query = &query, .base = "http://base"};
    if (arena && provider_build(source, &request) == OK) {
        assert_non_null(strstr(request.body ? request.body : request.url, "mushrooms"));
        bool dated = strstr(request.url, "2026") || strstr(request.url, "created_at_i%3C");
        bool told = request.left_out.count > 0;
        assert_true(dated || told || (query.type != SEARCH_NEWS && query.type != SEARCH_SCHOLAR));
    }
    arena_free(arena);
}

static void open_sources_are_asked_whole_or_not_at_all(void **state)
{
    (void)state;
    for (size_t i = 0; OPEN_SOURCES[i]; i++) {
        failed = true;
        for (long n = 0; failed; n++) {
            failed = false;
            fail_after = n;
            ask_source_once(OPEN_SOURCES[i]);
            fail_after = -1;
        }
    }
}

/* Reads an experiment, and begins a call that takes part in it, as far as memory allows. */
static void try_once(struct test_server *server, const char *path)
{
    char problem[256];
    const char *const places[] = {path, NULL};
    struct experiments *experiments = experiments_new(
        &(struct experiments_options){.places = places, .registry = server->registry}, problem,
        sizeof problem);
    struct call *call =
        experiments ? call_new(&(struct call_options){.caller = caller_local()}) : NULL;
    if (call) {
        const struct trying *trying = &server->registry->trying;
        yyjson_val *arguments = NULL;
        int status = trying->begin(trying->context, call, registry_tool(server->registry, "echo"),
                                   &arguments);
        assert_true(status == OK || status == ERR_NOMEM);
        assert_true(status != OK || (call_tried(call) && arguments));
    }
    call_free(call);
    server->registry->trying = (struct trying){.context = NULL};
    experiments_free(experiments);
}

static void an_experiment_begins_or_does_not(void **state)
{
    (void)state;
    struct test_server server;
    char path[] = "/tmp/forage-experiment-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && test_server_open(&server));
    FILE *stream = fdopen(file, "w");
    fputs("{\"name\":\"x\",\"tool\":\"echo\",\"unit\":\"caller\",\"share\":1,"
          "\"metric\":\"latency\",\"sample\":10,\"arms\":{"
          "\"A\":{\"arguments\":{\"text\":\"a\"}},"
          "\"B\":{\"arguments\":{\"text\":\"b\"}}}}",
          stream);
    assert_int_equal(fclose(stream), 0);
    failed = true;
    for (long n = 0; failed; n++) {
        failed = false;
        fail_after = n;
        try_once(&server, path);
        fail_after = -1;
    }
    unlink(path);
    test_server_close(&server);
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

UNIT_TEST(allocations)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(lists_are_whole_again),
        cmocka_unit_test(a_server_opens_or_says_no),
        cmocka_unit_test(a_search_is_made_whole_or_not_at_all),
        cmocka_unit_test(open_sources_are_asked_whole_or_not_at_all),
        cmocka_unit_test(an_experiment_begins_or_does_not),
    };
    return cmocka_run_group_tests(tests, load_config, NULL);
}
