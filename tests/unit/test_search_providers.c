/* Providers: what each is asked, in its own terms, how its answers are read, and how failures are
 * judged. */
#include "search_cases.h"
#include "unit.h"

#include "websearch/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- requests ---- */

static void each_is_asked_in_its_own_terms(void **state)
{
    (void)state;
    static const struct asked_case CASES[] = {
        {&PROVIDER_SERPER, SEARCH_WEB,
         "/search {\"q\":\"a \\\"b\\\" (site:a.org OR site:b.org) -site:c.org\",\"num\":5,\"gl\":"
         "\"de\",\"hl\":\"pt-br\",\"tbs\":\"cdr:1,cd_min:01/31/2026,cd_max:02/28/"
         "2026\",\"page\":2}",
         "", 0},
        {&PROVIDER_SERPER, SEARCH_SCHOLAR,
         "/scholar {\"q\":\"a \\\"b\\\" (site:a.org OR site:b.org) -site:c.org\",\"num\":5,\"gl\":"
         "\"de\",\"hl\":\"pt-br\",\"page\":2}",
         "freshness and dates", 0},
        {&PROVIDER_TAVILY, SEARCH_WEB,
         "/search {\"query\":\"a \\\"b\\\"\",\"max_results\":10,\"search_depth\":\"basic\","
         "\"topic\":\"general\",\"start_date\":\"2026-01-31\",\"end_date\":\"2026-02-28\","
         "\"country\":\"germany\",\"include_domains\":[\"a.org\",\"b.org\"],\"exclude_domains\":["
         "\"c.org\"]}",
         "language", 5},
        {&PROVIDER_TAVILY, SEARCH_NEWS,
         "/search {\"query\":\"a \\\"b\\\"\",\"max_results\":10,\"search_depth\":\"basic\","
         "\"topic\":\"news\",\"start_date\":\"2026-01-31\",\"end_date\":\"2026-02-28\","
         "\"include_domains\":[\"a.org\",\"b.org\"],\"exclude_domains\":[\"c.org\"]}",
         "region,language", 5},
        {&PROVIDER_SEARXNG, SEARCH_SCHOLAR,
         "/search?format=json&q=a%20%22b%22%20%28site%3Aa.org%20OR%20site%3Ab.org%29%20-site%3Ac."
         "org&categories=science&language=pt-BR&pageno=2",
         "start_date and end_date", 0},
        {&PROVIDER_BRAVE, SEARCH_WEB,
         "/web/search?q=a%20%22b%22%20%28site%3Aa.org%20OR%20site%3Ab.org%29%20-site%3Ac.org&count="
         "5&offset=1&country=DE&search_lang=pt-br&freshness=2026-01-31to2026-02-28&text_"
         "decorations=false&result_filter=web",
         "", 0},
        {&PROVIDER_BRAVE, SEARCH_IMAGES,
         "/images/search?q=a%20%22b%22%20%28site%3Aa.org%20OR%20site%3Ab.org%29%20-site%3Ac.org&"
         "count=10&country=DE&search_lang=pt-br",
         "freshness and dates", 5},
        {&PROVIDER_EXA, SEARCH_SCHOLAR,
         "/search {\"query\":\"a \\\"b\\\"\",\"numResults\":10,\"category\":\"publication\","
         "\"startPublishedDate\":\"2026-01-31T00:00:00.000Z\",\"endPublishedDate\":\"2026-02-28T23:"
         "59:59.999Z\",\"userLocation\":\"DE\",\"includeDomains\":[\"a.org\",\"b.org\"],"
         "\"excludeDomains\":[\"c.org\"],\"contents\":{\"text\":{\"maxCharacters\":500}}}",
         "language", 5},
    };
    check_asked(CASES, COUNT(CASES), demanding("a \"b\""));
}

static void little_is_sent_for_a_plain_search(void **state)
{
    (void)state;
    static const struct asked_case CASES[] = {
        {&PROVIDER_SERPER, SEARCH_WEB, "/search {\"q\":\"fish\",\"num\":3}", "", 0},
        {&PROVIDER_TAVILY, SEARCH_WEB,
         "/search {\"query\":\"fish\",\"max_results\":3,\"search_depth\":"
         "\"basic\",\"topic\":\"general\"}",
         "", 0},
        {&PROVIDER_SEARXNG, SEARCH_WEB, "/search?format=json&q=fish&categories=general", "", 0},
        {&PROVIDER_BRAVE, SEARCH_WEB,
         "/web/search?q=fish&count=3&text_decorations=false&result_filter=web", "", 0},
        {&PROVIDER_EXA, SEARCH_WEB,
         "/search {\"query\":\"fish\",\"numResults\":3,\"contents\":{\"text\":{"
         "\"maxCharacters\":500}}}",
         "", 0},
    };
    check_asked(CASES, COUNT(CASES), plain(SEARCH_WEB, "fish"));
}

static void freshness_has_a_word_everywhere(void **state)
{
    (void)state;
    static const struct {
        const struct provider *provider;
        enum search_freshness freshness;
        const char *word;
    } CASES[] = {
        {&PROVIDER_SERPER, FRESH_DAY, "\"tbs\":\"qdr:d\""},
        {&PROVIDER_SERPER, FRESH_YEAR, "\"tbs\":\"qdr:y\""},
        {&PROVIDER_TAVILY, FRESH_WEEK, "\"time_range\":\"week\""},
        {&PROVIDER_SEARXNG, FRESH_MONTH, "&time_range=month"},
        {&PROVIDER_BRAVE, FRESH_MONTH, "&freshness=pm"},
        {&PROVIDER_EXA, FRESH_YEAR, "\"startPublishedDate\":\"20"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = {
            .text = "fish", .count = 3, .page = 1, .freshness = CASES[i].freshness};
        struct provider_request request = build(CASES[i].provider, &query);
        assert_non_null(strstr(sent(&request), CASES[i].word));
        assert_int_equal(request.left_out.count, 0);
    }
}

static void keys_go_into_headers_and_are_secret(void **state)
{
    (void)state;
    struct search_query query = {.text = "fish", .count = 3, .page = 1};
    static const struct {
        const struct provider *provider;
        const char *header, *value;
    } CASES[] = {
        {&PROVIDER_SERPER, "X-API-KEY", "the-key"},
        {&PROVIDER_TAVILY, "Authorization", "Bearer the-key"},
        {&PROVIDER_BRAVE, "X-Subscription-Token", "the-key"},
        {&PROVIDER_EXA, "x-api-key", "the-key"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct provider_request request = build(CASES[i].provider, &query);
        bool found = false;
        for (size_t j = 0; j < request.header_count; j++) {
            const struct fetch_header *header = &request.headers[j];
            if (strcmp(header->name, CASES[i].header) == 0) {
                assert_string_equal(header->value, CASES[i].value);
                assert_true(header->secret);
                found = true;
            } else {
                assert_null(strstr(header->value, "the-key"));
            }
        }
        assert_true(found);
        assert_null(strstr(sent(&request), "the-key"));
    }
}

/* A page beyond what a provider gives is said, not silently another one. */
static void pages_are_counted_where_there_are_none(void **state)
{
    (void)state;
    struct search_query query = {.text = "fish", .count = 15, .page = 2};
    struct provider_request request = build(&PROVIDER_TAVILY, &query);
    assert_int_equal(request.skip, 15);
    assert_non_null(strstr(sent(&request), "\"max_results\":20"));
    assert_string_equal(left_out(&request), "page");
    request = build(&PROVIDER_EXA, &query);
    assert_int_equal(request.skip, 15);
    assert_non_null(strstr(sent(&request), "\"numResults\":30"));
}

static void long_queries_are_cut_where_they_must(void **state)
{
    (void)state;
    struct search_query query = plain(SEARCH_WEB, long_text());
    struct provider_request request = build(&PROVIDER_TAVILY, &query);
    assert_string_equal(left_out(&request), "query");
    assert_in_range(strlen(request.body), 350, 520);
    request = build(&PROVIDER_BRAVE, &query);
    assert_string_equal(left_out(&request), "query");
    request = build(&PROVIDER_SERPER, &query);
    assert_string_equal(left_out(&request), "");
}

static void unknown_countries_and_languages_are_said(void **state)
{
    (void)state;
    struct search_query query = {
        .text = "fish", .count = 3, .page = 1, .region = "AQ", .language = "xx"};
    struct provider_request request = build(&PROVIDER_BRAVE, &query);
    assert_string_equal(left_out(&request), "region,language");
    request = build(&PROVIDER_TAVILY, &query);
    assert_string_equal(left_out(&request), "region,language");
    query.language = NULL;
    request = build(&PROVIDER_SEARXNG, &query);
    assert_string_equal(left_out(&request), "region");
    static const char *const LANGUAGES[][2] = {
        {"ja", "jp"},       {"zh", "zh-hans"},    {"zh-TW", "zh-hant"}, {"pt", "pt-pt"},
        {"pt-PT", "pt-pt"}, {"pt-BR", "pt-br"},   {"en-US", "en"},      {"en-GB", "en-gb"},
        {"no", "nb"},       {"zh-CN", "zh-hans"},
    };
    for (size_t i = 0; i < COUNT(LANGUAGES); i++) {
        query.language = LANGUAGES[i][0];
        request = build(&PROVIDER_BRAVE, &query);
        const char *word = strstr(request.url, "search_lang=");
        assert_non_null(word);
        word += strlen("search_lang=");
        assert_int_equal(strcspn(word, "&"), strlen(LANGUAGES[i][1]));
        assert_memory_equal(word, LANGUAGES[i][1], strlen(LANGUAGES[i][1]));
    }
}

/* ---- answers ---- */

static void answers_are_read(void **state)
{
    (void)state;
    static const struct read_case CASES[] = {
        {&PROVIDER_SERPER,
         SEARCH_WEB,
         "{\"organic\":[{\"title\":\"T\",\"link\":\"L\",\"snippet\":\"S\",\"date\":\"D\"}]}",
         {"T", "L", "S", "D", NULL}},
        {&PROVIDER_SERPER,
         SEARCH_NEWS,
         "{\"news\":[{\"title\":\"T\",\"link\":\"L\",\"date\":\"2 hours ago\"}]}",
         {"T", "L", "", "2 hours ago", NULL}},
        {&PROVIDER_SERPER,
         SEARCH_IMAGES,
         "{\"images\":[{\"title\":\"T\",\"link\":\"L\",\"source\":\"S\",\"imageUrl\":\"I\"}]}",
         {"T", "L", "S", NULL, "I"}},
        {&PROVIDER_TAVILY,
         SEARCH_WEB,
         "{\"images\":[],\"results\":[{\"url\":\"L\",\"title\":\"T\",\"content\":\"S\",\"score\":"
         "0.5}]}",
         {"T", "L", "S", NULL, NULL}},
        {&PROVIDER_SEARXNG,
         SEARCH_WEB,
         "{\"query\":\"q\",\"results\":[{\"url\":\"L\",\"title\":\"T\",\"content\":\"S\","
         "\"publishedDate\":null}]}",
         {"T", "L", "S", NULL, NULL}},
        {&PROVIDER_BRAVE,
         SEARCH_WEB,
         "{\"type\":\"search\",\"web\":{\"results\":[{\"title\":\"<strong>T</strong>\",\"url\":"
         "\"L\",\"description\":\"S &amp; S\",\"page_age\":\"D\"}]}}",
         {"T", "L", "S & S", "D", NULL}},
        {&PROVIDER_BRAVE,
         SEARCH_IMAGES,
         "{\"type\":\"images\",\"results\":[{\"title\":\"T\",\"url\":\"L\",\"source\":\"S\","
         "\"properties\":{\"url\":\"I\"}}]}",
         {"T", "L", "S", NULL, "I"}},
        {&PROVIDER_EXA,
         SEARCH_WEB,
         "{\"results\":[{\"title\":null,\"url\":\"L\",\"publishedDate\":\"D\",\"text\":\"S\"}]}",
         {"L", "L", "S", "D", NULL}},
    };
    check_read(CASES, COUNT(CASES));
}

static void odd_items_are_passed_over(void **state)
{
    (void)state;
    struct hits hits;
    assert_int_equal(parse(&PROVIDER_TAVILY, SEARCH_WEB,
                           "{\"results\":[null,7,\"x\",[],{},{\"url\":7},{\"url\":\"\"},{\"url\":"
                           "\"L\",\"title\":7,\"content\":[]}]}",
                           &hits),
                     OK);
    assert_int_equal(hits.count, 1);
    assert_string_equal(hits.items[0].title, "L");
    assert_string_equal(hits.items[0].snippet, "");
}

static void nothing_found_is_an_answer_and_another_shape_is_none(void **state)
{
    (void)state;
    static const struct shape_case CASES[] = {
        {&PROVIDER_SERPER, SEARCH_WEB, "{\"organic\":[]}", OK, 0},
        {&PROVIDER_SERPER, SEARCH_WEB, "{\"searchParameters\":{\"q\":\"x\"}}", OK, 0},
        {&PROVIDER_SERPER, SEARCH_WEB, "{}", ERR_INVALID, 0},
        {&PROVIDER_SERPER, SEARCH_WEB, "{\"organic\":{}}", ERR_INVALID, 0},
        {&PROVIDER_SERPER, SEARCH_NEWS, "{\"organic\":[]}", ERR_INVALID, 0},
        {&PROVIDER_TAVILY, SEARCH_WEB, "{\"results\":[]}", OK, 0},
        {&PROVIDER_TAVILY, SEARCH_WEB, "{\"results\":null}", ERR_INVALID, 0},
        {&PROVIDER_SEARXNG, SEARCH_WEB, "{\"results\":[]}", OK, 0},
        {&PROVIDER_SEARXNG, SEARCH_WEB, "{\"error\":\"x\"}", ERR_INVALID, 0},
        {&PROVIDER_BRAVE, SEARCH_WEB, "{\"type\":\"search\"}", OK, 0},
        {&PROVIDER_BRAVE, SEARCH_WEB, "{\"web\":{\"results\":[]}}", OK, 0},
        {&PROVIDER_BRAVE, SEARCH_WEB, "{\"type\":\"search\",\"web\":7}", ERR_INVALID, 0},
        {&PROVIDER_BRAVE, SEARCH_WEB, "{}", ERR_INVALID, 0},
        {&PROVIDER_BRAVE, SEARCH_NEWS, "{\"type\":\"news\"}", ERR_INVALID, 0},
        {&PROVIDER_EXA, SEARCH_WEB, "{\"results\":[]}", OK, 0},
        {&PROVIDER_EXA, SEARCH_WEB, "{\"results\":\"x\"}", ERR_INVALID, 0},
    };
    check_shapes(CASES, COUNT(CASES));
}

static void searxng_tells_of_engines_that_did_not_answer(void **state)
{
    (void)state;
    struct hits hits;
    assert_int_equal(parse(&PROVIDER_SEARXNG, SEARCH_WEB,
                           "{\"results\":[],\"unresponsive_engines\":[[\"google\",\"timeout\"],[7],"
                           "[\"bing\",\"CAPTCHA\"]]}",
                           &hits),
                     OK);
    assert_non_null(hits.remark);
    assert_non_null(strstr(hits.remark, "google"));
    assert_non_null(strstr(hits.remark, "bing"));
}

static void there_is_a_ceiling_for_hits(void **state)
{
    (void)state;
    struct buf text;
    struct hits hits;
    buf_init(&text, MIB(1));
    buf_puts(&text, "{\"results\":[");
    for (int i = 0; i < 2 * LIMIT_SEARCH_HITS; i++) {
        buf_printf(&text, "%s{\"url\":\"https://example.org/%d\"}", i ? "," : "", i);
    }
    buf_puts(&text, "]}");
    assert_int_equal(parse(&PROVIDER_EXA, SEARCH_WEB, text.data, &hits), OK);
    assert_int_equal(hits.count, LIMIT_SEARCH_HITS);
    buf_done(&text);
}

/* ---- judging ---- */

static void what_counts_as_transient(void **state)
{
    (void)state;
    static const struct {
        enum fetch_failure failure;
        int status;
        bool transient;
    } CASES[] = {
        {FETCH_OK, 500, true},         {FETCH_OK, 502, true},         {FETCH_OK, 503, true},
        {FETCH_OK, 599, true},         {FETCH_OK, 429, true},         {FETCH_OK, 408, true},
        {FETCH_OK, 402, true},         {FETCH_OK, 432, true},         {FETCH_OK, 433, true},
        {FETCH_OK, 200, false},        {FETCH_OK, 400, false},        {FETCH_OK, 401, false},
        {FETCH_OK, 403, false},        {FETCH_OK, 404, false},        {FETCH_OK, 422, false},
        {FETCH_OK, 302, false},        {FETCH_TIMEOUT, 0, true},      {FETCH_CONNECT, 0, true},
        {FETCH_BROKEN, 200, true},     {FETCH_TLS, 0, true},          {FETCH_NO_NAME, 0, true},
        {FETCH_NAME_ERROR, 0, true},   {FETCH_BUSY, 0, true},         {FETCH_TOO_LARGE, 200, true},
        {FETCH_BAD_REQUEST, 0, false}, {FETCH_UNAVAILABLE, 0, false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_response response = {.failure = CASES[i].failure, .status = CASES[i].status};
        for (size_t j = 0; PROVIDERS[j]; j++) {
            struct route_verdict verdict = route_judge(PROVIDERS[j], &response);
            assert_int_equal(verdict.transient, CASES[i].transient);
            assert_int_equal(verdict.outcome == ROUTE_ANSWERED,
                             CASES[i].status == 200 && CASES[i].failure == FETCH_OK);
        }
    }
    struct fetch_response refused = {.status = 403};
    assert_int_equal(route_judge(&PROVIDER_SEARXNG, &refused).outcome, ROUTE_NO_JSON);
    assert_int_equal(route_judge(&PROVIDER_SERPER, &refused).outcome, ROUTE_NO_ACCESS);
    struct fetch_response wrong_key = {
        .status = 422, .body = "{\"error\":{\"code\":\"SUBSCRIPTION_TOKEN_INVALID\"}}"};
    assert_int_equal(route_judge(&PROVIDER_BRAVE, &wrong_key).outcome, ROUTE_NO_ACCESS);
    assert_int_equal(route_judge(&PROVIDER_EXA, &wrong_key).outcome, ROUTE_REFUSED);
}

static void only_words_about_credits_make_a_refusal_a_spent_quota(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *body;
        enum route_outcome outcome;
    } CASES[] = {
        {400, "{\"message\":\"Not enough credits\",\"statusCode\":400}", ROUTE_OUT_OF_QUOTA},
        {400, "{\"message\":\"not enough credits.\"}", ROUTE_OUT_OF_QUOTA},
        {402, "{\"message\":\"Not enough credits\"}", ROUTE_OUT_OF_QUOTA},
        {402, NULL, ROUTE_OUT_OF_QUOTA},
        {400, "{\"message\":\"Missing query parameter\"}", ROUTE_REFUSED},
        {400, NULL, ROUTE_REFUSED},
        {401, "{\"message\":\"Not enough credits\"}", ROUTE_NO_ACCESS},
        {403, "{\"message\":\"Not enough credits\"}", ROUTE_NO_ACCESS},
        {422, "{\"message\":\"Not enough credits\"}", ROUTE_REFUSED},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fetch_response response = {.status = CASES[i].status, .body = CASES[i].body};
        assert_int_equal(route_judge(&PROVIDER_SERPER, &response).outcome, CASES[i].outcome);
    }
    struct fetch_response echo = {.status = 400, .body = CASES[0].body};
    assert_int_equal(route_judge(&PROVIDER_TAVILY, &echo).outcome, ROUTE_REFUSED);
}

static int64_t wait_of(const struct provider *provider, const char *name, const char *value)
{
    struct fetch_header header = {.name = name, .value = value};
    struct fetch_response response = {.status = 429, .headers = &header, .header_count = 1};
    return route_judge(provider, &response).wait_ms;
}

static void providers_say_how_long_to_wait(void **state)
{
    (void)state;
    assert_int_equal(wait_of(&PROVIDER_SERPER, "Retry-After", "3"), 3000);
    assert_int_equal(wait_of(&PROVIDER_SERPER, "retry-after", "0"), 0);
    assert_int_equal(wait_of(&PROVIDER_SERPER, "retry-after", "999999999999999999999"), 86400000);
    assert_int_equal(wait_of(&PROVIDER_SERPER, "retry-after", "soon"), -1);
    assert_int_equal(wait_of(&PROVIDER_SERPER, "retry-after", "-5"), -1);
    assert_int_equal(wait_of(&PROVIDER_SERPER, "x-other", "3"), -1);
    assert_int_equal(wait_of(&PROVIDER_SERPER, "x-ratelimit-reset", "1, 100"), -1);
    assert_int_equal(wait_of(&PROVIDER_BRAVE, "X-RateLimit-Reset", "1, 1419704"), 1000);
    assert_int_equal(wait_of(&PROVIDER_SERPER, "retry-after", "Fri, 31 Dec 1999 23:59:59 GMT"), 0);
    assert_int_equal(wait_of(&PROVIDER_SERPER, "retry-after", "Fri, 31 Dec 2100 23:59:59 GMT"),
                     86400000);
    char date[64];
    time_t soon = time(NULL) + 60;
    struct tm parts;
    gmtime_r(&soon, &parts);
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    assert_in_range(wait_of(&PROVIDER_SERPER, "retry-after", date), 55000, 60000);
}

UNIT_TEST(search_providers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_asked_in_its_own_terms),
        cmocka_unit_test(little_is_sent_for_a_plain_search),
        cmocka_unit_test(freshness_has_a_word_everywhere),
        cmocka_unit_test(keys_go_into_headers_and_are_secret),
        cmocka_unit_test(pages_are_counted_where_there_are_none),
        cmocka_unit_test(long_queries_are_cut_where_they_must),
        cmocka_unit_test(unknown_countries_and_languages_are_said),
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(odd_items_are_passed_over),
        cmocka_unit_test(nothing_found_is_an_answer_and_another_shape_is_none),
        cmocka_unit_test(searxng_tells_of_engines_that_did_not_answer),
        cmocka_unit_test(there_is_a_ceiling_for_hits),
        cmocka_unit_test(what_counts_as_transient),
        cmocka_unit_test(only_words_about_credits_make_a_refusal_a_spent_quota),
        cmocka_unit_test(providers_say_how_long_to_wait),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
