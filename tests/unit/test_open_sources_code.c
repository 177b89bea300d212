/* Open sources of code and reference: what each is asked, in its own terms, how its answers are
 * read, and what it says when it has had enough. */
#include "search_cases.h"
#include "unit.h"

#include "websearch/route.h"

#include <time.h>

/* A call of grep.app's tool with these arguments. */
#define GREP_APP_CALL(arguments)                                                                   \
    "/ {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"              \
    "\"searchGitHub\",\"arguments\":" arguments "}}"

static void each_is_asked_in_its_own_terms(void **state)
{
    (void)state;
    static const struct asked_case CASES[] = {
        {&SOURCE_CRATES, SEARCH_CODE, "/api/v1/crates?q=a%20%22b%22&per_page=5&page=2",
         "freshness and dates,language,region", 0},
        {&SOURCE_GITHUB, SEARCH_CODE,
         "/search/repositories?q=a%20%22b%22%20pushed%3A2026-01-31..2026-02-28&per_page=5&page=2",
         "language,region", 0},
        {&SOURCE_GITHUB_ISSUES, SEARCH_CODE,
         "/search/issues?q=a%20%22b%22%20is%3Aissue%20created%3A2026-01-31..2026-02-28&per_page=5"
         "&page=2",
         "language,region", 0},
        {&SOURCE_GREP_APP, SEARCH_CODE, GREP_APP_CALL("{\"query\":\"a \\\"b\\\"\"}"),
         "freshness and dates,language,region", 5},
        {&SOURCE_MDN, SEARCH_CODE, "/api/v1/search?q=a%20%22b%22&locale=pt-BR",
         "freshness and dates,region", 5},
        {&SOURCE_NPM, SEARCH_CODE, "/-/v1/search?text=a%20%22b%22&size=5&from=5",
         "freshness and dates,language,region", 0},
        {&SOURCE_SOURCEGRAPH, SEARCH_CODE,
         "/.api/search/stream?q=a%20%22b%22%20archived%3Ano%20fork%3Ano%20count%3A100&v=V3&t="
         "keyword&display=100",
         "freshness and dates,language,region", 5},
        {&SOURCE_STACKEXCHANGE, SEARCH_CODE,
         "/2.3/search/advanced?q=a%20%22b%22&site=pt.stackoverflow.com&page=2&pagesize=5&order="
         "desc&sort=relevance&fromdate=1769817600&todate=1772323199",
         "region", 0},
        {&SOURCE_WIKIDATA, SEARCH_WEB,
         "/w/api.php?action=wbsearchentities&format=json&formatversion=2&search=a%20%22b%22&"
         "language=pt&uselang=pt&type=item&limit=10",
         "freshness and dates,region", 5},
        {&SOURCE_WIKIPEDIA, SEARCH_WEB,
         "/w/api.php?action=query&format=json&formatversion=2&list=search&srsearch=a%20%22b%22&"
         "srlimit=5&sroffset=5&srprop=snippet",
         "freshness and dates,region", 0},
    };
    check_asked(CASES, COUNT(CASES), demanding("a \"b\""));
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = plain(CASES[i].type, "fish");
        struct provider_request request = build(CASES[i].provider, &query);
        assert_string_equal(header(&request, "User-Agent"),
                            "forage/" FORAGE_VERSION " (" CONTACT ")");
    }
}

static void one_end_of_a_time_is_enough(void **state)
{
    (void)state;
    static const struct {
        const struct provider *source;
        struct search_query query;
        const char *part;
    } CASES[] = {
        {&SOURCE_GITHUB, {.start_date = "2026-01-31"}, "q=x%20pushed%3A%3E%3D2026-01-31&"},
        {&SOURCE_GITHUB, {.end_date = "2026-01-31"}, "q=x%20pushed%3A%3C%3D2026-01-31&"},
        {&SOURCE_GITHUB_ISSUES, {.freshness = FRESH_WEEK}, "is%3Aissue%20created%3A%3E%3D20"},
        {&SOURCE_GITHUB, {0}, "q=x&per_page=3&page=1"},
        {&SOURCE_STACKEXCHANGE, {.freshness = FRESH_DAY}, "&fromdate=1"},
        {&SOURCE_STACKEXCHANGE, {.end_date = "1970-01-01"}, "relevance&todate=86399"},
        {&SOURCE_STACKEXCHANGE, {.start_date = "1920-01-01"}, "&fromdate=0"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = CASES[i].query;
        query.text = "x";
        query.count = 3;
        query.page = 1;
        query.type = SEARCH_CODE;
        struct provider_request request = build(CASES[i].source, &query);
        assert_non_null(strstr(sent(&request), CASES[i].part));
        assert_string_equal(left_out(&request), "");
    }
}

static void wikipedia_is_asked_in_the_language_of_the_query(void **state)
{
    (void)state;
    static const struct {
        const char *language, *text, *host;
    } CASES[] = {
        {NULL, "Marie Curie", "en"}, {NULL, "Straße", "en"}, /* Latin letters say nothing */
        {"de", "Straße", "de"},      {"pt-BR", "rua", "pt"},
        {"nb", "gate", "no"},        {NULL, "Мария Кюри 1903", "ru"},
        {NULL, "Київ", "uk"},        {NULL, "東京タワー", "ja"},
        {NULL, "漢字とかな", "ja"},  {NULL, "北京大学", "zh"},
        {NULL, "서울", "ko"},        {NULL, "α-synuclein", "en"},
        {NULL, "אסטרונומיה", "he"},  {NULL, "1984", "en"},
        {"en", "Київ", "en"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = {
            .text = CASES[i].text, .count = 3, .page = 1, .language = CASES[i].language};
        struct provider_request request = {.arena = arena, .query = &query, .base = ""};
        assert_int_equal(provider_build(&SOURCE_WIKIPEDIA, &request), OK);
        const char *start =
            arena_printf(arena, "https://%s.wikipedia.org/w/api.php?", CASES[i].host);
        assert_memory_equal(request.url, start, strlen(start));
    }
}

static void stack_exchange_searches_the_site_that_is_wanted(void **state)
{
    (void)state;
    static const struct {
        const char *language;
        const char *sites[2];
        const char *site, *left_out;
    } CASES[] = {
        {NULL, {NULL}, "stackoverflow", ""},
        {"en-GB", {NULL}, "stackoverflow", ""},
        {"ja", {NULL}, "ja.stackoverflow.com", ""},
        {"de", {NULL}, "stackoverflow", "language"},
        {NULL, {"unix.stackexchange.com"}, "unix.stackexchange.com", ""},
        {NULL, {"example.org", "askubuntu.com"}, "askubuntu.com", "sites"},
        {NULL, {"notstackoverflow.com"}, "stackoverflow", ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = {.text = "x",
                                     .count = 3,
                                     .page = 1,
                                     .type = SEARCH_CODE,
                                     .language = CASES[i].language,
                                     .sites = {CASES[i].sites[0], CASES[i].sites[1]},
                                     .site_count = CASES[i].sites[1]   ? 2
                                                   : CASES[i].sites[0] ? 1
                                                                       : 0};
        struct provider_request request = build(&SOURCE_STACKEXCHANGE, &query);
        assert_non_null(strstr(sent(&request), arena_printf(arena, "&site=%s&", CASES[i].site)));
        assert_string_equal(left_out(&request), CASES[i].left_out);
    }
}

static void words_of_a_query_become_arguments_of_grep_app(void **state)
{
    (void)state;
    static const struct {
        const char *text, *arguments;
    } CASES[] = {
        {"useState( repo:facebook/react", "{\"repo\":\"facebook/react\",\"query\":\"useState(\"}"},
        {"lang:rust  fn  main", "{\"language\":[\"Rust\"],\"query\":\"fn  main\"}"},
        {"a path:src/ language:Zig", "{\"path\":\"src/\",\"language\":[\"Zig\"],\"query\":\"a\"}"},
        {"repo:a/b", "{\"repo\":\"a/b\",\"query\":\"repo:a/b\"}"},
        {"x repo:", "{\"query\":\"x repo:\"}"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = plain(SEARCH_CODE, CASES[i].text);
        struct provider_request request = build(&SOURCE_GREP_APP, &query);
        assert_non_null(
            strstr(request.body, arena_printf(arena, "\"arguments\":%s}", CASES[i].arguments)));
    }
}

static void sourcegraph_keeps_the_filters_of_a_query(void **state)
{
    (void)state;
    struct search_query query = plain(SEARCH_CODE, "x fork:yes count:all");
    struct provider_request request = build(&SOURCE_SOURCEGRAPH, &query);
    assert_non_null(strstr(sent(&request), "?q=x%20fork%3Ayes%20count%3Aall%20archived%3Ano&v="));
}

/* Results of the pages before are passed over where there are no pages, or pages of another size.
 */
static void pages_are_counted_where_there_are_none(void **state)
{
    (void)state;
    static const struct {
        const struct provider *source;
        size_t count;
        unsigned page;
        const char *part;
        size_t skip;
    } CASES[] = {
        {&SOURCE_MDN, 3, 1, "?q=x", 0},       {&SOURCE_MDN, 3, 3, "?q=x", 6},
        {&SOURCE_MDN, 5, 3, "&page=2", 0},    {&SOURCE_MDN, 20, 2, "&page=3", 0},
        {&SOURCE_GREP_APP, 4, 3, "x", 8},     {&SOURCE_SOURCEGRAPH, 4, 3, "display=120", 8},
        {&SOURCE_NPM, 4, 3, "from=8", 0},     {&SOURCE_CRATES, 4, 3, "&page=3", 0},
        {&SOURCE_GITHUB, 4, 3, "&page=3", 0},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = {
            .text = "x", .count = CASES[i].count, .page = CASES[i].page, .type = SEARCH_CODE};
        struct provider_request request = build(CASES[i].source, &query);
        assert_non_null(strstr(sent(&request), CASES[i].part));
        assert_int_equal(request.skip, CASES[i].skip);
    }
}

static void keys_raise_quotas_and_are_secret(void **state)
{
    (void)state;
    struct search_query query = plain(SEARCH_CODE, "x");
    struct provider_request request = build_with(&SOURCE_GITHUB, &query, "the-key");
    assert_string_equal(header(&request, "Authorization"), "Bearer the-key");
    assert_string_equal(header(&request, "Accept"), "application/vnd.github+json");
    assert_null(strstr(request.url, "the-key"));
    request = build(&SOURCE_GITHUB, &query);
    assert_null(header(&request, "Authorization"));
    request = build_with(&SOURCE_STACKEXCHANGE, &query, "the-key");
    assert_non_null(strstr(request.url, "&key=the-key"));
    request = build(&SOURCE_STACKEXCHANGE, &query);
    assert_null(strstr(request.url, "key"));
}

static void long_queries_are_cut_where_they_must(void **state)
{
    (void)state;
    struct search_query query = plain(SEARCH_CODE, long_text());
    struct provider_request request = build(&SOURCE_GITHUB_ISSUES, &query);
    assert_string_equal(left_out(&request), "query");
    assert_non_null(strstr(request.url, "xxx%20is%3Aissue&"));
}

/* ---- answers ---- */

#define GREP_APP_ANSWER(texts)                                                                     \
    "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[" texts "]}}"    \
    "\n\n"
#define COMMIT "0123456789abcdef0123456789abcdef01234567"

static void answers_are_read(void **state)
{
    (void)state;
    static const struct read_case CASES[] = {
        {&SOURCE_CRATES,
         SEARCH_CODE,
         "{\"crates\":[{\"id\":\"serde\",\"name\":\"serde\",\"description\":\"D\",\"max_version\":"
         "\"1.0.2\",\"updated_at\":\"U\"}],\"meta\":{\"total\":1}}",
         {"serde 1.0.2", "https://crates.io/crates/serde", "D", "U", NULL}},
        {&SOURCE_GITHUB,
         SEARCH_CODE,
         "{\"total_count\":1,\"incomplete_results\":false,\"items\":[{\"full_name\":\"o/r\","
         "\"html_url\":\"https://github.com/o/r\",\"description\":\"D\",\"language\":\"C\","
         "\"stargazers_count\":42,\"archived\":true,\"pushed_at\":\"P\"}]}",
         {"o/r", "https://github.com/o/r", "D (C, 42 stars, archived)", "P", NULL}},
        {&SOURCE_GITHUB,
         SEARCH_CODE,
         "{\"items\":[{\"full_name\":\"o/r\",\"html_url\":\"L\",\"description\":null,\"language\":"
         "null}]}",
         {"o/r", "L", "No description (0 stars)", NULL, NULL}},
        {&SOURCE_GITHUB_ISSUES,
         SEARCH_CODE,
         "{\"items\":[{\"title\":\"T\",\"html_url\":\"L\",\"repository_url\":\"https://api.github."
         "com/repos/o/r\",\"state\":\"open\",\"body\":\"B\",\"created_at\":\"C\"}]}",
         {"o/r: T", "L", "open: B", "C", NULL}},
        {&SOURCE_GITHUB_ISSUES,
         SEARCH_CODE,
         "{\"items\":[{\"title\":\"T\",\"html_url\":\"L\",\"body\":null}]}",
         {"T", "L", "", NULL, NULL}},
        {&SOURCE_GREP_APP,
         SEARCH_CODE,
         GREP_APP_ANSWER(
             "{\"type\":\"text\",\"text\":\"Repository: o/r\\nPath: src/a.c\\nURL: https://"
             "github.com/o/r/blob/main/src/a.c\\nLicense: MIT\\n\\nSnippets:\\n--- Snippet 1 (Line "
             "12) ---\\nint a;\\nURL: no\\n\\n--- Snippet 2 (Line 40) ---\\nint b;\\n\"}"),
         {"o/r: src/a.c", "https://github.com/o/r/blob/main/src/a.c",
          "src/a.c:12:\nint a;\nURL: no\n\nsrc/a.c:40:\nint b;\n", NULL, NULL}},
        {&SOURCE_GREP_APP,
         SEARCH_CODE,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
         "\"Repository: o/r\\nURL: L\"}],\"isError\":false}}",
         {"o/r", "L", "", NULL, NULL}},
        {&SOURCE_MDN,
         SEARCH_CODE,
         "{\"documents\":[{\"mdn_url\":\"/en-US/docs/Web\",\"title\":\"T &amp; T\",\"summary\":"
         "\"<b>S</b>\"}],\"metadata\":{\"size\":10}}",
         {"T & T", "https://developer.mozilla.org/en-US/docs/Web", "S", NULL, NULL}},
        {&SOURCE_NPM,
         SEARCH_CODE,
         "{\"objects\":[{\"package\":{\"name\":\"n\",\"version\":\"1.2.3\",\"description\":\"D\","
         "\"date\":\"U\",\"links\":{\"npm\":\"L\",\"homepage\":\"H\"}},\"score\":{}}],\"total\":1}",
         {"n 1.2.3", "L", "D", "U", NULL}},
        {&SOURCE_SOURCEGRAPH,
         SEARCH_CODE,
         "event: progress\ndata: {\"done\":false}\n\nevent: matches\ndata: [{\"type\":\"content\","
         "\"repository\":\"github.com/o/r\",\"path\":\"src/a b.c\",\"commit\":\"" COMMIT
         "\",\"lineMatches\":[{\"line\":\"int a;\",\"lineNumber\":11},{\"line\":\"int b;\","
         "\"lineNumber\":39}]}]\n\nevent: done\ndata: {}\n\n",
         {"o/r: src/a b.c", "https://github.com/o/r/blob/" COMMIT "/src/a%20b.c#L12",
          "src/a b.c:12: int a;\nsrc/a b.c:40: int b;", NULL, NULL}},
        {&SOURCE_SOURCEGRAPH,
         SEARCH_CODE,
         "event:matches\r\ndata:[{\"type\":\"path\",\"repository\":\"gitlab.com/o/r\",\"path\":"
         "\"a.c\"}]\r\n\r\nevent: done\r\ndata: {}\r\n\r\n",
         {"gitlab.com/o/r: a.c", "https://gitlab.com/o/r/-/blob/HEAD/a.c", "", NULL, NULL}},
        {&SOURCE_SOURCEGRAPH,
         SEARCH_CODE,
         "event: matches\ndata: [{\"type\":\"content\",\"repository\":\"npm/left-pad\",\"path\":"
         "\"i.js\",\"lineMatches\":[{\"line\":\"x\",\"lineNumber\":0}]}]\n\n",
         {"npm/left-pad: i.js", "https://sourcegraph.com/npm/left-pad/-/blob/i.js?L1", "i.js:1: x",
          NULL, NULL}},
        {&SOURCE_STACKEXCHANGE,
         SEARCH_CODE,
         "{\"items\":[{\"title\":\"T &quot;x&quot;\",\"link\":\"L\",\"score\":5,\"is_answered\":"
         "true,\"creation_date\":1300000000,\"tags\":[\"c++\",\"linux\"]}],\"quota_remaining\":"
         "299}",
         {"T \"x\"", "L", "5 points, answered; c++, linux", "2011-03-13", NULL}},
        {&SOURCE_WIKIDATA,
         SEARCH_WEB,
         "{\"search\":[{\"id\":\"Q42\",\"label\":\"T\",\"description\":\"D\"}],\"success\":1}",
         {"T", "https://www.wikidata.org/wiki/Q42", "D", NULL, NULL}},
        {&SOURCE_WIKIPEDIA,
         SEARCH_WEB,
         "{\"batchcomplete\":true,\"query\":{\"search\":[{\"ns\":0,\"title\":\"AC/DC (band) "
         "\xc3\xa9\",\"snippet\":\"<span class=\\\"searchmatch\\\">S</span> &amp; s\"}]}}",
         {"AC/DC (band) \xc3\xa9", "https://en.wikipedia.org/wiki/AC/DC_(band)_%C3%A9", "S & s",
          NULL, NULL}},
    };
    check_read(CASES, COUNT(CASES));
}

static void nothing_found_is_an_answer_and_another_shape_is_none(void **state)
{
    (void)state;
    static const struct shape_case CASES[] = {
        {&SOURCE_CRATES, SEARCH_CODE, "{\"crates\":[],\"meta\":{\"total\":0}}", OK, 0},
        {&SOURCE_CRATES, SEARCH_CODE, "{\"errors\":[{\"detail\":\"x\"}]}", ERR_INVALID, 0},
        {&SOURCE_CRATES, SEARCH_CODE, "{\"crates\":[null,7,{},{\"name\":\"\"},{\"name\":7}]}", OK,
         0},
        {&SOURCE_GITHUB, SEARCH_CODE,
         "{\"total_count\":0,\"incomplete_results\":false,\"items\":[]}", OK, 0},
        {&SOURCE_GITHUB, SEARCH_CODE, "{\"message\":\"x\"}", ERR_INVALID, 0},
        {&SOURCE_GITHUB, SEARCH_CODE, "{\"items\":[null,7,{},{\"html_url\":7}]}", OK, 0},
        {&SOURCE_GITHUB_ISSUES, SEARCH_CODE, "{\"items\":[]}", OK, 0},
        {&SOURCE_GITHUB_ISSUES, SEARCH_CODE, "{\"items\":{}}", ERR_INVALID, 0},
        {&SOURCE_GITHUB_ISSUES, SEARCH_CODE, "{\"items\":[null,{\"repository_url\":7}]}", OK, 0},
        {&SOURCE_GREP_APP, SEARCH_CODE, GREP_APP_ANSWER(""), OK, 0},
        {&SOURCE_GREP_APP, SEARCH_CODE,
         GREP_APP_ANSWER("{\"type\":\"text\",\"text\":\"No results found\"}"), OK, 0},
        {&SOURCE_GREP_APP, SEARCH_CODE,
         GREP_APP_ANSWER("{\"type\":\"text\",\"text\":\"Come back later\"}"), ERR_INVALID, 0},
        {&SOURCE_GREP_APP, SEARCH_CODE, GREP_APP_ANSWER("{\"type\":\"image\"}"), ERR_INVALID, 0},
        {&SOURCE_GREP_APP, SEARCH_CODE,
         "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[],\"isError\":true}}\n",
         ERR_INVALID, 0},
        {&SOURCE_GREP_APP, SEARCH_CODE,
         "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1}}\n", ERR_INVALID, 0},
        {&SOURCE_GREP_APP, SEARCH_CODE, "", ERR_INVALID, 0},
        {&SOURCE_MDN, SEARCH_CODE, "{\"documents\":[]}", OK, 0},
        {&SOURCE_MDN, SEARCH_CODE, "{\"errors\":{\"q\":[{\"code\":\"x\"}]}}", ERR_INVALID, 0},
        {&SOURCE_MDN, SEARCH_CODE,
         "{\"documents\":[{\"mdn_url\":\"@evil.example/\"},{\"mdn_url\":\"\"}]}", OK, 0},
        {&SOURCE_NPM, SEARCH_CODE, "{\"objects\":[],\"total\":0}", OK, 0},
        {&SOURCE_NPM, SEARCH_CODE,
         "{\"objects\":[{},{\"package\":7},{\"package\":{\"name\":\"n\"}}]}", OK, 0},
        {&SOURCE_NPM, SEARCH_CODE, "{\"error\":\"x\"}", ERR_INVALID, 0},
        {&SOURCE_SOURCEGRAPH, SEARCH_CODE, "event: done\ndata: {}\n\n", OK, 0},
        /* It was cut. */
        {&SOURCE_SOURCEGRAPH, SEARCH_CODE, "event: matches\ndata: []\n\n", ERR_INVALID, 0},
        {&SOURCE_SOURCEGRAPH, SEARCH_CODE,
         "event: error\ndata: {\"message\":\"x\"}\n\nevent: done\ndata: {}\n", ERR_INVALID, 0},
        {&SOURCE_SOURCEGRAPH, SEARCH_CODE,
         "event: matches\ndata: [7,null,{},{\"repository\":\"a@evil.example\",\"path\":\"p\"},"
         "{\"repository\":\"\"}]\n\nevent: matches\ndata: [{\n\nevent: done\ndata: {}\n",
         OK, 0},
        {&SOURCE_SOURCEGRAPH, SEARCH_CODE, "<html>", ERR_INVALID, 0},
        {&SOURCE_STACKEXCHANGE, SEARCH_CODE,
         "{\"items\":[],\"has_more\":false,\"quota_remaining\":7}", OK, 0},
        {&SOURCE_STACKEXCHANGE, SEARCH_CODE,
         "{\"error_id\":502,\"error_name\":\"throttle_violation\"}", ERR_INVALID, 0},
        {&SOURCE_STACKEXCHANGE, SEARCH_CODE, "{\"items\":[null,7,{},{\"link\":7,\"tags\":7}]}", OK,
         0},
        {&SOURCE_WIKIDATA, SEARCH_WEB, "{\"search\":[],\"success\":1}", OK, 0},
        {&SOURCE_WIKIDATA, SEARCH_WEB,
         "{\"search\":[{\"id\":\"Q\"},{\"id\":\"P31\"},{\"id\":\"Q1/x\"},7]}", OK, 0},
        {&SOURCE_WIKIDATA, SEARCH_WEB, "{\"error\":{\"code\":\"x\"}}", ERR_INVALID, 0},
        {&SOURCE_WIKIPEDIA, SEARCH_WEB, "{\"batchcomplete\":true,\"query\":{\"search\":[]}}", OK,
         0},
        {&SOURCE_WIKIPEDIA, SEARCH_WEB, "{\"error\":{\"code\":\"maxlag\",\"info\":\"x\"}}",
         ERR_INVALID, 0},
        {&SOURCE_WIKIPEDIA, SEARCH_WEB,
         "{\"query\":{\"search\":[null,7,{},{\"title\":7},{\"title\":\"\"}]}}", OK, 0},
        {&SOURCE_WIKIPEDIA, SEARCH_WEB, "{\"query\":[]}", ERR_INVALID, 0},
    };
    check_shapes(CASES, COUNT(CASES));
}

static void what_a_source_says_about_an_empty_answer_is_passed_on(void **state)
{
    (void)state;
    struct hits hits;
    assert_int_equal(parse(&SOURCE_SOURCEGRAPH, SEARCH_CODE,
                           "event: alert\ndata: {\"title\":\"No repositories found\","
                           "\"description\":\"Try another filter\"}\n\nevent: done\ndata: {}\n",
                           &hits),
                     OK);
    assert_non_null(strstr(hits.remark, "No repositories found: Try another filter"));
    assert_int_equal(
        parse(&SOURCE_GITHUB, SEARCH_CODE, "{\"items\":[],\"incomplete_results\":true}", &hits),
        OK);
    assert_non_null(hits.remark);
}

/* ---- manners ---- */

static void stack_exchange_says_how_long_to_wait(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t least, most;
    } CASES[] = {
        {"{\"items\":[],\"quota_remaining\":100}", 0, 0},
        {"{\"items\":[],\"quota_remaining\":100,\"backoff\":10}", 10000, 10000},
        {"{\"items\":[],\"backoff\":1e300}", 86400000, 86400000},
        {"{\"items\":[],\"backoff\":-7}", 0, 0},
        {"{\"items\":[],\"backoff\":\"soon\"}", 0, 0},
        {"{\"items\":[],\"quota_remaining\":0}", 1000, 86400000},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct hits hits;
        assert_int_equal(parse(&SOURCE_STACKEXCHANGE, SEARCH_CODE, CASES[i].text, &hits), OK);
        assert_in_range(hits.rest_ms, CASES[i].least, CASES[i].most);
    }
}

static struct route_verdict judge(const struct provider *source, int status, const char *left,
                                  const char *reset, const char *body)
{
    struct fetch_header headers[] = {{.name = "X-RateLimit-Remaining", .value = left},
                                     {.name = "X-RateLimit-Reset", .value = reset}};
    struct fetch_response response = {
        .status = status, .headers = headers, .header_count = COUNT(headers), .body = body};
    return route_judge(source, &response);
}

static void a_spent_quota_is_no_refused_key(void **state)
{
    (void)state;
    const char *soon = arena_printf(arena, "%lld", (long long)time(NULL) + 40);
    struct route_verdict verdict = judge(&SOURCE_GITHUB, 403, "0", soon, "{}");
    assert_int_equal(verdict.outcome, ROUTE_RATE_LIMITED);
    assert_in_range(verdict.wait_ms, 35000, 40000);
    assert_int_equal(judge(&SOURCE_GITHUB, 403, "0", "1", "{}").wait_ms, 0);
    assert_int_equal(judge(&SOURCE_GITHUB, 403, "0", "soon", "{}").wait_ms, -1);
    assert_int_equal(judge(&SOURCE_GITHUB, 403, "0", "99999999999999999999", "{}").wait_ms,
                     86400000);
    /* Without a key it is no key that is refused. */
    assert_int_equal(judge(&SOURCE_GITHUB, 403, "7", soon, "{}").outcome, ROUTE_BLOCKED);
    assert_int_equal(judge(&SOURCE_GITHUB, 401, "0", soon, "{}").outcome, ROUTE_BLOCKED);
    assert_int_equal(judge(&SOURCE_GITHUB, 422, "0", soon, "{}").outcome, ROUTE_REFUSED);
    assert_int_equal(judge(&SOURCE_GITHUB, 429, "0", soon, "{}").outcome, ROUTE_RATE_LIMITED);
    assert_int_equal(
        judge(&SOURCE_GITHUB, 403, "7", soon, "exceeded a secondary rate limit").outcome,
        ROUTE_RATE_LIMITED);
    assert_int_equal(judge(&SOURCE_MDN, 403, "0", soon, "{}").outcome, ROUTE_BLOCKED);
    assert_int_equal(
        judge(&SOURCE_STACKEXCHANGE, 400, "1", "", "{\"error_name\":\"bad_parameter\"}").outcome,
        ROUTE_REFUSED);
    assert_int_equal(
        judge(&SOURCE_STACKEXCHANGE, 400, "1", "", "{\"error_name\":\"throttle_violation\"}")
            .outcome,
        ROUTE_RATE_LIMITED);
}

/* Every open source has a pace, and who is known is never slower. */
static void every_source_is_paced(void **state)
{
    (void)state;
    for (size_t i = 0; OPEN_SOURCES[i]; i++) {
        const struct source_terms *terms = OPEN_SOURCES[i]->open;
        assert_non_null(terms);
        assert_true(terms->pace.windows[0].calls > 0 && terms->pace.windows[0].window_ms > 0);
        assert_true(terms->pace.at_once > 0);
        for (size_t j = 0; j < PACE_WINDOWS && terms->known.windows[j].calls; j++) {
            assert_true(terms->known.windows[j].calls >= terms->pace.windows[j].calls);
            assert_int_equal(terms->known.windows[j].window_ms, terms->pace.windows[j].window_ms);
        }
    }
}

UNIT_TEST(open_sources_code)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_asked_in_its_own_terms),
        cmocka_unit_test(one_end_of_a_time_is_enough),
        cmocka_unit_test(wikipedia_is_asked_in_the_language_of_the_query),
        cmocka_unit_test(stack_exchange_searches_the_site_that_is_wanted),
        cmocka_unit_test(words_of_a_query_become_arguments_of_grep_app),
        cmocka_unit_test(sourcegraph_keeps_the_filters_of_a_query),
        cmocka_unit_test(pages_are_counted_where_there_are_none),
        cmocka_unit_test(keys_raise_quotas_and_are_secret),
        cmocka_unit_test(long_queries_are_cut_where_they_must),
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(nothing_found_is_an_answer_and_another_shape_is_none),
        cmocka_unit_test(what_a_source_says_about_an_empty_answer_is_passed_on),
        cmocka_unit_test(stack_exchange_says_how_long_to_wait),
        cmocka_unit_test(a_spent_quota_is_no_refused_key),
        cmocka_unit_test(every_source_is_paced),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
