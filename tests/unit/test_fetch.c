/* Fetching: answers, ceilings, broken servers. Where a fetch may go is tested in
 * test_fetch_policy.c, where redirects lead in test_redirects.c, how a fetch ends early in
 * test_fetch_cancel.c. */
#include "fetch_fixture.h"
#include "unit.h"

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
    assert_non_null(strstr(response.body, "Accept-Encoding: gzip, deflate\r\n"));
    request.body = "a\0b";
    request.body_length = 3;
    response = get(*state, request, "/echo");
    assert_non_null(strstr(response.body, "POST /echo HTTP/1.1\r\n"));
    assert_non_null(strstr(response.body, "Content-Length: 3\r\n"));
    assert_non_null(strstr(response.body, "Content-Type: text/x\r\n"));
    assert_null(strstr(response.body, "Expect:"));
}

static void refuses_bad_requests(void **state)
{
    static const struct {
        const char *url;
        struct fetch_header header;
        const char *word;
    } CASES[] = {
        {"ftp://example.com/", {"X", "1", false}, "http://"},
        {"http://u:p@example.com/", {"X", "1", false}, "user name"},
        {"http://x/", {"X", "1\r\nHost: evil", false}, "header"},
        {"http://x/", {"X", "1\nHost: evil", false}, "header"},
        {"http://x/", {"X: y", "1", false}, "header"},
        {"http://x/", {"", "1", false}, "header"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_request request = {.headers = &CASES[i].header, .header_count = 1};
        struct fetch_response response = run(*state, request, CASES[i].url);
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
    forget_connections(fixture);
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
        const char *url = url_to(fixture, CASES[i].host, "/plain");
        assert_failure(run(fixture, (struct fetch_request){0}, url), CASES[i].failure);
    }
}

/* A redirect is an answer like any other; source/redirects.h follows them. */
static void follows_no_redirects(void **state)
{
    struct fetch_response response = get(*state, (struct fetch_request){0}, "/loop");
    assert_failure(response, FETCH_OK);
    assert_int_equal(response.status, 302);
    assert_string_equal(response.body, "xyz");
    assert_string_equal(fetch_header_value(&response, "location"), "/loop");
}

/* Requests that share a lane share its cookies, as long as they have it. */
static void cookies_live_as_long_as_the_lane(void **state)
{
    struct fixture *fixture = *state;
    const char *problem;
    struct fetch_request request = {.lane = lane_lend(fixture->call, &problem)};
    get(fixture, request, "/set-cookie");
    assert_non_null(strstr(get(fixture, request, "/echo").body, "Cookie: taste=sweet"));
    lane_return(request.lane);
    assert_null(strstr(get(fixture, (struct fetch_request){0}, "/echo").body, "taste"));
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

/* ---- half an answer ---- */

/* Wherever a compressed body ends too early, it is no answer, though the server calls it whole. */
static void notices_what_was_cut_off(void **state)
{
    struct fixture *fixture = *state;
    char path[32];
    for (size_t cut = 1; cut < sizeof GZIPPED - 1; cut++) {
        snprintf(path, sizeof path, "/gzip/cut/%zu", cut);
        struct fetch_response response = get(fixture, (struct fetch_request){0}, path);
        assert_failure(response, FETCH_BROKEN);
        assert_non_null(strstr(response.error, "cut off"));
    }
    struct fetch_response part = get(fixture, (struct fetch_request){0}, "/part");
    assert_failure(part, FETCH_BROKEN);
    assert_non_null(strstr(part.error, "a part of the answer"));
    assert_int_equal(loopback_connections(fixture->open), 1);
}

static void takes_codings_as_browsers_do(void **state)
{
    static const struct {
        const char *path;
        enum fetch_failure failure;
        size_t length;
    } CASES[] = {
        {"/gzip/twice", FETCH_OK, 40 * (sizeof GZIPPED_TEXT - 1)},
        {"/gzip/tail", FETCH_OK, 20 * (sizeof GZIPPED_TEXT - 1)},
        {"/gzip/cut/49", FETCH_OK, 0}, /* nothing came: an empty body is a whole one */
        {"/utf-8", FETCH_OK, 5},       /* no coding at all */
        {"/brotli", FETCH_BROKEN, 0},  /* one that nobody asked for */
    };
    assert_int_equal(sizeof GZIPPED - 1, 49);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_response response = get(*state, (struct fetch_request){0}, CASES[i].path);
        assert_failure(response, CASES[i].failure);
        assert_int_equal(response.body_length, CASES[i].length);
    }
    struct fetch_response response = get(*state, (struct fetch_request){0}, "/brotli");
    assert_non_null(strstr(response.error, "\"br\""));
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
    const char *url = arena_printf(call_arena(fixture->call), "http://127.0.0.1:%d/", port);
    assert_failure(run(fixture, (struct fetch_request){0}, url), FETCH_CONNECT);
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
    const char *url =
        arena_printf(call_arena(fixture->call), "https://127.0.0.1:%d/", server->port);
    assert_failure(run(fixture, (struct fetch_request){0}, url), FETCH_TLS);
    loopback_stop(server);
}

/* ---- bodies that are handed over as they come ---- */

struct taker {
    char text[4096];
    size_t length;
    size_t enough; /* it wants no more from so many bytes on */
};

static bool take(void *context, const char *data, size_t length)
{
    struct taker *taker = context;
    for (size_t i = 0; i < length && taker->length + 1 < sizeof taker->text; i++) {
        taker->text[taker->length++] = data[i];
    }
    taker->text[taker->length] = '\0';
    return taker->length < taker->enough;
}

static void hands_bodies_over(void **state)
{
    static const struct {
        const char *path;
        size_t enough, most;
        enum fetch_failure failure;
        const char *taken; /* NULL: whatever it is */
        const char *body;
    } CASES[] = {
        {"/chunked", 100, 0, FETCH_OK, "abcdefg", ""},
        {"/plain", 100, 0, FETCH_OK, "hello", ""},
        {"/missing", 100, 0, FETCH_OK, "", "gone"}, /* an error is a body like any other */
        {"/cut", 100, 0, FETCH_BROKEN, "only this", ""},
        {"/endless", 10, 0, FETCH_OK, NULL, ""}, /* there was enough of it */
        {"/endless", SIZE_MAX, 1000, FETCH_TOO_LARGE, NULL, ""},
        {"/ten-chunked", 100, 10, FETCH_OK, "0123456789", ""},
        {"/ten-chunked", 100, 9, FETCH_TOO_LARGE, "", ""},
        {"/cut", 4, 0, FETCH_OK, "only this", ""},
        {"/gzip", 10, 0, FETCH_OK, NULL, ""},
        {"/gzip/cut/1", 4000, 0, FETCH_BROKEN, NULL, ""},
        {"/gzip/cut/1", 10, 0, FETCH_OK, NULL, ""},
        {"/part", 100, 0, FETCH_BROKEN, "", "only "},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct taker taker = {.enough = CASES[i].enough};
        struct fetch_request request = {.take = take,
                                        .take_context = &taker,
                                        .max_body_bytes = CASES[i].most,
                                        .timeout_ms = 20000};
        struct fetch_response response = get(*state, request, CASES[i].path);
        assert_failure(response, CASES[i].failure);
        assert_string_equal(response.body, CASES[i].body);
        if (CASES[i].taken) {
            assert_string_equal(taker.text, CASES[i].taken);
        }
    }
}

/* A piece every 200 milliseconds, for longer than the time that a request has. */
static void serve_slowly(struct loopback *server, int client)
{
    char request[4096];
    (void)server;
    if (loopback_read(client, request, sizeof request)) {
        loopback_say(client, "HTTP/1.1 200 OK\r\n\r\n");
        for (int i = 0; i < 10; i++) {
            usleep(200000);
            loopback_say(client, "x");
        }
        usleep(strstr(request, "/stuck") ? 4000000 : 0);
    }
}

static void time_begins_anew_with_each_piece(void **state)
{
    struct fixture *fixture = *state;
    struct loopback *server = loopback_start("127.0.0.1", serve_slowly);
    static const struct {
        const char *path;
        bool of_all;
        enum fetch_failure failure;
    } CASES[] = {{"/flows", false, FETCH_OK},
                 {"/stuck", false, FETCH_TIMEOUT},
                 {"/flows", true, FETCH_TIMEOUT}};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct taker taker = {.enough = SIZE_MAX};
        struct fetch_request request = {.take = take,
                                        .take_context = &taker,
                                        .timeout_ms = 1500,
                                        .timeout_of_all = CASES[i].of_all};
        const char *url = arena_printf(call_arena(fixture->call), "http://127.0.0.1:%d%s",
                                       server->port, CASES[i].path);
        struct fetch_response response = run(fixture, request, url);
        assert_failure(response, CASES[i].failure);
        assert_true(response.sent);
        if (CASES[i].of_all) {
            assert_true(taker.length < 10);
        } else {
            assert_string_equal(taker.text, "xxxxxxxxxx");
        }
    }
    loopback_stop(server);
}

UNIT_TEST(fetch)
{
    const struct CMUnitTest tests[] = {
        TEST(answers),
        TEST(keeps_headers),
        TEST(sends_what_it_is_given),
        TEST(refuses_bad_requests),
        TEST(uses_connections_again),
        TEST(looks_names_up_by_itself),
        TEST(follows_no_redirects),
        TEST(cookies_live_as_long_as_the_lane),
        TEST(bounds_bodies),
        TEST(decompresses_within_bounds),
        TEST(notices_what_was_cut_off),
        TEST(takes_codings_as_browsers_do),
        TEST(survives_broken_servers),
        TEST(notices_nobody_at_home),
        TEST(notices_what_is_not_tls),
        TEST(hands_bodies_over),
        TEST(time_begins_anew_with_each_piece),
    };
    forget_proxies();
    return cmocka_run_group_tests_name("fetch", tests, NULL, NULL);
}
