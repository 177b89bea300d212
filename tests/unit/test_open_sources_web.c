/* Open sources of the general web: what each is asked, in its own terms, and how its answers are
 * read. */
#include "failing_allocations.h"
#include "search_cases.h"
#include "unit.h"

#include "text/url.h"

/* ---- requests ---- */

#define CALL(TOOL, ARGUMENTS)                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" TOOL         \
    "\",\"arguments\":{" ARGUMENTS "}}}"

static void each_is_asked_in_its_own_terms(void **state)
{
    (void)state;
    static const struct asked_case CASES[] = {
        {&SOURCE_DUCKDUCKGO, SEARCH_WEB,
         "/html/ "
         "q=a%20%22b%22%20%28site%3Aa.org%20OR%20site%3Ab.org%29%20-site%3Ac.org&b=&kl=ch-fr",
         "start_date and end_date", 5},
        {&SOURCE_EXA_OPEN, SEARCH_WEB,
         "/mcp " CALL("web_search_exa", "\"query\":\"a \\\"b\\\"\",\"numResults\":10"),
         "sites,freshness and dates,language,region", 5},
        {&SOURCE_FIRECRAWL, SEARCH_WEB,
         "/v2/search {\"query\":\"a \\\"b\\\" (site:a.org OR site:b.org) "
         "-site:c.org\",\"limit\":10,"
         "\"tbs\":\"cdr:1,cd_min:01/31/2026,cd_max:02/28/2026\",\"location\":\"Switzerland\"}",
         "language", 5},
        {&SOURCE_KEENABLE, SEARCH_WEB,
         "/v1/search/public {\"query\":\"a \\\"b\\\"\",\"mode\":\"pro\",\"max_results\":10,"
         "\"published_after\":\"2026-01-31\",\"published_before\":\"2026-02-28\","
         "\"snippet_max_length\":1000}",
         "sites,language,region", 5},
        {&SOURCE_MARGINALIA, SEARCH_WEB, "/search?query=a%20%22b%22&count=10",
         "sites,freshness and dates,language,region", 5},
        {&SOURCE_MWMBL, SEARCH_WEB, "/api/v2/search/?q=a%20%22b%22",
         "sites,freshness and dates,language,region", 5},
        {&SOURCE_PARALLEL, SEARCH_WEB,
         "/mcp " CALL("web_search",
                      "\"objective\":\"a \\\"b\\\"\",\"search_queries\":[\"a \\\"b\\\" "
                      "(site:a.org OR site:b.org) -site:c.org\"]"),
         "freshness and dates,language,region", 5},
        {&SOURCE_WIBY, SEARCH_WEB, "/json/?q=a%20%22b%22",
         "sites,freshness and dates,language,region", 5},
        {&SOURCE_YOU, SEARCH_WEB,
         "/mcp?profile=free " CALL("you-search",
                                   "\"query\":\"a \\\"b\\\" (site:a.org OR site:b.org) "
                                   "-site:c.org\",\"count\":10"),
         "start_date and end_date,language,region", 5},
    };
    struct search_query query = demanding("a \"b\"");
    query.region = "CH";
    query.language = "fr-CH";
    check_asked(CASES, COUNT(CASES), query);
}

static void little_is_sent_for_a_plain_search(void **state)
{
    (void)state;
    static const struct asked_case CASES[] = {
        {&SOURCE_DUCKDUCKGO, SEARCH_WEB, "/html/ q=fish&b=&kl=wt-wt", "", 0},
        {&SOURCE_EXA_OPEN, SEARCH_WEB,
         "/mcp " CALL("web_search_exa", "\"query\":\"fish\",\"numResults\":20"), "", 0},
        {&SOURCE_FIRECRAWL, SEARCH_WEB, "/v2/search {\"query\":\"fish\",\"limit\":20}", "", 0},
        {&SOURCE_KEENABLE, SEARCH_WEB,
         "/v1/search/public {\"query\":\"fish\",\"mode\":\"pro\","
         "\"max_results\":20,\"snippet_max_length\":1000}",
         "", 0},
        {&SOURCE_MARGINALIA, SEARCH_WEB, "/search?query=fish&count=20", "", 0},
        {&SOURCE_MWMBL, SEARCH_WEB, "/api/v2/search/?q=fish", "", 0},
        {&SOURCE_PARALLEL, SEARCH_WEB,
         "/mcp " CALL("web_search", "\"objective\":\"fish\",\"search_queries\":[\"fish\"]"), "", 0},
        {&SOURCE_WIBY, SEARCH_WEB, "/json/?q=fish", "", 0},
        {&SOURCE_YOU, SEARCH_WEB,
         "/mcp?profile=free " CALL("you-search", "\"query\":\"fish\",\"count\":20"), "", 0},
    };
    check_asked(CASES, COUNT(CASES), (struct search_query){.text = "fish", .count = 20, .page = 1});
}

static void freshness_is_said_where_there_is_a_word(void **state)
{
    (void)state;
    static const struct {
        const struct provider *source;
        enum search_freshness freshness;
        const char *word; /* NULL: there is none, and it says so */
    } CASES[] = {
        {&SOURCE_DUCKDUCKGO, FRESH_DAY, "&df=d"},
        {&SOURCE_DUCKDUCKGO, FRESH_YEAR, "&df=y"},
        {&SOURCE_FIRECRAWL, FRESH_WEEK, "\"tbs\":\"qdr:w\""},
        {&SOURCE_KEENABLE, FRESH_MONTH, "\"published_after\":\"20"},
        {&SOURCE_YOU, FRESH_MONTH, "\"freshness\":\"month\""},
        {&SOURCE_EXA_OPEN, FRESH_DAY, NULL},
        {&SOURCE_MARGINALIA, FRESH_DAY, NULL},
        {&SOURCE_PARALLEL, FRESH_DAY, NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = {
            .text = "fish", .count = 3, .page = 1, .freshness = CASES[i].freshness};
        struct provider_request request = build(CASES[i].source, &query);
        assert_true(!CASES[i].word || strstr(sent(&request), CASES[i].word));
        assert_string_equal(left_out(&request), CASES[i].word ? "" : "freshness and dates");
    }
}

static void one_site_has_a_word_of_its_own(void **state)
{
    (void)state;
    struct search_query query = {
        .text = "fish", .count = 3, .page = 1, .sites = {"a.org"}, .site_count = 1};
    struct provider_request request = build(&SOURCE_KEENABLE, &query);
    assert_non_null(strstr(sent(&request), "\"site\":\"a.org\""));
    assert_string_equal(left_out(&request), "");
    request = build(&SOURCE_MARGINALIA, &query);
    assert_non_null(strstr(sent(&request), "query=fish%20site%3Aa.org&"));
    assert_string_equal(left_out(&request), "");
    query.exclude_sites[0] = "b.org";
    query.exclude_site_count = 1;
    request = build(&SOURCE_KEENABLE, &query);
    assert_string_equal(left_out(&request), "sites");
}

/* A page that no answer can hold is said, not silently another one. */
static void pages_that_are_not_there_are_said(void **state)
{
    (void)state;
    static const struct {
        const struct provider *source;
        size_t count;
        unsigned page;
        const char *left_out;
    } CASES[] = {
        {&SOURCE_DUCKDUCKGO, 5, 2, ""},  {&SOURCE_DUCKDUCKGO, 5, 3, "page"},
        {&SOURCE_DUCKDUCKGO, 20, 1, ""}, {&SOURCE_DUCKDUCKGO, 20, 2, "page"},
        {&SOURCE_WIBY, 12, 2, "page"},   {&SOURCE_WIBY, 6, 2, ""},
        {&SOURCE_YOU, 20, 2, "page"},    {&SOURCE_KEENABLE, 20, 3, "page"},
        {&SOURCE_MARGINALIA, 20, 5, ""}, {&SOURCE_MARGINALIA, 20, 6, "page"},
        {&SOURCE_PARALLEL, 20, 2, ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = {
            .text = "fish", .count = CASES[i].count, .page = CASES[i].page};
        struct provider_request request = build(CASES[i].source, &query);
        assert_string_equal(left_out(&request), CASES[i].left_out);
        assert_int_equal(request.skip, CASES[i].count * (CASES[i].page - 1));
    }
}

static void what_operators_insist_on_is_in_headers(void **state)
{
    (void)state;
    struct search_query query = {
        .text = "fish", .count = 3, .page = 1, .freshness = FRESH_WEEK, .region = "GB"};
    struct provider_request request = build(&SOURCE_KEENABLE, &query);
    assert_string_equal(header(&request, "X-Keenable-Title"), "forage");
    assert_string_equal(header(&request, "User-Agent"), "forage/" FORAGE_VERSION " (" CONTACT ")");
    request = build(&SOURCE_MARGINALIA, &query);
    assert_string_equal(header(&request, "API-Key"), "public");
    static const struct provider *const TOOLS[] = {&SOURCE_EXA_OPEN, &SOURCE_PARALLEL, &SOURCE_YOU};
    for (size_t i = 0; i < COUNT(TOOLS); i++) {
        request = build(TOOLS[i], &query);
        assert_string_equal(header(&request, "Accept"), "application/json, text/event-stream");
        assert_string_equal(header(&request, "Content-Type"), "application/json");
    }
    request = build(&SOURCE_DUCKDUCKGO, &query);
    assert_string_equal(header(&request, "Content-Type"), "application/x-www-form-urlencoded");
    assert_string_equal(header(&request, "Sec-Fetch-Mode"), "navigate");
    assert_string_equal(header(&request, "Cookie"), "kl=uk-en; df=w");
    assert_int_equal(strncmp(header(&request, "User-Agent"), "Mozilla/5.0 (", 13), 0);
    assert_true(request.header_count < PROVIDER_MOST_HEADERS);
    /* It alone does not say who asks. */
    for (size_t i = 0; OPEN_SOURCES[i]; i++) {
        bool named = OPEN_SOURCES[i]->agent == NULL;
        assert_true(named == (OPEN_SOURCES[i] != &SOURCE_DUCKDUCKGO));
    }
}

static void duckduckgo_knows_some_regions(void **state)
{
    (void)state;
    static const struct {
        const char *region, *language, *word, *left_out;
    } CASES[] = {
        {NULL, NULL, "wt-wt", ""},         {"US", NULL, "us-en", ""},
        {"CH", "it", "ch-it", ""},         {"JP", "ja-JP", "jp-jp", ""},
        {"DE", "en", "de-de", "language"}, {NULL, "de", "wt-wt", "language"},
        {"AQ", NULL, "wt-wt", "region"},   {"AQ", "en", "wt-wt", "language,region"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = {.text = "fish",
                                     .count = 3,
                                     .page = 1,
                                     .region = CASES[i].region,
                                     .language = CASES[i].language};
        struct provider_request request = build(&SOURCE_DUCKDUCKGO, &query);
        const char *expected = arena_printf(arena, "/html/ q=fish&b=&kl=%s", CASES[i].word);
        assert_string_equal(sent(&request), expected);
        assert_string_equal(left_out(&request), CASES[i].left_out);
    }
}

static void long_queries_are_cut_where_they_must(void **state)
{
    (void)state;
    struct search_query query = {
        .text = long_text(), .count = 3, .page = 1, .sites = {"a.org"}, .site_count = 1};
    struct provider_request request = build(&SOURCE_DUCKDUCKGO, &query);
    assert_string_equal(left_out(&request), "query");
    assert_non_null(strstr(request.body, "%20site%3Aa.org&b="));
    size_t length;
    url_decode(arena, request.body + 2, strcspn(request.body + 2, "&"), &length);
    assert_in_range(length, 450, 499);
    /* Sites that would take the place of the words are left to forage. */
    char site[300] = {0};
    memset(site, 's', sizeof site - 1);
    query.sites[0] = site;
    request = build(&SOURCE_DUCKDUCKGO, &query);
    assert_string_equal(left_out(&request), "query,sites");
    assert_null(strstr(request.body, "site"));
    /* Of keywords a part is enough: the objective has all of it. */
    query.site_count = 0;
    request = build(&SOURCE_PARALLEL, &query);
    assert_string_equal(left_out(&request), "");
    assert_sent(&request, query.text);
    const char *keywords = strstr(request.body, "\"search_queries\":[\"");
    assert_non_null(keywords);
    assert_in_range(strcspn(keywords + strlen("\"search_queries\":[\""), "\""), 180, 200);
}

/* ---- answers ---- */

#define TOOL_SAYS(CONTENT)                                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"          \
    "\"" CONTENT "\"}]}}"
#define EVENT(MESSAGE) "event: message\r\ndata: " MESSAGE "\r\n\r\n"
#define PROGRESS       EVENT("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}")
#define LINKS(RESULTS) "<html><body><div id=\"links\">" RESULTS "</div></body></html>"
#define RESULT(CLASSES, HREF, TITLE, SNIPPET)                                                      \
    "<div class=\"result " CLASSES "\"><div class=\"result__body\"><h2><a class='result__a' "      \
    "href='" HREF "'>" TITLE "</a></h2><a class='result__snippet' href='x'>" SNIPPET               \
    "</a></div></div>"

static const struct read_case ANSWERS[] = {
    {&SOURCE_DUCKDUCKGO,
     SEARCH_WEB,
     LINKS(RESULT("web-result",
                  "//duckduckgo.com/l/?rut=1&uddg=https%3A%2F%2Fone.example%2Fa%3Fb"
                  "%3Dc%26d&x=1",
                  "T &amp; <b>T</b>", "S <b>of</b>\n it")),
     {"T & T", "https://one.example/a?b=c&d", "S of it", NULL, NULL}},
    {&SOURCE_DUCKDUCKGO,
     SEARCH_WEB,
     LINKS(RESULT("result--ad web-result", "https://duckduckgo.com/y.js?ad=1", "Ad", "Buy")
               RESULT("web-result", "https://duckduckgo.com/y.js?ad=1", "Ad", "Buy") RESULT(
                   "web-result", "//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fa",
                   "Ad", "Buy") RESULT("web-result", "javascript:alert(1)", "Script", "S")
                   RESULT("web-result", "//duckduckgo.com/l/?uddg=javascript%3Aalert(1)", "S", "S")
                       RESULT("web-result", "//duckduckgo.com/l/?uddg=%FF%00", "S", "S")
                           RESULT("web-result", "https://one.example/", "T", "")),
     {"T", "https://one.example/", "", NULL, NULL}},
    {&SOURCE_EXA_OPEN,
     SEARCH_WEB,
     EVENT(TOOL_SAYS("Title: T\\nURL: https://one.example/\\nPublished: D\\nAuthor: "
                     "N/A\\nHighlights:\\nS\\n\\n---\\n\\nnot a result\\nTitle: neither")),
     {"T", "https://one.example/", "S\n\n---\n\nnot a result\nTitle: neither", "D", NULL}},
    {&SOURCE_EXA_OPEN,
     SEARCH_WEB,
     TOOL_SAYS("Title: N/A\\nURL: L\\nPublished: N/A\\nAuthor: A\\nText: S"),
     {"L", "L", "S", NULL, NULL}},
    {&SOURCE_FIRECRAWL,
     SEARCH_WEB,
     "{\"success\":true,\"data\":{\"web\":[{\"title\":\"T\",\"url\":\"L\",\"description\":"
     "\"S\"}"
     ",{\"title\":\"no address\"}]}}",
     {"T", "L", "S", NULL, NULL}},
    {&SOURCE_KEENABLE,
     SEARCH_WEB,
     "{\"results\":[{\"title\":\"T\",\"url\":\"L\",\"snippet\":\"S\",\"description\":\"D\","
     "\"published_at\":\"2026\"}]}",
     {"T", "L", "S", "2026", NULL}},
    {&SOURCE_KEENABLE,
     SEARCH_WEB,
     "{\"results\":[{\"title\":null,\"url\":\"L\",\"snippet\":\"\",\"description\":\"D\"}]}",
     {"L", "L", "D", NULL, NULL}},
    {&SOURCE_MARGINALIA,
     SEARCH_WEB,
     "{\"license\":\"CC-BY-NC-SA 4.0\",\"results\":[{\"url\":\"L\",\"title\":\"T\","
     "\"description\":\"S\",\"quality\":4.2}]}",
     {"T", "L", "S", NULL, NULL}},
    {&SOURCE_MWMBL,
     SEARCH_WEB,
     "{\"number_of_results\":1,\"results\":[{\"url\":\"L\",\"title\":\"T\",\"content\":\"S\"}]"
     "}",
     {"T", "L", "S", NULL, NULL}},
    {&SOURCE_PARALLEL,
     SEARCH_WEB,
     TOOL_SAYS("{\\\"results\\\":[{\\\"url\\\":\\\"L\\\",\\\"title\\\":\\\"T\\\","
               "\\\"publish_date\\\":null,\\\"excerpts\\\":[\\\"S\\\",\\\"more\\\"]}]}"),
     {"T", "L", "S", NULL, NULL}},
    {&SOURCE_PARALLEL,
     SEARCH_WEB,
     "{\"result\":{\"content\":[{\"type\":\"image\"},{\"type\":\"text\",\"text\":"
     "\"{\\\"results\\\":[{\\\"url\\\":\\\"L\\\",\\\"excerpts\\\":[]}]}\"}]}}",
     {"L", "L", "", NULL, NULL}},
    {&SOURCE_WIBY,
     SEARCH_WEB,
     "[{\"URL\":\"L\",\"Title\":\"T &#34;T&#34;\",\"Snippet\":\"S &amp; <b>S</b>\"},{},7]",
     {"T \"T\"", "L", "S & S", NULL, NULL}},
    {&SOURCE_YOU,
     SEARCH_WEB,
     PROGRESS EVENT(TOOL_SAYS("{\\\"results\\\":{\\\"web\\\":[{\\\"url\\\":\\\"L\\\","
                              "\\\"title\\\":\\\"T\\\",\\\"description\\\":\\\"\\\","
                              "\\\"snippets\\\":[\\\"S\\\"],\\\"page_age\\\":\\\"D\\\"}]}}")),
     {"T", "L", "S", "D", NULL}},
    {&SOURCE_YOU,
     SEARCH_WEB,
     "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"words\"}],\"structuredContent\":{"
     "\"results\":{\"web\":[{\"url\":\"L\",\"title\":\"T\",\"description\":\"S\"}]}}}}",
     {"T", "L", "S", NULL, NULL}},
};

static void answers_are_read(void **state)
{
    (void)state;
    check_read(ANSWERS, COUNT(ANSWERS));
}

static void several_results_stay_in_their_order(void **state)
{
    (void)state;
    static const struct {
        const struct provider *source;
        const char *text;
    } CASES[] = {
        {&SOURCE_EXA_OPEN,
         TOOL_SAYS("Title: A\\nURL: https://a.example/\\nPublished: N/A\\nAuthor: N/A\\nHighlights:"
                   "\\nOne\\nTwo\\n\\n---\\n\\nTitle: B\\nURL: https://b.example/\\nPublished: "
                   "N/A\\nAuthor: N/A\\nText: One\\nTwo")},
        {&SOURCE_DUCKDUCKGO,
         LINKS(RESULT("web-result", "https://a.example/", "A", "One\nTwo")
                   RESULT("result--more web-result", "https://b.example/", "B", "One\nTwo"))},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct hits hits;
        assert_int_equal(parse(CASES[i].source, SEARCH_WEB, CASES[i].text, &hits), OK);
        assert_int_equal(hits.count, 2);
        assert_string_equal(hits.items[0].link, "https://a.example/");
        assert_string_equal(hits.items[1].link, "https://b.example/");
        assert_string_equal(hits.items[0].snippet, hits.items[1].snippet);
        assert_null(strstr(hits.items[0].snippet, "---"));
    }
}

static void nothing_found_is_an_answer_and_another_shape_is_none(void **state)
{
    (void)state;
    static const struct shape_case CASES[] = {
        {&SOURCE_DUCKDUCKGO, SEARCH_WEB, LINKS("<div class=\"no-results\">No results.</div>"), OK,
         0},
        {&SOURCE_DUCKDUCKGO, SEARCH_WEB,
         LINKS("<div class=\"result result--no-result\">None</div>"), OK, 0},
        {&SOURCE_DUCKDUCKGO, SEARCH_WEB, LINKS(""), ERR_INVALID, 0},
        {&SOURCE_DUCKDUCKGO, SEARCH_WEB, LINKS(RESULT("result--ad web-result", "x", "Ad", "Buy")),
         ERR_INVALID, 0},
        {&SOURCE_DUCKDUCKGO, SEARCH_WEB, "", ERR_INVALID, 0},
        {&SOURCE_DUCKDUCKGO, SEARCH_WEB, "{\"results\":[]}", ERR_INVALID, 0},
        {&SOURCE_DUCKDUCKGO, SEARCH_WEB,
         "<form id=\"challenge-form\"><div class=\"anomaly-modal__title\">Unfortunately, bots use "
         "DuckDuckGo too.</div></form>",
         ERR_INVALID, 0},
        {&SOURCE_EXA_OPEN, SEARCH_WEB, EVENT(TOOL_SAYS("No search results found. Please try.")), OK,
         0},
        {&SOURCE_EXA_OPEN, SEARCH_WEB, EVENT(TOOL_SAYS("Something else")), ERR_INVALID, 0},
        {&SOURCE_EXA_OPEN, SEARCH_WEB, EVENT(TOOL_SAYS("")), ERR_INVALID, 0},
        {&SOURCE_EXA_OPEN, SEARCH_WEB,
         "{\"result\":{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"You've hit "
         "Exa's "
         "free MCP rate limit.\"}]}}",
         ERR_INVALID, 0},
        {&SOURCE_EXA_OPEN, SEARCH_WEB,
         "{\"result\":{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"No search "
         "results found\"}]}}",
         ERR_INVALID, 0},
        {&SOURCE_FIRECRAWL, SEARCH_WEB, "{\"success\":true,\"data\":{}}", OK, 0},
        {&SOURCE_FIRECRAWL, SEARCH_WEB, "{\"success\":true,\"data\":{\"web\":[]}}", OK, 0},
        {&SOURCE_FIRECRAWL, SEARCH_WEB, "{\"success\":true,\"data\":{\"web\":{}}}", ERR_INVALID, 0},
        {&SOURCE_FIRECRAWL, SEARCH_WEB, "{\"success\":false,\"data\":{\"web\":[]}}", ERR_INVALID,
         0},
        {&SOURCE_FIRECRAWL, SEARCH_WEB, "{\"success\":true,\"data\":[]}", ERR_INVALID, 0},
        {&SOURCE_KEENABLE, SEARCH_WEB, "{\"results\":[]}", OK, 0},
        {&SOURCE_KEENABLE, SEARCH_WEB, "{\"error\":\"no\"}", ERR_INVALID, 0},
        {&SOURCE_MARGINALIA, SEARCH_WEB, "{\"results\":[]}", OK, 0},
        {&SOURCE_MARGINALIA, SEARCH_WEB, "{\"license\":\"x\"}", ERR_INVALID, 0},
        {&SOURCE_MWMBL, SEARCH_WEB, "{\"results\":[]}", OK, 0},
        {&SOURCE_MWMBL, SEARCH_WEB, "[]", ERR_INVALID, 0},
        {&SOURCE_PARALLEL, SEARCH_WEB, TOOL_SAYS("{\\\"results\\\":[]}"), OK, 0},
        {&SOURCE_PARALLEL, SEARCH_WEB, TOOL_SAYS("{\\\"error\\\":\\\"no\\\"}"), ERR_INVALID, 0},
        {&SOURCE_PARALLEL, SEARCH_WEB, TOOL_SAYS("no JSON"), ERR_INVALID, 0},
        {&SOURCE_PARALLEL, SEARCH_WEB, "{\"error\":{\"code\":-32000,\"message\":\"no\"}}",
         ERR_INVALID, 0},
        {&SOURCE_WIBY, SEARCH_WEB, "[]", OK, 0},
        {&SOURCE_WIBY, SEARCH_WEB, "null", ERR_INVALID, 0},
        {&SOURCE_WIBY, SEARCH_WEB, "{\"results\":[]}", ERR_INVALID, 0},
        {&SOURCE_YOU, SEARCH_WEB, TOOL_SAYS("{\\\"results\\\":{}}"), OK, 0},
        {&SOURCE_YOU, SEARCH_WEB, TOOL_SAYS("{\\\"results\\\":{\\\"web\\\":[]}}"), OK, 0},
        {&SOURCE_YOU, SEARCH_WEB, TOOL_SAYS("{\\\"results\\\":[]}"), ERR_INVALID, 0},
        {&SOURCE_YOU, SEARCH_WEB, TOOL_SAYS("{}"), ERR_INVALID, 0},
        {&SOURCE_YOU, SEARCH_WEB, PROGRESS, ERR_INVALID, 0},
        {&SOURCE_YOU, SEARCH_WEB, "data:\n\ndata: {\n\n", ERR_INVALID, 0},
        {&SOURCE_YOU, SEARCH_WEB, "", ERR_INVALID, 0},
    };
    check_shapes(CASES, COUNT(CASES));
}

/* ---- without memory ---- */

/* What is sent is whole or not sent; what is read is right, or the arena says that it failed. The
 * parser of HTML is not ours, and does not live through it. */
static void ask_once(size_t which)
{
    const struct provider *source = ANSWERS[which].provider;
    struct search_query query = demanding("a \"b\"");
    struct arena *small = arena_new(MIB(1));
    struct provider_request request = {.arena = small, .query = &query, .base = "http://base"};
    struct hits hits;
    if (small && provider_build(source, &request) == OK) {
        assert_non_null(strstr(request.body ? request.body : request.url, "a"));
        assert_non_null(header(&request, "User-Agent"));
    }
    const char *text = ANSWERS[which].text;
    if (small && source != &SOURCE_DUCKDUCKGO &&
        provider_read(source, small, text, strlen(text), &query, &hits) == OK &&
        !arena_failed(small)) {
        assert_int_equal(hits.count, 1);
        assert_string_equal(hits.items[0].link, ANSWERS[which].hit.link);
        assert_string_equal(hits.items[0].title, ANSWERS[which].hit.title);
    }
    arena_free(small);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ANSWERS); i++) {
        failed = true;
        for (long n = 0; failed; n++) {
            failed = false;
            fail_after = n;
            ask_once(i);
            fail_after = -1;
        }
    }
}

/* ---- terms ---- */

static void each_has_its_terms(void **state)
{
    (void)state;
    assert_string_equal(SOURCE_DUCKDUCKGO.open->index, "bing");
    assert_int_equal(SOURCE_DUCKDUCKGO.open->wall_status, 202);
    assert_string_equal(SOURCE_EXA_OPEN.open->index, "exa");
    assert_true(SOURCE_MARGINALIA.open->shared && SOURCE_PARALLEL.open->shared);
    assert_non_null(SOURCE_MARGINALIA.open->attribution);
    assert_non_null(SOURCE_MWMBL.open->attribution);
    assert_non_null(SOURCE_WIBY.open->attribution);
}

UNIT_TEST(open_sources_web)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_asked_in_its_own_terms),
        cmocka_unit_test(little_is_sent_for_a_plain_search),
        cmocka_unit_test(freshness_is_said_where_there_is_a_word),
        cmocka_unit_test(one_site_has_a_word_of_its_own),
        cmocka_unit_test(pages_that_are_not_there_are_said),
        cmocka_unit_test(what_operators_insist_on_is_in_headers),
        cmocka_unit_test(duckduckgo_knows_some_regions),
        cmocka_unit_test(long_queries_are_cut_where_they_must),
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(several_results_stay_in_their_order),
        cmocka_unit_test(nothing_found_is_an_answer_and_another_shape_is_none),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(each_has_its_terms),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
