/* What comes of an answer: block pages, limits and failures of open sources, and how long each of
 * them rests. */
#include "unit.h"

#include "config/config.h"
#include "core/status.h"
#include "websearch/judge.h"

#include <string.h>

#define SECOND 1000LL
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

static const char *const OWN_WALLS[] = {"anomaly-modal", "challenge-form", NULL};
static const struct source_terms TERMS = {.walls = OWN_WALLS, .wall_status = 202};
static const struct provider SOURCE = {
    .name = "source", .title = "Source", .base_variable = "PARALLEL_BASE_URL", .open = &TERMS};
static const struct provider PROVIDER = {.name = "provider",
                                         .title = "Provider",
                                         .base_variable = "EXA_BASE_URL",
                                         .key_variable = "EXA_API_KEY"};

#define CHALLENGE "<html><script>window._cf_chl_opt={cv:'2'};a='__cf_chl_tk'</script>"
#define PLATFORM  "<html><script src='/cdn-cgi/challenge-platform/h/b/orchestrate'></script>"
#define FIREWALL  "<html><span class=\"cf-error-code\">1020</span>"
#define RECAPTCHA "<html><script src=\"https://www.google.com/recaptcha/api.js\"></script>"
#define CAPTCHA   "<html><form action=\"/sorry\">Please solve this CAPTCHA</form>"

static const struct {
    int status;
    const char *server, *retry_after, *body;
    enum route_outcome outcome;
    long long rest_ms;
} CASES[] = {
    {200, NULL, NULL, "{}", ROUTE_ANSWERED, 0},
    {200, "cloudflare", NULL, "{}", ROUTE_ANSWERED, 0},
    {202, NULL, NULL, "<html>", ROUTE_BLOCKED, HOUR},
    {202, NULL, NULL, "", ROUTE_BLOCKED, HOUR},
    {403, NULL, NULL, "no", ROUTE_BLOCKED, 180 * SECOND},
    {401, NULL, NULL, "no", ROUTE_BLOCKED, 180 * SECOND},
    {403, NULL, "60", "no", ROUTE_BLOCKED, 60 * SECOND},
    {403, "cloudflare", NULL, CHALLENGE, ROUTE_BLOCKED, 15 * DAY},
    {503, "cloudflare", NULL, PLATFORM, ROUTE_BLOCKED, 15 * DAY},
    {403, "Cloudflare-nginx", NULL, PLATFORM, ROUTE_BLOCKED, 15 * DAY},
    {403, "nginx", NULL, CHALLENGE, ROUTE_BLOCKED, 180 * SECOND},
    {403, "cloudflare", NULL, FIREWALL, ROUTE_BLOCKED, DAY},
    {403, "cloudflare", NULL, "{\"detail\":\"__cf_chl\"}", ROUTE_BLOCKED, 180 * SECOND},
    {503, NULL, NULL, RECAPTCHA, ROUTE_BLOCKED, 7 * DAY},
    {403, NULL, NULL, RECAPTCHA, ROUTE_BLOCKED, HOUR}, /* a CAPTCHA like others */
    {429, NULL, NULL, CAPTCHA, ROUTE_BLOCKED, HOUR},
    {403, NULL, NULL, "<div id=\"anomaly-modal\">", ROUTE_BLOCKED, HOUR},
    {500, NULL, NULL, "\n <form id='challenge-form'>", ROUTE_BLOCKED, HOUR},
    {429, NULL, NULL, "{}", ROUTE_RATE_LIMITED, 180 * SECOND},
    {429, NULL, "7", "{}", ROUTE_RATE_LIMITED, 7 * SECOND},
    {429, NULL, "999999999", "{}", ROUTE_RATE_LIMITED, DAY},
    {429, NULL, "soon", "{}", ROUTE_RATE_LIMITED, 180 * SECOND},
    {429, NULL, NULL, "{\"q\":\"captcha\"}", ROUTE_RATE_LIMITED, 180 * SECOND},
    {402, NULL, NULL, "{}", ROUTE_OUT_OF_QUOTA, 180 * SECOND},
    {500, NULL, NULL, "{}", ROUTE_SERVER_ERROR, 5 * SECOND},
    {503, NULL, "30", "{}", ROUTE_SERVER_ERROR, 30 * SECOND},
    {301, NULL, NULL, "", ROUTE_BLOCKED, 0},
    {404, NULL, NULL, "{}", ROUTE_BLOCKED, 0},
    {400, NULL, NULL, "{}", ROUTE_REFUSED, 0},
    {422, NULL, NULL, "{}", ROUTE_REFUSED, 0},
};

static void load_settings(char *setting)
{
    char *environment[] = {setting, NULL};
    struct buf problem;
    buf_init(&problem, 10000);
    assert_int_equal(config_load(environment, NULL, &problem), OK);
    buf_done(&problem);
}

static void answers_of_open_sources_are_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_header headers[2];
        size_t count = 0;
        if (CASES[i].server) {
            headers[count++] = (struct fetch_header){.name = "Server", .value = CASES[i].server};
        }
        if (CASES[i].retry_after) {
            headers[count++] =
                (struct fetch_header){.name = "Retry-After", .value = CASES[i].retry_after};
        }
        struct fetch_response response = {.status = CASES[i].status,
                                          .headers = headers,
                                          .header_count = count,
                                          .body = CASES[i].body,
                                          .body_length = strlen(CASES[i].body)};
        struct route_verdict verdict = route_judge(&SOURCE, &response);
        if (verdict.outcome != CASES[i].outcome || verdict.rest_ms != CASES[i].rest_ms) {
            fail_msg("case %zu: outcome %d, rest %lld", i, (int)verdict.outcome,
                     (long long)verdict.rest_ms);
        }
        assert_int_equal(route_judge(&PROVIDER, &response).rest_ms, 0);
        assert_true(route_judge(&PROVIDER, &response).outcome != ROUTE_BLOCKED);
    }
}

static void failures_of_open_sources_rest_for_a_moment(void **state)
{
    (void)state;
    static const struct {
        enum fetch_failure failure;
        enum route_outcome outcome;
        long long rest_ms;
    } FAILED[] = {
        {FETCH_TIMEOUT, ROUTE_TIMEOUT, 5 * SECOND}, {FETCH_CONNECT, ROUTE_NETWORK, 5 * SECOND},
        {FETCH_TLS, ROUTE_NETWORK, 5 * SECOND},     {FETCH_BROKEN, ROUTE_NETWORK, 5 * SECOND},
        {FETCH_TOO_LARGE, ROUTE_UNREADABLE, 0},
    };
    for (size_t i = 0; i < COUNT(FAILED); i++) {
        struct fetch_response response = {.failure = FAILED[i].failure, .body = ""};
        struct route_verdict verdict = route_judge(&SOURCE, &response);
        assert_int_equal(verdict.outcome, FAILED[i].outcome);
        assert_int_equal(verdict.rest_ms, FAILED[i].rest_ms);
        assert_int_equal(route_judge(&PROVIDER, &response).rest_ms, 0);
    }
}

static void what_cannot_be_read_is_a_block(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool readable;
        enum route_outcome outcome;
        long long rest_ms;
    } EMPTY[] = {
        {"<html>Changed", false, ROUTE_BLOCKED, 0},
        {"", false, ROUTE_BLOCKED, 0},
        {CAPTCHA, false, ROUTE_BLOCKED, HOUR},
        {"<div class=\"anomaly-modal\">", false, ROUTE_BLOCKED, HOUR},
        {"<div class=\"anomaly-modal\">", true, ROUTE_BLOCKED, HOUR},
        {"<html>No results for captcha", true, ROUTE_ANSWERED, 0},
        {"{\"results\":[]}", true, ROUTE_ANSWERED, 0},
    };
    for (size_t i = 0; i < COUNT(EMPTY); i++) {
        struct fetch_response response = {
            .status = 200, .body = EMPTY[i].body, .body_length = strlen(EMPTY[i].body)};
        struct route_verdict verdict = route_judge_empty(&SOURCE, &response, EMPTY[i].readable);
        assert_int_equal(verdict.outcome, EMPTY[i].outcome);
        assert_int_equal(verdict.rest_ms, EMPTY[i].rest_ms);
        verdict = route_judge_empty(&PROVIDER, &response, EMPTY[i].readable);
        assert_int_equal(verdict.outcome, EMPTY[i].readable ? ROUTE_ANSWERED : ROUTE_UNREADABLE);
    }
}

/* Where the operator gave an address, a wrong one is told, and not taken for a block. */
static void an_address_of_the_operator_is_named(void **state)
{
    (void)state;
    char setting[] = "PARALLEL_BASE_URL=http://127.0.0.1:9";
    load_settings(setting);
    struct fetch_response response = {.status = 404, .body = ""};
    assert_int_equal(route_judge(&SOURCE, &response).outcome, ROUTE_MISSING);
    load_settings(NULL);
    assert_int_equal(route_judge(&SOURCE, &response).outcome, ROUTE_BLOCKED);
}

static int without_settings(void **state)
{
    (void)state;
    load_settings(NULL);
    return 0;
}

UNIT_TEST(judge)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_of_open_sources_are_judged),
        cmocka_unit_test(failures_of_open_sources_rest_for_a_moment),
        cmocka_unit_test(what_cannot_be_read_is_a_block),
        cmocka_unit_test(an_address_of_the_operator_is_named),
    };
    return cmocka_run_group_tests(tests, without_settings, NULL);
}
