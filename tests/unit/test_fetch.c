/* Fetching: answers, redirects, ceilings, broken servers, streams. Where a fetch may go is tested
 * in test_fetch_policy.c, how it ends early in test_fetch_cancel.c. */
#include "fetch_fixture.h"

/* ---- answers ---- */

static void answers(void **state)
{
    static const struct {
        const char *path;
        int status;
        const char *body;
    } CASES[] = {
        {"/plain", 200, "hello"},  {"/empty", 204, ""},          {"/missing", 404, "gone"},
        {"/continued", 200, "ok"}, {"/chunked", 200, "abcdefg"}, {"/until-close", 200, "all of it"},
        {"/old", 200, "old"},      {"/no-location", 302, "xyz"}, {"/ten", 200, "0123456789"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_response response = get(*state, (struct fetch_request){0}, CASES[i].path);
        assert_failure(response, FETCH_OK);
        assert_int_equal(response.status, CASES[i].status);
        assert_string_equal(response.body, CASES[i].body);
        assert_int_equal(response.body_length, strlen(CASES[i].body));
    }
}

static void keeps_headers(void **state)
{
    struct fetch_response response = get(*state, (struct fetch_request){0}, "/plain");
    assert_string_equal(response.content_type, "text/plain; charset=utf-8");
    assert_string_equal(fetch_header_value(&response, "x-twice"), "one");
    assert_string_equal(fetch_header_value(&response, "X-PADDED"), "padded");
    assert_string_equal(fetch_header_value(&response, "x-empty"), "");
    assert_null(fetch_header_value(&response, "x-none"));
    assert_int_equal(response.header_count, 6);
    response = get(*state, (struct fetch_request){0}, "/continued");
    assert_null(fetch_header_value(&response, "link"));
    assert_null(response.content_type);
    response = get(*state, (struct fetch_request){0}, "/chunked");
    assert_string_equal(fetch_header_value(&response, "x-trailer"), "last");
}

static void sends_what_it_is_given(void **state)
{
    static const struct fetch_header HEADERS[] = {
        {"X-One", "1", false}, {"X-Empty", "", false}, {"Content-Type", "text/x", false}};
    struct fetch_request request = {.headers = HEADERS, .header_count = COUNT(HEADERS)};
    struct fetch_response response = get(*state, request, "/echo?q=1#fragment");
    assert_non_null(strstr(response.body, "GET /echo?q=1 HTTP/1.1\r\n"));
    assert_non_null(strstr(response.body, "X-One: 1\r\n"));
    assert_non_null(strstr(response.body, "X-Empty:\r\n"));
    assert_non_null(strstr(response.body, "User-Agent: forage/"));
    assert_non_null(strstr(response.body, "Accept-Encoding: "));
    request.body = "a\0b";
    request.body_length = 3;
    response = get(*state, request, "/echo");
    assert_non_null(strstr(response.body, "POST /echo HTTP/1.1\r\n"));
    assert_non_null(strstr(response.body, "Content-Length: 3\r\n"));
    assert_non_null(strstr(response.body, "Content-Type: text/x\r\n"));
    assert_null(strstr(response.body, "Expect:"));
    request.method = "PUT";
    response = get(*state, request, "/echo");
    assert_non_null(strstr(response.body, "PUT /echo HTTP/1.1\r\n"));
    request.method = "DELETE";
    request.body = NULL;
    response = get(*state, request, "/echo");
    assert_non_null(strstr(response.body, "DELETE /echo HTTP/1.1\r\n"));
    request.method = "HEAD";
    request.max_body_bytes = 10;
    response = get(*state, request, "/huge-said");
    assert_failure(response, FETCH_OK);
    assert_int_equal(response.body_length, 0);
}

static void refuses_bad_requests(void **state)
{
    static const struct {
        const char *url;
        const char *method;
        struct fetch_header header;
        const char *word;
    } CASES[] = {
        {"ftp://example.com/", NULL, {"X", "1", false}, "http://"},
        {"http://u:p@example.com/", NULL, {"X", "1", false}, "user name"},
        {"http://x/", "GET /", {"X", "1", false}, "method"},
        {"http://x/", "", {"X", "1", false}, "method"},
        {"http://x/", NULL, {"X", "1\r\nHost: evil", false}, "header"},
        {"http://x/", NULL, {"X", "1\nHost: evil", false}, "header"},
        {"http://x/", NULL, {"X: y", "1", false}, "header"},
        {"http://x/", NULL, {"", "1", false}, "header"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_request request = {.url = CASES[i].url,
                                        .method = CASES[i].method,
                                        .headers = &CASES[i].header,
                                        .header_count = 1};
        struct fetch_response response = run(*state, request);
        assert_failure(response, FETCH_BAD_REQUEST);
        assert_non_null(strstr(response.error, CASES[i].word));
        assert_string_equal(response.body, "");
    }
}

static void uses_connections_again(void **state)
{
    struct fixture *fixture = *state;
    for (int i = 0; i < 5; i++) {
        assert_failure(get(fixture, (struct fetch_request){0}, "/plain"), FETCH_OK);
    }
    assert_int_equal(loopback_connections(fixture->open), 1);
    fetch_shutdown();
    assert_failure(get(fixture, (struct fetch_request){0}, "/plain"), FETCH_OK);
    assert_int_equal(loopback_connections(fixture->open), 2);
}

static void looks_names_up_by_itself(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *host;
        enum fetch_failure failure;
    } CASES[] = {
        {"a.at-127-0-0-1.test", FETCH_OK}, {"two.test", FETCH_OK},
        {"nothing.test", FETCH_NO_NAME},   {"again.test", FETCH_NAME_ERROR},
        {"memory.test", FETCH_NOMEM},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_request request = {.url = url_to(fixture, CASES[i].host, "/plain")};
        assert_failure(run(fixture, request), CASES[i].failure);
    }
}

/* ---- redirects ---- */

static void follows_redirects(void **state)
{
    struct fixture *fixture = *state;
    const char *elsewhere = url_to(fixture, "two.test", "/y") + strlen("http:");
    const struct {
        int status;
        const char *target;
        const char *path;
    } CASES[] = {
        {301, "/plain", "/plain"},     {302, "../../plain", "/plain"},
        {303, "/echo?q", "/echo?q"},   {307, "/pl%61in#x", "/pl%61in#x"},
        {308, elsewhere, "/y"},        {302, "/a b", "/a%20b"},
        {301, "x/./../../../e", "/e"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_request request = {.url =
                                            redirect_to(fixture, CASES[i].status, CASES[i].target)};
        struct fetch_response response = run(fixture, request);
        assert_failure(response, FETCH_OK);
        assert_int_equal(response.redirects, 1);
        assert_string_equal(strchr(response.url + strlen("http://"), '/'), CASES[i].path);
    }
}

static void bounds_redirects(void **state)
{
    struct fixture *fixture = *state;
    struct fetch_response response = get(fixture, (struct fetch_request){0}, "/loop");
    assert_failure(response, FETCH_REDIRECTS);
    assert_int_equal(response.redirects, LIMIT_FETCH_REDIRECTS);
    response = get(fixture, (struct fetch_request){.max_redirects = 2}, "/loop");
    assert_failure(response, FETCH_REDIRECTS);
    assert_int_equal(response.redirects, 2);
    response = get(fixture, (struct fetch_request){.max_redirects = FETCH_NO_REDIRECTS}, "/loop");
    assert_failure(response, FETCH_OK);
    assert_int_equal(response.status, 302);
    assert_string_equal(response.body, "xyz");
    assert_string_equal(fetch_header_value(&response, "location"), "/loop");
}

static void redirects_stay_on_the_web(void **state)
{
    static const char *const TARGETS[] = {"file:///etc/passwd",
                                          "ftp://127.0.0.1/",
                                          "gopher://127.0.0.1/",
                                          "javascript:alert(1)",
                                          "http://u:p@127.0.0.1/",
                                          "http://",
                                          "data:,x"};
    for (size_t i = 0; i < COUNT(TARGETS); i++) {
        struct fetch_request request = {.url = redirect_to(*state, 302, TARGETS[i])};
        assert_failure(run(*state, request), FETCH_REDIRECTS);
    }
}

/* The body of a redirect is of no interest, even without an end. */
static void does_not_wait_for_a_redirects_body(void **state)
{
    struct fetch_response response = get(*state, (struct fetch_request){0}, "/redirect-endless");
    assert_failure(response, FETCH_OK);
    assert_string_equal(response.body, "hello");
}

static void changes_methods_as_browsers_do(void **state)
{
    static const struct {
        const char *method;
        int status;
        const char *becomes;
        bool body;
    } CASES[] = {
        {"POST", 301, "GET ", false},     {"POST", 302, "GET ", false},
        {"POST", 303, "GET ", false},     {"POST", 307, "POST ", true},
        {"POST", 308, "POST ", true},     {"PUT", 301, "PUT ", true},
        {"PUT", 303, "GET ", false},      {"PUT", 308, "PUT ", true},
        {"DELETE", 302, "DELETE ", true},
    };
    static const struct fetch_header HEADERS[] = {{"Content-Type", "text/x", false}};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_request request = {.url = redirect_to(*state, CASES[i].status, "/echo"),
                                        .method = CASES[i].method,
                                        .headers = HEADERS,
                                        .header_count = 1,
                                        .body = "payload",
                                        .body_length = 7};
        struct fetch_response response = run(*state, request);
        assert_failure(response, FETCH_OK);
        assert_memory_equal(response.body, CASES[i].becomes, strlen(CASES[i].becomes));
        assert_int_equal(strstr(response.body, "payload") != NULL, CASES[i].body);
        assert_int_equal(strstr(response.body, "Content-Type:") != NULL, CASES[i].body);
        assert_int_equal(strstr(response.body, "Content-Length:") != NULL, CASES[i].body);
    }
}

static void keeps_credentials_with_their_origin(void **state)
{
    struct fixture *fixture = *state;
    static const struct fetch_header HEADERS[] = {
        {"Authorization", "Bearer sesame", false},
        {"Cookie", "session=sesame", false},
        {"X-Api-Key", "sesame", true},
        {"X-Harmless", "kept", false},
    };
    struct arena *arena = call_arena(fixture->call);
    struct loopback *other = loopback_start("127.0.0.1", serve);
    const char *other_host = url_to(fixture, "b.at-127-0-0-1.test", "/echo");
    const char *same_host = url_to(fixture, "a.at-127-0-0-1.test", "/echo");
    const char *other_port = arena_printf(arena, "http://a.at-127-0-0-1.test:%d/echo", other->port);
    const char *and_back = url_to(fixture, "b.at-127-0-0-1.test",
                                  strstr(redirect_to(fixture, 307, same_host), "/redirect"));
    const struct {
        const char *target;
        bool kept;
    } CASES[] = {{"/echo", true},
                 {same_host, true},
                 {other_host, false},
                 {other_port, false},
                 {and_back, false}};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_request request = {.url = redirect_to(fixture, 307, CASES[i].target),
                                        .headers = HEADERS,
                                        .header_count = COUNT(HEADERS)};
        struct fetch_response response = run(fixture, request);
        assert_failure(response, FETCH_OK);
        assert_non_null(strstr(response.body, "X-Harmless: kept"));
        assert_int_equal(strstr(response.body, "sesame") != NULL, CASES[i].kept);
    }
    fetch_shutdown();
    loopback_stop(other);
}

static void cookies_live_as_long_as_the_fetch(void **state)
{
    struct fixture *fixture = *state;
    struct fetch_response response = get(fixture, (struct fetch_request){0}, "/set-cookie");
    assert_non_null(strstr(response.body, "Cookie: taste=sweet"));
    response = get(fixture, (struct fetch_request){0}, "/echo");
    assert_null(strstr(response.body, "taste"));
    assert_int_equal(loopback_connections(fixture->open), 1);
}

/* ---- ceilings ---- */

static void bounds_bodies(void **state)
{
    static const struct {
        const char *path;
        size_t ceiling;
        enum fetch_failure failure;
        const char *body;
    } CASES[] = {
        {"/ten", 10, FETCH_OK, "0123456789"},
        {"/ten", 9, FETCH_TOO_LARGE, ""},
        {"/ten-chunked", 10, FETCH_OK, "0123456789"},
        {"/ten-chunked", 9, FETCH_TOO_LARGE, "012345678"},
        {"/huge-said", 0, FETCH_TOO_LARGE, ""},
        {"/endless-head", 0, FETCH_TOO_LARGE, ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_response response =
            get(*state, (struct fetch_request){.max_body_bytes = CASES[i].ceiling}, CASES[i].path);
        assert_failure(response, CASES[i].failure);
        assert_string_equal(response.body, CASES[i].body);
    }
    struct fetch_response response =
        get(*state, (struct fetch_request){.max_body_bytes = 100000}, "/endless");
    assert_failure(response, FETCH_TOO_LARGE);
    assert_int_equal(response.body_length, 100000);
}

static void decompresses_within_bounds(void **state)
{
    struct fetch_response response = get(*state, (struct fetch_request){0}, "/gzip");
    assert_failure(response, FETCH_OK);
    assert_int_equal(response.body_length, 20 * strlen(GZIPPED_TEXT));
    assert_memory_equal(response.body, GZIPPED_TEXT, strlen(GZIPPED_TEXT));
    /* The ceiling counts what comes out, though less than that came in. */
    response = get(*state, (struct fetch_request){.max_body_bytes = 100}, "/gzip");
    assert_failure(response, FETCH_TOO_LARGE);
    assert_int_equal(response.body_length, 100);
    response = get(*state, (struct fetch_request){.max_body_bytes = MIB(4)}, "/bomb");
    assert_failure(response, FETCH_TOO_LARGE);
    assert_int_equal(response.body_length, MIB(4));
}

/* ---- broken servers ---- */

static void survives_broken_servers(void **state)
{
    static const struct {
        const char *path;
        enum fetch_failure failure;
        const char *body;
    } CASES[] = {
        {"/nothing", FETCH_BROKEN, ""},      {"/cut", FETCH_BROKEN, "only this"},
        {"/cut-chunk", FETCH_BROKEN, NULL},  {"/reset", FETCH_BROKEN, NULL},
        {"/garbage", FETCH_BROKEN, ""},      {"/bad-gzip", FETCH_BROKEN, ""},
        {"/bad-status", FETCH_BROKEN, NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_response response = get(*state, (struct fetch_request){0}, CASES[i].path);
        assert_failure(response, CASES[i].failure);
        if (CASES[i].body) {
            assert_string_equal(response.body, CASES[i].body);
        }
    }
}

static void notices_nobody_at_home(void **state)
{
    struct fixture *fixture = *state;
    int port;
    int listener = loopback_listen("127.0.0.1", 1, &port);
    close(listener);
    struct fetch_request request = {
        .url = arena_printf(call_arena(fixture->call), "http://127.0.0.1:%d/", port)};
    assert_failure(run(fixture, request), FETCH_CONNECT);
}

static void serve_plain_text(struct loopback *server, int client)
{
    (void)server;
    loopback_say(client, "220 this is no TLS\r\n");
}

static void notices_what_is_not_tls(void **state)
{
    struct fixture *fixture = *state;
    struct loopback *server = loopback_start("127.0.0.1", serve_plain_text);
    struct fetch_request request = {
        .url = arena_printf(call_arena(fixture->call), "https://127.0.0.1:%d/", server->port)};
    assert_failure(run(fixture, request), FETCH_TLS);
    loopback_stop(server);
}

/* ---- streams and batches ---- */

struct collected {
    struct buf text;
    size_t enough;
};

static int collect(void *context, const char *data, size_t length)
{
    struct collected *collected = context;
    buf_append(&collected->text, data, length);
    return collected->enough && collected->text.length >= collected->enough ? ERR_LIMIT : OK;
}

static void streams_bodies(void **state)
{
    struct collected collected = {.enough = 0};
    buf_init(&collected.text, MIB(1));
    struct fetch_request request = {.on_body = collect, .on_body_context = &collected};
    struct fetch_response response = get(*state, request, "/chunked");
    assert_failure(response, FETCH_OK);
    assert_string_equal(collected.text.data, "abcdefg");
    assert_string_equal(response.body, "");
    /* What is no success is collected as usual: it says what went wrong. */
    response = get(*state, request, "/missing");
    assert_string_equal(response.body, "gone");
    assert_string_equal(collected.text.data, "abcdefg");
    request.max_body_bytes = 9;
    assert_failure(get(*state, request, "/ten-chunked"), FETCH_TOO_LARGE);
    request.max_body_bytes = 0;
    collected.enough = 1;
    assert_failure(get(*state, request, "/endless"), FETCH_STOPPED);
    buf_done(&collected.text);
}

static void runs_side_by_side(void **state)
{
    struct fixture *fixture = *state;
    static const char *const PATHS[] = {"/plain", "/missing", "/cut", "/loop", "/gzip", "/chunked"};
    static const enum fetch_failure FAILURES[] = {FETCH_OK,        FETCH_OK, FETCH_BROKEN,
                                                  FETCH_REDIRECTS, FETCH_OK, FETCH_OK};
    struct fetch_request requests[FETCH_MOST_AT_ONCE] = {0};
    bool seen[FETCH_MOST_AT_ONCE] = {false};
    struct fetch_batch *batch = fetch_batch_new(fixture->call);
    assert_non_null(batch);
    for (size_t i = 0; i < FETCH_MOST_AT_ONCE; i++) {
        requests[i].url = url_to(fixture, "a.at-127-0-0-1.test", PATHS[i % COUNT(PATHS)]);
        requests[i].label = &seen[i];
        assert_int_equal(fetch_batch_add(batch, &requests[i]), OK);
    }
    assert_int_equal(fetch_batch_add(batch, &requests[0]), ERR_LIMIT);
    struct fetch_response response;
    for (size_t i = 0; i < FETCH_MOST_AT_ONCE; i++) {
        assert_int_equal(fetch_batch_next(batch, &response), OK);
        bool *label = response.label;
        assert_false(*label);
        *label = true;
        assert_failure(response, FAILURES[(size_t)(label - seen) % COUNT(PATHS)]);
    }
    assert_int_equal(fetch_batch_next(batch, &response), ERR_NOTFOUND);
    /* A batch takes more at any time. */
    assert_int_equal(fetch_batch_add(batch, &requests[0]), OK);
    assert_int_equal(fetch_batch_next(batch, &response), OK);
    assert_int_equal(fetch_batch_next(batch, &response), ERR_NOTFOUND);
    assert_int_equal(fetch_batch_add(batch, &requests[1]), OK);
    assert_null(fetch_batch_free(batch));
    assert_null(fetch_batch_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers),
        TEST(keeps_headers),
        TEST(sends_what_it_is_given),
        TEST(refuses_bad_requests),
        TEST(uses_connections_again),
        TEST(looks_names_up_by_itself),
        TEST(follows_redirects),
        TEST(bounds_redirects),
        TEST(redirects_stay_on_the_web),
        TEST(does_not_wait_for_a_redirects_body),
        TEST(changes_methods_as_browsers_do),
        TEST(keeps_credentials_with_their_origin),
        TEST(cookies_live_as_long_as_the_fetch),
        TEST(bounds_bodies),
        TEST(decompresses_within_bounds),
        TEST(survives_broken_servers),
        TEST(notices_nobody_at_home),
        TEST(notices_what_is_not_tls),
        TEST(streams_bodies),
        TEST(runs_side_by_side),
    };
    forget_proxies();
    return cmocka_run_group_tests_name("fetch", tests, NULL, NULL);
}
