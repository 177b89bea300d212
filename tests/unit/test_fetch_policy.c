/* Where a fetch may go: the address policy on every connection, and proxies. */
#include "fetch_fixture.h"
#include "unit.h"

/* ---- the policy ---- */

static int forbid_66(void *context, const char *host, const struct sockaddr *address)
{
    int *asked = context;
    struct sockaddr_in ipv4;
    (void)host;
    memcpy(&ipv4, address, sizeof ipv4);
    if (asked) {
        (*asked)++;
    }
    return ipv4.sin_addr.s_addr == inet_addr("127.0.0.66") ? ERR_INVALID : OK;
}

static void asks_the_policy(void **state)
{
    struct fixture *fixture = *state;
    int asked = 0;
    char target[200];
    snprintf(target, sizeof target, "http://x.at-127-0-0-66.test:%d/plain", fixture->closed->port);
    struct fetch_request request = {.allow = forbid_66, .allow_context = &asked};
    struct fetch_response response = run(fixture, request, target);
    assert_failure(response, FETCH_FORBIDDEN);
    assert_string_equal(response.error, "x.at-127-0-0-66.test: the address is not allowed");
    assert_int_equal(response.status, 0);
    assert_int_equal(asked, 1);
    /* Seen from the target's side. */
    assert_int_equal(loopback_connections(fixture->closed), 0);
    /* One address that is forbidden is enough, wherever it stands. */
    assert_failure(run(fixture, request, url_to(fixture, "mixed.test", "/plain")), FETCH_FORBIDDEN);
    assert_int_equal(loopback_connections(fixture->open), 0);
    /* Once for each address when resolved, then when connecting and before sending. */
    asked = 0;
    assert_failure(run(fixture, request, url_to(fixture, "a.at-127-0-0-1.test", "/plain")),
                   FETCH_OK);
    assert_int_equal(asked, 3);
    assert_int_equal(loopback_connections(fixture->open), 1);
    request.allow = NULL;
    assert_failure(run(fixture, request, target), FETCH_OK);
    assert_int_equal(loopback_connections(fixture->closed), 1);
}

static void public_addresses_only(void **state)
{
    struct fixture *fixture = *state;
    struct fetch_request request = {.allow = policy_allow};
    for (size_t i = 0; i < COUNT(PRIVATE_HOSTS); i++) {
        assert_failure(run(fixture, request, url_to(fixture, PRIVATE_HOSTS[i], "/plain")),
                       FETCH_FORBIDDEN);
    }
    assert_int_equal(loopback_connections(fixture->open), 0);
}

/* A policy that changes its mind stands for an address that was never checked. */
static int allow_once(void *context, const char *host, const struct sockaddr *address)
{
    int *left = context;
    (void)host;
    (void)address;
    return (*left)-- > 0 ? OK : ERR_INVALID;
}

static void asks_again_before_connecting(void **state)
{
    struct fixture *fixture = *state;
    int left = 1;
    struct fetch_request request = {.allow = allow_once, .allow_context = &left};
    assert_failure(get(fixture, request, "/plain"), FETCH_FORBIDDEN);
    assert_int_equal(loopback_connections(fixture->open), 0);
}

/* A connection that was opened without a policy is not used for a request that has one, even when
 * the name now has an address that is allowed. */
static void asks_again_on_used_connections(void **state)
{
    struct fixture *fixture = *state;
    fake_names_switch("127.0.0.1");
    struct fetch_request request = {0};
    const char *url = url_to(fixture, "switch.test", "/echo");
    assert_failure(run(fixture, request, url), FETCH_OK);
    fake_names_switch("192.0.2.1");
    struct policy *policy = policy_new("192.0.2.1", NULL, 0);
    request.allow = policy_allow;
    request.allow_context = policy;
    assert_failure(run(fixture, request, url), FETCH_FORBIDDEN);
    policy_free(policy);
}

/* What was resolved is what is connected to, whatever the name means a moment later. */
static void pins_what_was_checked(void **state)
{
    struct fixture *fixture = *state;
    fake_names_switch("127.0.0.1");
    struct fetch_request request = {0};
    int before = fake_names_count();
    assert_failure(run(fixture, request, url_to(fixture, "switch.test", "/plain")), FETCH_OK);
    assert_int_equal(fake_names_count(), before + 1);
    forget_connections(fixture);
    fake_names_switch("127.0.0.66");
    const char *other = arena_printf(call_arena(fixture->call), "http://switch.test:%d/plain",
                                     fixture->closed->port);
    assert_failure(run(fixture, request, other), FETCH_OK);
    assert_int_equal(loopback_connections(fixture->closed), 1);
}

/* ---- proxies ---- */

static void chooses_the_proxy(void **state)
{
    struct fixture *fixture = *state;
    char proxy[100];
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", fixture->open->port);
    static const struct {
        const char *variable;
        const char *except;
        bool used;
    } CASES[] = {
        {"http_proxy", NULL, true},          {"all_proxy", NULL, true},
        {"ALL_PROXY", NULL, true},           {"HTTP_PROXY", NULL, false},
        {"https_proxy", NULL, false},        {"HTTPS_PROXY", NULL, false},
        {"http_proxy", "*", false},          {"http_proxy", "other.test", true},
        {"http_proxy", "test", false},       {"http_proxy", ".test", false},
        {"http_proxy", "est", true},         {"http_proxy", "a, x.TEST. b", true},
        {"http_proxy", "a, 66.test", true},  {"http_proxy", "x.at-127-0-0-66.test", false},
        {"http_proxy", "127.0.0.0/8", true}, {"http_proxy", "", true},
    };
    const char *target = arena_printf(call_arena(fixture->call),
                                      "http://x.at-127-0-0-66.test:%d/echo", fixture->closed->port);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        setenv(CASES[i].variable, proxy, 1);
        if (CASES[i].except) {
            setenv("no_proxy", CASES[i].except, 1);
        }
        struct fetch_response response = run(fixture, (struct fetch_request){0}, target);
        unsetenv(CASES[i].variable);
        unsetenv("no_proxy");
        assert_failure(response, FETCH_OK);
        bool used = strncmp(response.body, "GET http://x.at-127-0-0-66.test:", 32) == 0;
        if (used != CASES[i].used) {
            fail_msg("%s with no_proxy \"%s\"", CASES[i].variable,
                     CASES[i].except ? CASES[i].except : "");
        }
    }
}

static void exempts_ranges_from_the_proxy(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *except;
        bool used;
    } CASES[] = {
        {"127.0.0.66", false},    {"127.0.0.67", true},    {"127.0.0.0/8", false},
        {"127.0.0.64/29", false}, {"127.0.0.72/29", true}, {"127.0.0.66/33", true},
        {"::/0", true},           {"126.0.0.0/7", false},
    };
    char proxy[100];
    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%d", fixture->open->port);
    const char *target =
        arena_printf(call_arena(fixture->call), "http://127.0.0.66:%d/echo", fixture->closed->port);
    setenv("http_proxy", proxy, 1);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        setenv("NO_PROXY", CASES[i].except, 1);
        struct fetch_response response = run(fixture, (struct fetch_request){0}, target);
        assert_failure(response, FETCH_OK);
        assert_int_equal(strncmp(response.body, "GET http://127", 14) == 0, CASES[i].used);
    }
    unsetenv("NO_PROXY");
    unsetenv("http_proxy");
}

/* Through a proxy the target is resolved and checked first, and the proxy gets the address; the
 * proxy itself may be anywhere. */
static void checks_the_target_behind_a_proxy(void **state)
{
    struct fixture *fixture = *state;
    char proxy[100];
    snprintf(proxy, sizeof proxy, "http://127.0.0.66:%d", fixture->closed->port);
    setenv("http_proxy", proxy, 1);
    struct fetch_request request = {.allow = forbid_66};
    assert_failure(run(fixture, request, "http://a.at-127-0-0-66.test/echo"), FETCH_FORBIDDEN);
    assert_failure(run(fixture, request, "http://nothing.test/echo"), FETCH_NO_NAME);
    assert_int_equal(loopback_connections(fixture->closed), 0);
    struct fetch_response response = run(fixture, request, "http://a.at-192-0-2-1.test/echo");
    assert_failure(response, FETCH_OK);
    assert_string_equal(last_tunnel, "192.0.2.1:80");
    assert_memory_equal(response.body, "GET /echo HTTP/1.1\r\nHost: a.at-192-0-2-1.test\r\n", 46);
    /* Of two it is the one of IPv4. */
    assert_failure(run(fixture, request, "http://two.test:81/echo"), FETCH_OK);
    assert_string_equal(last_tunnel, "127.0.0.1:81");
    /* Without a policy the proxy resolves. */
    request.allow = NULL;
    assert_failure(run(fixture, request, "http://nothing.test/echo"), FETCH_OK);
    assert_memory_equal(run(fixture, request, "http://nothing.test/echo").body,
                        "GET http://nothing.test/echo", 28);
    unsetenv("http_proxy");
}

/* Where the operator says so, the proxy gets names: those that we do not know, and those whose
 * addresses we may reach. */
static void sends_names_to_the_proxy(void **state)
{
    struct fixture *fixture = *state;
    char proxy[100];
    snprintf(proxy, sizeof proxy, "http://127.0.0.66:%d", fixture->closed->port);
    setenv("http_proxy", proxy, 1);
    net_free(fixture->parts.net);
    fixture->parts.net = net_new(true);
    struct fetch_request request = {.allow = forbid_66};
    assert_failure(run(fixture, request, "http://a.at-127-0-0-66.test/echo"), FETCH_FORBIDDEN);
    assert_failure(run(fixture, request, "http://127.0.0.66/echo"), FETCH_FORBIDDEN);
    assert_memory_equal(run(fixture, request, "http://nothing.test/echo").body,
                        "GET http://nothing.test/echo", 28);
    assert_memory_equal(run(fixture, request, "http://a.at-192-0-2-1.test/echo").body,
                        "GET http://a.at-192-0-2-1.test/echo", 35);
    unsetenv("http_proxy");
}

UNIT_TEST(fetch_policy)
{
    const struct CMUnitTest tests[] = {
        TEST(asks_the_policy),
        TEST(public_addresses_only),
        TEST(asks_again_before_connecting),
        TEST(asks_again_on_used_connections),
        TEST(pins_what_was_checked),
        TEST(chooses_the_proxy),
        TEST(exempts_ranges_from_the_proxy),
        TEST(checks_the_target_behind_a_proxy),
        TEST(sends_names_to_the_proxy),
    };
    forget_proxies();
    return cmocka_run_group_tests_name("fetch_policy", tests, NULL, NULL);
}
