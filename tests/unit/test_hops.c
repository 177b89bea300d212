/* Redirects hop by hop: where they may lead, and what is carried there. */
#include "fetch_fixture.h"

#include "config/config.h"
#include "guard/policy.h"
#include "page/source/hops.h"

#define ELSEWHERE "a.at-127-0-0-66.test"

static struct line hosts;

/* Opens these hosts; NULL opens none. */
static void open_hosts(const char *names)
{
    char setting[200], problem[200];
    struct buf problems;
    snprintf(setting, sizeof setting, "FORAGE_ALLOW_PRIVATE_HOSTS=%s", names ? names : "");
    char *environment[] = {setting, NULL};
    buf_init(&problems, KIB(4));
    assert_int_equal(config_load(environment, NULL, &problems), OK);
    buf_done(&problems);
    assert_int_equal(policy_load(problem, sizeof problem), OK);
}

static struct fetch_response travel(struct fixture *fixture, const char *url,
                                    struct hops_request request)
{
    struct fetch_response response;
    assert_int_equal(url_parse(call_arena(fixture->call), url, &request.url, NULL), OK);
    request.timeout_ms = 30000;
    int status = hops_run(fixture->call, &hosts, &request, &response);
    assert_int_equal(status, response.failure == FETCH_OK ? OK : ERR_FAILED);
    return response;
}

static const char *elsewhere(struct fixture *fixture, const char *path)
{
    return arena_printf(call_arena(fixture->call), "http://" ELSEWHERE ":%d%s",
                        fixture->closed->port, path);
}

/* ---- what is carried ---- */

static const struct fetch_header HEADERS[] = {
    {"X-Plain", "plain-value", false},
    {"X-Key", "secret-value", true},
    {"Authorization", "Bearer secret-value", false},
    {"Cookie", "session=secret-value", false},
};

static void credentials_stay_with_their_origin(void **state)
{
    struct fixture *fixture = *state;
    struct hops_request request = {.headers = HEADERS, .header_count = COUNT(HEADERS)};
    open_hosts("127.0.0.0/8");
    struct fetch_response near = travel(fixture, redirect_to(fixture, 302, "/echo"), request);
    assert_failure(near, FETCH_OK);
    assert_int_equal(near.redirects, 1);
    assert_non_null(strstr(near.body, "X-Key: secret-value"));
    assert_non_null(strstr(near.body, "Authorization: Bearer secret-value"));
    struct fetch_response far =
        travel(fixture, redirect_to(fixture, 302, elsewhere(fixture, "/echo")), request);
    assert_failure(far, FETCH_OK);
    assert_string_equal(far.url, elsewhere(fixture, "/echo"));
    assert_non_null(strstr(far.body, "X-Plain: plain-value"));
    assert_null(strstr(far.body, "secret-value"));
}

static void credentials_do_not_come_back(void **state)
{
    struct fixture *fixture = *state;
    struct hops_request request = {.headers = HEADERS, .header_count = COUNT(HEADERS)};
    struct buf back;
    open_hosts("127.0.0.0/8");
    buf_init(&back, KIB(4));
    const char *home = url_to(fixture, "a.at-127-0-0-1.test", "/echo");
    buf_puts(&back, "/redirect/302/");
    url_encode(&back, home, strlen(home));
    struct fetch_response response =
        travel(fixture, redirect_to(fixture, 302, elsewhere(fixture, back.data)), request);
    buf_done(&back);
    assert_failure(response, FETCH_OK);
    assert_string_equal(response.url, home);
    assert_int_equal(response.redirects, 2);
    assert_null(strstr(response.body, "secret-value"));
}

/* ---- where it may lead ---- */

static void the_policy_begins_where_the_operators_address_ends(void **state)
{
    struct fixture *fixture = *state;
    struct hops_request request = {.configured = true};
    open_hosts(NULL);
    assert_failure(travel(fixture, redirect_to(fixture, 302, "/plain"), request), FETCH_OK);
    struct fetch_response response =
        travel(fixture, redirect_to(fixture, 302, elsewhere(fixture, "/plain")), request);
    assert_failure(response, FETCH_FORBIDDEN);
    assert_int_equal(response.redirects, 1);
    assert_int_equal(loopback_connections(fixture->closed), 0);
    request.configured = false;
    response = travel(fixture, redirect_to(fixture, 302, "/plain"), request);
    assert_failure(response, FETCH_FORBIDDEN);
    assert_int_equal(response.redirects, 0);
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
        {"http://[", FETCH_REDIRECTS, 0},
        {"/no-location", FETCH_OK, 1},
        {"/redirect-endless", FETCH_OK, 2},
        {"/nothing", FETCH_BROKEN, 1},
    };
    open_hosts("127.0.0.0/8");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct hops_request request = {.max_bytes = KIB(64)};
        struct fetch_response response =
            travel(fixture, redirect_to(fixture, 302, CASES[i].target), request);
        assert_failure(response, CASES[i].failure);
        assert_int_equal(response.redirects, CASES[i].redirects);
    }
}

static void a_body_is_not_sent_on(void **state)
{
    struct fixture *fixture = *state;
    struct hops_request request = {.body = "{}", .body_length = 2};
    open_hosts("127.0.0.0/8");
    struct fetch_response response = travel(fixture, redirect_to(fixture, 307, "/echo"), request);
    assert_failure(response, FETCH_OK);
    assert_int_equal(response.status, 307);
}

static int make_line(void **state)
{
    (void)state;
    line_init(&hosts, 6);
    return 0;
}

static int drop_line(void **state)
{
    (void)state;
    line_done(&hosts);
    policy_unload();
    config_unload();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(credentials_stay_with_their_origin),
        TEST(credentials_do_not_come_back),
        TEST(the_policy_begins_where_the_operators_address_ends),
        TEST(redirects_end),
        TEST(a_body_is_not_sent_on),
    };
    forget_proxies();
    return cmocka_run_group_tests_name("hops", tests, make_line, drop_line);
}
