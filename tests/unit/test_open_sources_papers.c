/* Open sources of papers: what each is asked, in its own terms, and how its answers are read. */
#include "search_cases.h"
#include "unit.h"

static void each_is_asked_in_its_own_terms(void **state)
{
    (void)state;
    static const struct asked_case CASES[] = {
        {&SOURCE_ARXIV, SEARCH_SCHOLAR,
         "/api/query?search_query=%28all%3Aa-b%20AND%20all%3A%22c%20d%22%29%20AND%20submittedDate"
         "%3A%5B202601310000%20TO%20202602282359%5D&start=5&max_results=5&sortBy=relevance&"
         "sortOrder"
         "=descending",
         "sites,language,region", 0},
        {&SOURCE_CROSSREF, SEARCH_SCHOLAR,
         "/works?query=a-b%20%22c%20d%22&rows=5&offset=5&filter=from-pub-date%3A2026-01-31%2Cuntil-"
         "pub-date%3A2026-02-28&select=DOI%2CURL%2Ctitle%2Cabstract%2Ccontainer-title%2Cissued&"
         "mailto=me%40example.org",
         "sites,language,region", 0},
        {&SOURCE_EUROPE_PMC, SEARCH_SCHOLAR,
         "/search?query=%28a-b%20%22c%20d%22%29%20AND%20FIRST_PDATE%3A%5B2026-01-31%20TO%202026-02-"
         "28%5D&format=json&resultType=core&pageSize=10",
         "sites,language,region", 5},
        {&SOURCE_OPENALEX, SEARCH_SCHOLAR,
         "/works?search=a-b%20c%20d&per_page=5&page=2&filter=from_publication_date%3A2026-01-31%"
         "2Cto"
         "_publication_date%3A2026-02-28%2Clanguage%3Apt&select=id%2Cdoi%2Cdisplay_name%2C"
         "publication_date%2Copen_access%2Cabstract_inverted_index",
         "sites,region", 0},
        {&SOURCE_SEMANTIC_SCHOLAR, SEARCH_SCHOLAR,
         "/graph/v1/paper/"
         "search?query=a%20b%20c%20d&offset=5&limit=5&fields=title%2Cabstract%2Ctldr"
         "%2Curl%2CopenAccessPdf%2CexternalIds%2CpublicationDate%2Cyear%2Cvenue&"
         "publicationDateOrYear=2026-01-31%3A2026-02-28",
         "sites,language,region", 0},
    };
    check_asked(CASES, COUNT(CASES), demanding("a-b \"c d\""));
}

static void little_is_sent_for_a_plain_search(void **state)
{
    (void)state;
    static const struct asked_case CASES[] = {
        {&SOURCE_ARXIV, SEARCH_SCHOLAR,
         "/api/query?search_query=all%3Afish&start=0&max_results=3&sortBy=relevance&sortOrder="
         "descending",
         "", 0},
        {&SOURCE_CROSSREF, SEARCH_SCHOLAR,
         "/works?query=fish&rows=3&select=DOI%2CURL%2Ctitle%2Cabstract%2Ccontainer-title%2Cissued&"
         "mailto=me%40example.org",
         "", 0},
        {&SOURCE_EUROPE_PMC, SEARCH_SCHOLAR,
         "/search?query=fish&format=json&resultType=core&pageSize=3", "", 0},
        {&SOURCE_OPENALEX, SEARCH_SCHOLAR,
         "/works?search=fish&per_page=3&page=1&select=id%2Cdoi%2Cdisplay_name%2Cpublication_date%2C"
         "open_access%2Cabstract_inverted_index",
         "", 0},
        {&SOURCE_SEMANTIC_SCHOLAR, SEARCH_SCHOLAR,
         "/graph/v1/paper/"
         "search?query=fish&offset=0&limit=3&fields=title%2Cabstract%2Ctldr%2Curl%2C"
         "openAccessPdf%2CexternalIds%2CpublicationDate%2Cyear%2Cvenue",
         "", 0},
    };
    check_asked(CASES, COUNT(CASES), plain(SEARCH_WEB, "fish"));
}

static void a_doi_is_looked_up(void **state)
{
    (void)state;
    static const struct {
        const struct provider *source;
        const char *text, *sent;
    } CASES[] = {
        {&SOURCE_CROSSREF, "10.1000/xyz(1)", "filter=doi%3A10.1000%2Fxyz%281%29&"},
        {&SOURCE_CROSSREF, "https://doi.org/10.1000/x", "/works?rows="},
        {&SOURCE_CROSSREF, "10.1000/x,type:a", "query=10.1000"},
        {&SOURCE_OPENALEX, "doi: 10.1000/x", "filter=doi%3A10.1000%2Fx&"},
        {&SOURCE_OPENALEX, "10.1000/x|10.1000/y", "search=10.1000"},
        {&SOURCE_EUROPE_PMC, "DOI:10.1000/x", "query=DOI%3A%2210.1000%2Fx%22&"},
        {&SOURCE_CROSSREF, "10.1 is no doi/", "query=10.1"},
        {&SOURCE_CROSSREF, "10.1000/x and more", "query=10.1000"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = plain(SEARCH_SCHOLAR, CASES[i].text);
        struct provider_request request = build(CASES[i].source, &query);
        assert_sent(&request, CASES[i].sent);
    }
}

static void a_sentence_need_not_be_in_a_paper_whole(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"one two three", "all%3Aone%20AND%20all%3Atwo%20AND%20all%3Athree&"},
        {"how does attention work in large language models", "all%3Ahow%20OR%20all%3Adoes"},
        {"cats AND dogs", "all%3Acats%20AND%20all%3Adogs&"},
        {"ti:evil) OR (au:b", "all%3Ati%20AND%20all%3Aevil%20AND%20all%3Aau%20AND%20all%3Ab&"},
        {"an \"open quote", "all%3Aan%20AND%20all%3Aopen%20AND%20all%3Aquote&"},
        {"???", "all%3A%3F%3F%3F&"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct search_query query = plain(SEARCH_SCHOLAR, CASES[i][0]);
        struct provider_request request = build(&SOURCE_ARXIV, &query);
        assert_sent(&request, CASES[i][1]);
    }
}

static void pages_end_where_the_source_ends_them(void **state)
{
    (void)state;
    struct search_query query = {.text = "fish", .count = 20, .page = 60, .type = SEARCH_SCHOLAR};
    struct provider_request request = build(&SOURCE_SEMANTIC_SCHOLAR, &query);
    assert_string_equal(left_out(&request), "page");
    assert_sent(&request, "offset=979&limit=20&");
}

/* Only an address of mail is one that Crossref can write to. */
static void contacts_are_told_in_the_words_of_the_source(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"a@b.example", "mailto=a%40b.example"},
        {"MAILTO:a@b.example", "mailto=a%40b.example"},
        {"https://me@b.example/", NULL},
        {"", NULL},
    };
    struct search_query query = plain(SEARCH_SCHOLAR, "fish");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        load_contact(CASES[i][0]);
        struct provider_request request = build(&SOURCE_CROSSREF, &query);
        const char *found = strstr(request.url, "mailto=");
        assert_true(!found == !CASES[i][1]);
        if (found) {
            assert_string_equal(found, CASES[i][1]);
        }
    }
    load_contact(CONTACT);
}

/* ---- answers ---- */

#define ATOM_START "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>ArXiv Query</title>"

static void answers_are_read(void **state)
{
    (void)state;
    static const struct read_case CASES[] = {
        {&SOURCE_ARXIV,
         SEARCH_SCHOLAR,
         ATOM_START
         "<entry><id>http://arxiv.org/abs/1v1</id><updated>2021-01-01T00:00:00Z</updated>"
         "<published>2020-01-02T03:04:05Z</published><title>A\n  &lt;T&gt;</title>"
         "<summary>  Words\n for n&lt;m and p&gt;q </summary><link "
         "href=\"http://arxiv.org/abs/1v1\" "
         "rel=\"alternate\"/><link href=\"http://arxiv.org/pdf/1v1\" rel=\"related\"/>"
         "</entry></feed>",
         {"A <T>", "https://arxiv.org/abs/1v1", "Words for n<m and p>q", "2020-01-02", NULL}},
        {&SOURCE_CROSSREF,
         SEARCH_SCHOLAR,
         "{\"status\":\"ok\",\"message\":{\"items\":[{\"DOI\":\"10.1000/A<b>\",\"URL\":\"U\","
         "\"title\":[\"H<sub>2</sub>O &amp; "
         "more\"],\"abstract\":\"<jats:title>Abstract</jats:title>"
         "<jats:p>It is <jats:italic>here</jats:italic>, x &lt; y.</jats:p>\",\"issued\":{\"date-"
         "parts\":[[2020,10,3]]}}]}}",
         {"H2O & more", "https://doi.org/10.1000/a%3Cb%3E", "Abstract It is here, x < y.",
          "2020-10-03", NULL}},
        {&SOURCE_CROSSREF,
         SEARCH_SCHOLAR,
         "{\"message\":{\"items\":[{\"URL\":\"U\",\"title\":[],\"container-title\":[\"Journal\"],"
         "\"issued\":{\"date-parts\":[[2020,13]]}}]}}",
         {"U", "U", "Journal", "2020", NULL}},
        {&SOURCE_CROSSREF,
         SEARCH_SCHOLAR,
         "{\"message\":{\"items\":[{\"URL\":\"U\",\"issued\":{\"date-parts\":[[null]]}}]}}",
         {"U", "U", "", NULL, NULL}},
        {&SOURCE_EUROPE_PMC,
         SEARCH_SCHOLAR,
         "{\"resultList\":{\"result\":[{\"id\":\"1\",\"source\":\"MED\",\"pmcid\":\"PMC7\",\"doi\":"
         "\"10.1000/x\",\"title\":\"T.\",\"abstractText\":\"<h4>Aim</h4>To see.\","
         "\"firstPublicationDate\":\"2020-01-02\"}]}}",
         {"T.", "https://pmc.ncbi.nlm.nih.gov/articles/PMC7/", "Aim To see.", "2020-01-02", NULL}},
        {&SOURCE_EUROPE_PMC,
         SEARCH_SCHOLAR,
         "{\"resultList\":{\"result\":[{\"id\":\"1\",\"source\":\"MED\",\"title\":\"T\",\"pmcid\":"
         "\"PMC7/../x\",\"authorString\":\"A B\"}]}}",
         {"T", "https://europepmc.org/article/MED/1", "A B", NULL, NULL}},
        {&SOURCE_OPENALEX,
         SEARCH_SCHOLAR,
         "{\"meta\":{},\"results\":[{\"id\":\"https://openalex.org/W1\",\"doi\":"
         "\"https://doi.org/10.1000/X\",\"display_name\":\"T\",\"publication_date\":\"2020-01-02\","
         "\"open_access\":{\"is_oa\":true,\"oa_url\":\"https://copy.example/1.pdf\"},"
         "\"abstract_inverted_index\":{\"fish\":[1,3],\"A\":[0],\"eats\":[2]}}]}",
         {"T", "https://copy.example/1.pdf", "A fish eats fish", "2020-01-02", NULL}},
        {&SOURCE_OPENALEX,
         SEARCH_SCHOLAR,
         "{\"results\":[{\"id\":\"https://openalex.org/W1\",\"doi\":\"https://doi.org/10.1000/X\","
         "\"display_name\":null,\"open_access\":{\"oa_url\":null},\"abstract_inverted_index\":null}"
         "]}",
         {"https://doi.org/10.1000/x", "https://doi.org/10.1000/x", "", NULL, NULL}},
        {&SOURCE_OPENALEX,
         SEARCH_SCHOLAR,
         "{\"results\":[{\"id\":\"I\",\"abstract_inverted_index\":{\"a\":[-1,1e9,\"0\","
         "18446744073709"
         "551615],\"b\":7,\"c\":[999]}}]}",
         {"I", "I", "c", NULL, NULL}},
        {&SOURCE_SEMANTIC_SCHOLAR,
         SEARCH_SCHOLAR,
         "{\"total\":1,\"offset\":0,\"data\":[{\"paperId\":\"p\",\"title\":\"T\",\"abstract\":null,"
         "\"tldr\":{\"model\":\"m\",\"text\":\"Brief\"},\"url\":\"U\",\"openAccessPdf\":{\"url\":"
         "\"\"},\"externalIds\":{\"DOI\":\"10.1000/X\"},\"publicationDate\":null,\"year\":2020}]}",
         {"T", "https://doi.org/10.1000/x", "Brief", "2020", NULL}},
        {&SOURCE_SEMANTIC_SCHOLAR,
         SEARCH_SCHOLAR,
         "{\"total\":1,\"data\":[{\"title\":\"T\",\"abstract\":\"A\",\"openAccessPdf\":{\"url\":"
         "\"https://copy.example/\"},\"externalIds\":null,\"publicationDate\":\"2020-01-02\"}]}",
         {"T", "https://copy.example/", "A", "2020-01-02", NULL}},
        {&SOURCE_SEMANTIC_SCHOLAR,
         SEARCH_SCHOLAR,
         "{\"total\":1,\"data\":[{\"title\":\"T\",\"openAccessPdf\":null,\"externalIds\":{"
         "\"ArXiv\":\"1706.1\"}"
         ","
         "\"venue\":\"V\"}]}",
         {"T", "https://arxiv.org/abs/1706.1", "V", NULL, NULL}},
    };
    check_read(CASES, COUNT(CASES));
}

static void nothing_found_is_an_answer_and_another_shape_is_none(void **state)
{
    (void)state;
    static const struct shape_case CASES[] = {
        {&SOURCE_ARXIV, SEARCH_SCHOLAR, ATOM_START "</feed>", OK, 0},
        {&SOURCE_ARXIV, SEARCH_SCHOLAR, ATOM_START "<entry><title>T", ERR_INVALID, 0},
        {&SOURCE_ARXIV, SEARCH_SCHOLAR, "<html><body>Busy</body></html>", ERR_INVALID, 0},
        {&SOURCE_ARXIV, SEARCH_SCHOLAR, "Rate exceeded.", ERR_INVALID, 0},
        {&SOURCE_ARXIV, SEARCH_SCHOLAR, "", ERR_INVALID, 0},
        {&SOURCE_ARXIV, SEARCH_SCHOLAR,
         ATOM_START "<entry><id>http://arxiv.org/api/errors#x</id><title>Error</title><summary>"
                    "malformed</summary></entry></feed>",
         ERR_INVALID, 0},
        {&SOURCE_CROSSREF, SEARCH_SCHOLAR, "{\"message\":{\"items\":[]}}", OK, 0},
        {&SOURCE_CROSSREF, SEARCH_SCHOLAR,
         "{\"message\":{\"items\":[null,7,{},{\"DOI\":\"nonsense\"},{\"DOI\":\"10.1000/x\"}]}}", OK,
         1},
        {&SOURCE_CROSSREF, SEARCH_SCHOLAR, "{\"status\":\"failed\",\"message\":[]}", ERR_INVALID,
         0},
        {&SOURCE_CROSSREF, SEARCH_SCHOLAR, "Resource not found.", ERR_INVALID, 0},
        {&SOURCE_EUROPE_PMC, SEARCH_SCHOLAR, "{\"hitCount\":0,\"resultList\":{\"result\":[]}}", OK,
         0},
        {&SOURCE_EUROPE_PMC, SEARCH_SCHOLAR, "{\"errCode\":404,\"errMsg\":\"no\"}", ERR_INVALID, 0},
        {&SOURCE_OPENALEX, SEARCH_SCHOLAR, "{\"meta\":{\"count\":0},\"results\":[]}", OK, 0},
        {&SOURCE_OPENALEX, SEARCH_SCHOLAR, "{\"error\":\"Invalid filter\"}", ERR_INVALID, 0},
        {&SOURCE_SEMANTIC_SCHOLAR, SEARCH_SCHOLAR, "{\"total\":0,\"offset\":0}", OK, 0},
        {&SOURCE_SEMANTIC_SCHOLAR, SEARCH_SCHOLAR, "{\"total\":0,\"offset\":0,\"data\":[]}", OK, 0},
        {&SOURCE_SEMANTIC_SCHOLAR, SEARCH_SCHOLAR, "{\"total\":1,\"data\":{}}", ERR_INVALID, 0},
        {&SOURCE_SEMANTIC_SCHOLAR, SEARCH_SCHOLAR, "{\"error\":\"no\"}", ERR_INVALID, 0},
        {&SOURCE_SEMANTIC_SCHOLAR, SEARCH_SCHOLAR, "{\"data\":[1,2]}", ERR_INVALID, 0},
    };
    check_shapes(CASES, COUNT(CASES));
}

static void markup_becomes_one_line(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"plain", "plain"},
        {"a<p>b</p>c", "a b c"},
        {"H<jats:sub>2</jats:sub>O", "H2O"},
        {"a<!-- x -->b", "a b"},
        {"1 < 2 and 3 > 2", "1 < 2 and 3 > 2"},
        {"&lt;b&gt; is a tag", "<b> is a tag"},
        {"cut <b", "cut <b"},
        {"<a href=\"x\">T</a>&nbsp;&nbsp;<font color=\"#6\">Paper</font>", "T Paper"},
        {" \n\t ", ""},
        {"<", "<"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const char *text = plain_markup(arena, CASES[i][0]);
        assert_non_null(text);
        assert_true(strcmp(text, CASES[i][1]) == 0 || !fprintf(stderr, "%s\n", text));
    }
    assert_null(plain_markup(arena, NULL));
}

UNIT_TEST(open_sources_papers)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_asked_in_its_own_terms),
        cmocka_unit_test(little_is_sent_for_a_plain_search),
        cmocka_unit_test(a_doi_is_looked_up),
        cmocka_unit_test(a_sentence_need_not_be_in_a_paper_whole),
        cmocka_unit_test(pages_end_where_the_source_ends_them),
        cmocka_unit_test(contacts_are_told_in_the_words_of_the_source),
        cmocka_unit_test(answers_are_read),
        cmocka_unit_test(nothing_found_is_an_answer_and_another_shape_is_none),
        cmocka_unit_test(markup_becomes_one_line),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
