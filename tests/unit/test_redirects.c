/* Redirects hop by hop: how they are followed, where they may lead, and what is carried there. */
#include "fetch_fixture.h"
#include "unit.h"

#include "source/redirects.h"

#define ELSEWHERE "a.at-127-0-0-66.test"

static struct line line;

/* Opens these hosts; NULL opens none. */
static void open_hosts(struct fixture *fixture, const char *hosts)
{
    char problem[200];
    policy_free(fixture->parts.policy);
    fixture->parts.policy = policy_new(hosts, problem, sizeof problem);
    assert_non_null(fixture->parts.policy);
}

static struct fetch_response walk(struct fixture *fixture, const char *text,
                                  struct fetch_request request, bool configured)
{
    struct fetch_response response;
    struct url url;
    assert_int_equal(fetch_parse(fixture->call, text, &url, &response), OK);
    request.url = &url;
    request.timeout_ms = 30000;
    int status = redirects_follow(fixture->call, &line, &request, configured, &response);
    assert_int_equal(status, response.failure == FETCH_OK ? OK : ERR_FAILED);
    return response;
}

static struct fetch_response travel(struct fixture *fixture, const char *text,
                                    struct fetch_request request)
{
    return walk(fixture, text, request, false);
}

static const char *elsewhere(struct fixture *fixture, const char *path)
{
    return arena_printf(call_arena(fixture->call), "http://" ELSEWHERE ":%d%s",
                        fixture->closed->port, path);
}

/* ---- following ---- */

static void follows_redirects(void **state)
{
    struct fixture *fixture = *state;
    const char *two = url_to(fixture, "two.test", "/y") + strlen("http:");
    const struct {
        int status;
        const char *target;
        const char *path;
    } CASES[] = {
        {301, "/plain", "/plain"},
        {302, "../../plain", "/plain"},
        {303, "/echo?q", "/echo?q"},
        {307, "/pl%61in#x", "/pl%61in#x"},
        {308, two, "/y"},
        {302, "/a b", "/a%20b"},
        {301, "x/./../../../e", "/e"},
    };
    open_hosts(fixture, "127.0.0.0/8,two.test");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_response response =
            travel(fixture, redirect_to(fixture, CASES[i].status, CASES[i].target),
                   (struct fetch_request){0});
        assert_failure(response, FETCH_OK);
        assert_int_equal(response.redirects, 1);
        assert_string_equal(strchr(response.url + strlen("http://"), '/'), CASES[i].path);
    }
}

/* ---- what is carried ---- */

static const struct fetch_header HEADERS[] = {
    {"X-Plain", "plain-value", false},
    {"X-Key", "secret-value", true},
    {"Authorization", "Bearer secret-value", false},
    {"Cookie", "session=secret-value", false},
    {"Proxy-Authorization", "Basic secret-value", false},
};

static void credentials_stay_with_their_origin(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = call_arena(fixture->call);
    struct loopback *other = loopback_start("127.0.0.1", serve);
    const char *same_host = url_to(fixture, "a.at-127-0-0-1.test", "/echo");
    const char *other_host = url_to(fixture, "b.at-127-0-0-1.test", "/echo");
    const char *other_port = arena_printf(arena, "http://a.at-127-0-0-1.test:%d/echo", other->port);
    const char *and_back =
        elsewhere(fixture, strstr(redirect_to(fixture, 307, same_host), "/redirect"));
    const struct {
        const char *target;
        bool kept;
        int redirects;
    } CASES[] = {
        {"/echo", true, 1},
        {same_host, true, 1},
        {other_host, false, 1},
        {other_port, false, 1},
        {elsewhere(fixture, "/echo"), false, 1},
        {and_back, false, 2}, /* nor do they come back */
    };
    open_hosts(fixture, "127.0.0.0/8");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_request request = {.headers = HEADERS, .header_count = COUNT(HEADERS)};
        struct fetch_response response =
            travel(fixture, redirect_to(fixture, 307, CASES[i].target), request);
        assert_failure(response, FETCH_OK);
        assert_int_equal(response.redirects, CASES[i].redirects);
        assert_non_null(strstr(response.body, "X-Plain: plain-value"));
        assert_int_equal(strstr(response.body, "X-Key: secret-value") != NULL, CASES[i].kept);
        assert_int_equal(strstr(response.body, "Authorization: ") != NULL, CASES[i].kept);
        assert_int_equal(strstr(response.body, "secret-value") != NULL, CASES[i].kept);
    }
    forget_connections(fixture);
    loopback_stop(other);
}

static void cookies_live_as_long_as_the_walk(void **state)
{
    struct fixture *fixture = *state;
    open_hosts(fixture, "127.0.0.0/8");
    struct fetch_response response =
        travel(fixture, url_to(fixture, "127.0.0.1", "/set-cookie"), (struct fetch_request){0});
    assert_non_null(strstr(response.body, "Cookie: taste=sweet"));
    response = travel(fixture, url_to(fixture, "127.0.0.1", "/echo"), (struct fetch_request){0});
    assert_null(strstr(response.body, "taste"));
    assert_int_equal(loopback_connections(fixture->open), 1);
}

/* ---- where it may lead ---- */

static void the_policy_begins_where_the_operators_address_ends(void **state)
{
    struct fixture *fixture = *state;
    struct fetch_request request = {0};
    open_hosts(fixture, NULL);
    assert_failure(walk(fixture, redirect_to(fixture, 302, "/plain"), request, true), FETCH_OK);
    struct fetch_response response =
        walk(fixture, redirect_to(fixture, 302, elsewhere(fixture, "/plain")), request, true);
    assert_failure(response, FETCH_FORBIDDEN);
    assert_int_equal(response.redirects, 1);
    assert_int_equal(loopback_connections(fixture->closed), 0);
    response = travel(fixture, redirect_to(fixture, 302, "/plain"), request);
    assert_failure(response, FETCH_FORBIDDEN);
    assert_int_equal(response.redirects, 0);
}

static void the_policy_is_asked_on_every_hop(void **state)
{
    struct fixture *fixture = *state;
    open_hosts(fixture, "a.at-127-0-0-1.test");
    for (size_t i = 0; i < COUNT(PRIVATE_HOSTS); i++) {
        const char *url = redirect_to(fixture, 302, url_to(fixture, PRIVATE_HOSTS[i], "/plain"));
        bool opened = strcmp(PRIVATE_HOSTS[i], "a.at-127-0-0-1.test") == 0;
        assert_failure(travel(fixture, url, (struct fetch_request){0}),
                       opened ? FETCH_OK : FETCH_FORBIDDEN);
    }
    /* All that ever connected is the one host that was opened. */
    assert_int_equal(loopback_connections(fixture->open), 1);
    struct fetch_response response =
        travel(fixture, redirect_to(fixture, 302, elsewhere(fixture, "/plain")),
               (struct fetch_request){0});
    assert_failure(response, FETCH_FORBIDDEN);
    assert_string_equal(response.error, ELSEWHERE ": the address is not allowed");
    assert_int_equal(response.status, 0);
    assert_int_equal(loopback_connections(fixture->closed), 0);
}

static void redirects_end(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *target;
        enum fetch_failure failure;
        int redirects;
    } CASES[] = {
        {"/loop", FETCH_REDIRECTS, LIMIT_FETCH_REDIRECTS},
        {"ftp://a.test/", FETCH_REDIRECTS, 0},
        {"file:///etc/passwd", FETCH_REDIRECTS, 0},
        {"gopher://127.0.0.1/", FETCH_REDIRECTS, 0},
        {"javascript:alert(1)", FETCH_REDIRECTS, 0},
        {"http://u:p@127.0.0.1/", FETCH_REDIRECTS, 0},
        {"http://", FETCH_REDIRECTS, 0},
        {"data:,x", FETCH_REDIRECTS, 0},
        {"http://[", FETCH_REDIRECTS, 0},
        {"/no-location", FETCH_OK, 1},
        {"/redirect-endless", FETCH_OK, 2},
        {"/nothing", FETCH_BROKEN, 1},
    };
    open_hosts(fixture, "127.0.0.0/8");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_request request = {.max_body_bytes = KIB(64)};
        struct fetch_response response =
            travel(fixture, redirect_to(fixture, 302, CASES[i].target), request);
        assert_failure(response, CASES[i].failure);
        assert_int_equal(response.redirects, CASES[i].redirects);
    }
}

static void a_body_is_not_sent_on(void **state)
{
    struct fixture *fixture = *state;
    struct fetch_request request = {.body = "{}", .body_length = 2};
    open_hosts(fixture, "127.0.0.0/8");
    struct fetch_response response = travel(fixture, redirect_to(fixture, 307, "/echo"), request);
    assert_failure(response, FETCH_OK);
    assert_int_equal(response.status, 307);
}

UNIT_TEST(redirects)
{
    const struct CMUnitTest tests[] = {
        TEST(follows_redirects),
        TEST(credentials_stay_with_their_origin),
        TEST(cookies_live_as_long_as_the_walk),
        TEST(the_policy_begins_where_the_operators_address_ends),
        TEST(the_policy_is_asked_on_every_hop),
        TEST(redirects_end),
        TEST(a_body_is_not_sent_on),
    };
    forget_proxies();
    line_init(&line, NULL, NULL, 6);
    return cmocka_run_group_tests_name("redirects", tests, NULL, NULL);
}
