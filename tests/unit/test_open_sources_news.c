/* Open sources of news and of pictures: what each is asked, in its own terms, and how its answers
 * are read. */
#include "search_cases.h"
#include "unit.h"

static void each_is_asked_in_its_own_terms(void **state)
{
    (void)state;
    static const struct asked_case CASES[] = {
        {&SOURCE_BING_NEWS, SEARCH_NEWS,
         "/news/"
         "search?q=a-b%20%22c%20d%22%20%28site%3Aa.org%20OR%20site%3Ab.org%29%20-site%3Ac.org&"
         "format=rss&mkt=pt-DE",
         "freshness and dates", 5},
        {&SOURCE_COMMONS, SEARCH_IMAGES,
         "/w/"
         "api.php?action=query&format=json&formatversion=2&generator=search&gsrsearch=filetype%3A"
         "bitmap%7Cdrawing%20a-b%20%22c%20d%22&gsrnamespace=6&gsrlimit=5&gsroffset=5&prop="
         "imageinfo&"
         "iiprop=url%7Cextmetadata&iiextmetadatafilter=ImageDescription%7CArtist%"
         "7CLicenseShortName&"
         "iiextmetadatalanguage=pt",
         "sites,freshness and dates,region", 0},
        {&SOURCE_GDELT, SEARCH_NEWS,
         "/api/v2/doc/doc?query=a-b%20%22c%20d%22%20%28domain%3Aa.org%20OR%20domain%3Ab.org%29%20-"
         "domain%3Ac.org%20sourcecountry%3AGM%20sourcelang%3Aportuguese&mode=artlist&format="
         "json&maxrecords=10&sort=hybridrel&startdatetime=20260131000000&enddatetime="
         "20260228235959",
         "", 5},
        {&SOURCE_GOOGLE_NEWS, SEARCH_NEWS,
         "/rss/search?q=a-b%20%22c%20d%22%20%28site%3Aa.org%20OR%20site%3Ab.org%29%20-site%3Ac.org%"
         "20after%3A2026-01-31%20before%3A2026-02-28&hl=pt-BR&gl=DE&ceid=DE%3Apt",
         "", 5},
        {&SOURCE_HACKERNEWS, SEARCH_NEWS,
         "/api/v1/search?query=a-b%20%22c%20d%22&tags=story&hitsPerPage=5&page=1&numericFilters="
         "created_at_i%3E%3D1769817600%2Ccreated_at_i%3C1772323200",
         "sites,language,region", 0},
        {&SOURCE_OPENVERSE, SEARCH_IMAGES, "/v1/images/?q=a-b%20%22c%20d%22&page=2&page_size=5",
         "sites,freshness and dates,language,region", 0},
    };
    check_asked(CASES, COUNT(CASES), demanding("a-b \"c d\""));
}

static void little_is_sent_for_a_plain_search(void **state)
{
    (void)state;
    static const struct asked_case CASES[] = {
        {&SOURCE_BING_NEWS, SEARCH_NEWS, "/news/search?q=fish&format=rss", "", 0},
        {&SOURCE_GDELT, SEARCH_NEWS,
         "/api/v2/doc/doc?query=fish&mode=artlist&format=json&maxrecords=3&sort=hybridrel", "", 0},
        {&SOURCE_GOOGLE_NEWS, SEARCH_NEWS, "/rss/search?q=fish&hl=en&gl=US&ceid=US%3Aen", "", 0},
        {&SOURCE_HACKERNEWS, SEARCH_NEWS,
         "/api/v1/search?query=fish&tags=story&hitsPerPage=3&page=0", "", 0},
        {&SOURCE_OPENVERSE, SEARCH_IMAGES, "/v1/images/?q=fish&page=1&page_size=3", "", 0},
    };
    check_asked(CASES, COUNT(CASES), plain(SEARCH_WEB, "fish"));
}

static void freshness_has_a_word(void **state)
{
    (void)state;
    static const struct {
        const struct provider *source;
        enum search_freshness freshness;
        const char *sent, *left_out;
    } CASES[] = {
        {&SOURCE_BING_NEWS, FRESH_WEEK, "qft=interval%3D%228%22", ""},
        {&SOURCE_BING_NEWS, FRESH_YEAR, "format=rss", "freshness and dates"},
        {&SOURCE_GDELT, FRESH_DAY, "timespan=1d", ""},
        {&SOURCE_GDELT, FRESH_YEAR, "timespan=12m", ""},
        {&SOURCE_GOOGLE_NEWS, FRESH_WEEK, "q=fish%20when%3A7d&", ""},
        {&SOURCE_HACKERNEWS, FRESH_MONTH, "numericFilters=created_at_i%3E%3D1", ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = plain(SEARCH_NEWS, "fish");
        query.freshness = CASES[i].freshness;
        struct provider_request request = build(CASES[i].source, &query);
        assert_sent(&request, CASES[i].sent);
        assert_string_equal(left_out(&request), CASES[i].left_out);
    }
}

/* Countries and languages that a source cannot name are said. */
static void places_and_languages_have_names(void **state)
{
    (void)state;
    static const struct {
        const struct provider *source;
        const char *region, *language, *sent, *left_out;
    } CASES[] = {
        {&SOURCE_GDELT, "GB", NULL, "sourcecountry%3AUK&", ""},
        {&SOURCE_GDELT, "AQ", NULL, "query=fish&", "region"},
        {&SOURCE_GDELT, NULL, "xx", "query=fish&", "language"},
        {&SOURCE_BING_NEWS, "AT", NULL, "mkt=en-AT", ""},
        {&SOURCE_BING_NEWS, NULL, "pt-BR", "mkt=pt-BR", ""},
        {&SOURCE_BING_NEWS, NULL, "pt", "format=rss", "language"},
        {&SOURCE_BING_NEWS, NULL, "zh-Hant", "format=rss", "language"},
        {&SOURCE_GOOGLE_NEWS, NULL, "pt-BR", "hl=pt-BR&gl=BR&ceid=BR%3Apt", ""},
        {&SOURCE_GOOGLE_NEWS, "AT", "de", "hl=de&gl=AT&ceid=AT%3Ade", ""},
        {&SOURCE_GOOGLE_NEWS, NULL, "zh-Hant", "hl=zh-Hant&gl=US&ceid=US%3Azh", ""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = plain(SEARCH_NEWS, "fish");
        query.region = CASES[i].region;
        query.language = CASES[i].language;
        struct provider_request request = build(CASES[i].source, &query);
        assert_sent(&request, CASES[i].sent);
        assert_string_equal(left_out(&request), CASES[i].left_out);
    }
}

/* GDELT finds nothing on a domain with a dash, and refuses marks that mean something to it. */
static void gdelt_gets_words_that_it_can_use(void **state)
{
    (void)state;
    struct search_query query = plain(SEARCH_NEWS, "(fish) near20:\"a b\" c++");
    query.sites[0] = "a-b-c.org";
    query.site_count = 1;
    query.exclude_sites[0] = "d-e.org";
    query.exclude_site_count = 1;
    struct provider_request request = build(&SOURCE_GDELT, &query);
    assert_sent(&request, "?query=fish%20near20%20%22a%20b%22%20c%20domain%3Ac.org&");
}

static void long_queries_are_cut_where_they_must(void **state)
{
    (void)state;
    struct search_query query = plain(SEARCH_IMAGES, long_text());
    struct provider_request request = build(&SOURCE_OPENVERSE, &query);
    assert_string_equal(left_out(&request), "query");
    assert_true(strlen(request.url) < 290);
}

/* ---- answers ---- */

#define RSS_START "<rss version=\"2.0\"><channel><title>News</title><link>https://n.example/</link>"
#define RSS_END   "</channel></rss>"

static void answers_are_read(void **state)
{
    (void)state;
    static const struct read_case CASES[] = {
        {&SOURCE_BING_NEWS,
         SEARCH_NEWS,
         RSS_START "<item><title>T &amp;amp; more</title><link>http://www.bing.com/news/apiclick."
                   "aspx?ref=FexRss&amp;aid=&amp;tid=1&amp;url=https%3a%2f%2fp.example%2fa%3fb%3dc"
                   "&amp;c=2&amp;mkt=en-us</link><description>S</description><pubDate>Tue, 03 Feb "
                   "2026 04:05:06 GMT</pubDate></item>" RSS_END,
         {"T & more", "https://p.example/a?b=c", "S", "2026-02-03", NULL}},
        {&SOURCE_BING_NEWS,
         SEARCH_NEWS,
         RSS_START "<item><title>T</title><link>http://www.bing.com/news/apiclick.aspx?a=b&amp;url="
                   "javascript%3aalert(1)</link></item>" RSS_END,
         {"T", "http://www.bing.com/news/apiclick.aspx?a=b&url=javascript%3aalert(1)", "", NULL,
          NULL}},
        {&SOURCE_GOOGLE_NEWS,
         SEARCH_NEWS,
         RSS_START
         "<item><title>T - Paper</title><link>https://news.google.com/rss/articles/CBMi?oc"
         "=5</link><guid isPermaLink=\"false\">CBMi</guid><pubDate>Tue, 03 Feb 2026 "
         "04:05:06 GMT</pubDate><description>&lt;a href=\"x\"&gt;T&lt;/a&gt;&amp;nbsp;"
         "&lt;font color=\"#6f6f6f\"&gt;Paper&lt;/font&gt;</description><source url=\""
         "https://paper.example\">Paper</source></item>" RSS_END,
         {"T - Paper", "https://news.google.com/rss/articles/CBMi?oc=5", "T Paper", "2026-02-03",
          NULL}},
        {&SOURCE_GDELT,
         SEARCH_NEWS,
         "{\"articles\":[{\"url\":\"L\",\"url_mobile\":\"\",\"title\":\"T\",\"seendate\":"
         "\"20260203T041500Z\",\"socialimage\":\"I\",\"domain\":\"d.example\",\"language\":"
         "\"English\",\"sourcecountry\":\"Germany\"}]}",
         {"T", "L", "d.example", "2026-02-03T04:15:00Z", NULL}},
        {&SOURCE_GDELT,
         SEARCH_NEWS,
         "{\"articles\": [ {\"url\": \"L\",\"title\": \"It\\'s a \x01 \\\"quote\\\" \\u00e9\","
         "\"seendate\": \"soon\"} ] }",
         {"It's a   \"quote\" \xc3\xa9", "L", "", "soon", NULL}},
        {&SOURCE_HACKERNEWS,
         SEARCH_NEWS,
         "{\"hits\":[{\"objectID\":\"7\",\"title\":\"T\",\"url\":\"L\",\"points\":3,"
         "\"num_comments\":2,\"created_at\":\"2026-02-03T04:05:06Z\",\"story_text\":null}]}",
         {"T", "L", "3 points, 2 comments: https://news.ycombinator.com/item?id=7",
          "2026-02-03T04:05:06Z", NULL}},
        {&SOURCE_HACKERNEWS,
         SEARCH_NEWS,
         "{\"hits\":[{\"objectID\":\"7\",\"title\":\"Ask HN\",\"story_text\":\"Why <p>not "
         "&#x27;this"
         "&#x27;?\"}]}",
         {"Ask HN", "https://news.ycombinator.com/item?id=7", "Why not 'this'?", NULL, NULL}},
        {&SOURCE_OPENVERSE,
         SEARCH_IMAGES,
         "{\"result_count\":1,\"results\":[{\"id\":\"x\",\"title\":\"T\",\"foreign_landing_url\":"
         "\"L\",\"url\":\"I\",\"license\":\"by\",\"attribution\":\"\\\"T\\\" by A is licensed "
         "under "
         "CC BY 2.0.\"}]}",
         {"T", "L", "\"T\" by A is licensed under CC BY 2.0.", NULL, "I"}},
        {&SOURCE_COMMONS,
         SEARCH_IMAGES,
         "{\"batchcomplete\":true,\"query\":{\"pages\":[{\"title\":\"File:A.jpg\","
         "\"index\":1,\"imageinfo\":[{\"url\":\"I\",\"descriptionurl\":\"L\",\"extmetadata\":{"
         "\"ImageDescription\":{\"value\":\"<p>A <b>cat</b></p>\"},\"Artist\":{\"value\":\"<a href="
         "x>Ann</a>\"},\"LicenseShortName\":{\"value\":\"CC0\"}}}]}]}}",
         {"A.jpg", "L", "A cat \xc2\xb7 Ann \xc2\xb7 CC0", NULL, "I"}},
    };
    check_read(CASES, COUNT(CASES));
}

/* Commons gives them in no order. */
static void pictures_are_put_in_their_places(void **state)
{
    (void)state;
    struct hits hits;
    assert_int_equal(
        parse(&SOURCE_COMMONS, SEARCH_IMAGES,
              "{\"query\":{\"pages\":[{\"title\":\"File:B.jpg\",\"index\":2,\"imageinfo\":["
              "{\"descriptionurl\":\"M\"}]},{\"title\":\"File:A.jpg\",\"index\":1,"
              "\"imageinfo\":[{\"descriptionurl\":\"L\"}]}]}}",
              &hits),
        OK);
    assert_int_equal(hits.count, 2);
    assert_string_equal(hits.items[0].link, "L");
    assert_string_equal(hits.items[1].link, "M");
}

static void nothing_found_is_an_answer_and_another_shape_is_none(void **state)
{
    (void)state;
    static const struct shape_case CASES[] = {
        {&SOURCE_BING_NEWS, SEARCH_NEWS, RSS_START RSS_END, OK, 0},
        {&SOURCE_BING_NEWS, SEARCH_NEWS, "<html><body>Are you a robot?</body></html>", ERR_INVALID,
         0},
        {&SOURCE_BING_NEWS, SEARCH_NEWS, RSS_START "<item><title>T</title>", ERR_INVALID, 0},
        {&SOURCE_GOOGLE_NEWS, SEARCH_NEWS, RSS_START RSS_END, OK, 0},
        {&SOURCE_GOOGLE_NEWS, SEARCH_NEWS, "{\"rss\":[]}", ERR_INVALID, 0},
        {&SOURCE_GDELT, SEARCH_NEWS, "{}", OK, 0},
        {&SOURCE_GDELT, SEARCH_NEWS, "{\"articles\":[]}", OK, 0},
        {&SOURCE_GDELT, SEARCH_NEWS, "{\"articles\":{}}", ERR_INVALID, 0},
        {&SOURCE_GDELT, SEARCH_NEWS, "Your query was too short or too long.\n", ERR_INVALID, 0},
        {&SOURCE_GDELT, SEARCH_NEWS, "{\"articles\":[{\"url\":\"L\\", ERR_INVALID, 0},
        {&SOURCE_GDELT, SEARCH_NEWS, "", ERR_INVALID, 0},
        {&SOURCE_HACKERNEWS, SEARCH_NEWS, "{\"hits\":[]}", OK, 0},
        {&SOURCE_HACKERNEWS, SEARCH_NEWS,
         "{\"hits\":[null,{},{\"objectID\":7},{\"objectID\":\"7&x\",\"url\":\"L\"},{\"objectID\":"
         "\"8\"}]}",
         OK, 1},
        {&SOURCE_HACKERNEWS, SEARCH_NEWS, "{\"message\":\"no\",\"status\":400}", ERR_INVALID, 0},
        {&SOURCE_OPENVERSE, SEARCH_IMAGES, "{\"result_count\":0,\"results\":[]}", OK, 0},
        {&SOURCE_OPENVERSE, SEARCH_IMAGES, "{\"detail\":\"no\"}", ERR_INVALID, 0},
        {&SOURCE_COMMONS, SEARCH_IMAGES, "{\"batchcomplete\":true}", OK, 0},
        {&SOURCE_COMMONS, SEARCH_IMAGES, "{\"error\":{\"code\":\"x\",\"info\":\"no\"}}",
         ERR_INVALID, 0},
        {&SOURCE_COMMONS, SEARCH_IMAGES, "{\"batchcomplete\":true,\"query\":{\"pages\":{}}}",
         ERR_INVALID, 0},
        {&SOURCE_COMMONS, SEARCH_IMAGES,
         "{\"query\":{\"pages\":[null,7,{\"title\":\"File:x\"},{\"imageinfo\":[{\"descriptionurl\":"
         "\"L\"}]}]}}",
         OK, 1},
    };
    check_shapes(CASES, COUNT(CASES));
}

static void google_says_where_its_links_lead(void **state)
{
    (void)state;
    struct hits hits;
    assert_int_equal(parse(&SOURCE_GOOGLE_NEWS, SEARCH_NEWS,
                           RSS_START "<item><link>https://news.google.com/x</link></item>" RSS_END,
                           &hits),
                     OK);
    assert_non_null(strstr(hits.remark, "news.google.com"));
}

/* Whose links lead elsewhere first must narrow by itself. */
static void google_names_the_site_of_each_page(void **state)
{
    (void)state;
    static const char FEED[] = RSS_START
        "<item><title>A</title><link>https://news.google.com/1</link><source url=\""
        "https://www.a.org/\">A</source></item><item><title>B</title><link>"
        "https://news.google.com/2</link><source url=\"https://b.org\">B</source></item>" RSS_END;
    struct search_query query = plain(SEARCH_NEWS, "fish");
    struct hits hits;
    query.sites[0] = "a.org";
    query.site_count = 1;
    assert_int_equal(provider_read(&SOURCE_GOOGLE_NEWS, arena, FEED, strlen(FEED), &query, &hits),
                     OK);
    assert_true(hits.narrowed);
    assert_int_equal(hits.count, 1);
    assert_string_equal(hits.items[0].title, "A");
}

UNIT_TEST(open_sources_news)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_asked_in_its_own_terms),
        cmocka_unit_test(little_is_sent_for_a_plain_search),
        cmocka_unit_test(freshness_has_a_word),
        cmocka_unit_test(places_and_languages_have_names),
        cmocka_unit_test(gdelt_gets_words_that_it_can_use),
        cmocka_unit_test(long_queries_are_cut_where_they_must),
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(pictures_are_put_in_their_places),
        cmocka_unit_test(nothing_found_is_an_answer_and_another_shape_is_none),
        cmocka_unit_test(google_says_where_its_links_lead),
        cmocka_unit_test(google_names_the_site_of_each_page),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
