/* What the services answer, as Markdown: bodies in their shapes, and what must be in the result.
 * Code keeps every character. */
#include "core/limits.h"
#include "core/status.h"
#include "loaders/bodies.h"
#include "loaders/sites.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int make_arena(void **state)
{
    *state = arena_new(MIB(64));
    return *state ? 0 : -1;
}

static int free_arena(void **state)
{
    *state = arena_free(*state);
    return 0;
}

static yyjson_val *json(struct arena *arena, const char *text)
{
    struct json_problem problem;
    yyjson_doc *doc = json_parse(arena, text, strlen(text), &problem);
    if (!doc) {
        fail_msg("%s: %s", text, problem.text);
    }
    return yyjson_doc_get_root(doc);
}

static struct service_list list(struct arena *arena, const char *text)
{
    struct service_list found = {0};
    assert_int_equal(service_list_add(arena, &found, json(arena, text)), OK);
    return found;
}

static void holds(const struct document *document, const char *text)
{
    if (!strstr(document->markdown, text)) {
        fail_msg("no\n%s\nin\n%s", text, document->markdown);
    }
}

static void lacks(const struct document *document, const char *text)
{
    if (strstr(document->markdown, text)) {
        fail_msg("\n%s\nis in\n%s", text, document->markdown);
    }
}

/* Whether the texts come in this order; NULL ends them. */
static void in_order(const struct document *document, const char *const *texts)
{
    const char *at = document->markdown;
    for (; *texts; texts++) {
        const char *found = strstr(at, *texts);
        if (!found) {
            fail_msg("no\n%s\nin what follows of\n%s", *texts, document->markdown);
        }
        at = found + 1;
    }
}

/* ---- StackExchange ---- */

static void writes_a_question(void **state)
{
    struct arena *arena = *state;
    struct service_list answers = list(
        arena,
        "[{\"answer_id\":2,\"score\":50,\"is_accepted\":false,\"creation_date\":1400000000,"
        "\"body\":\"<p>high</p>\",\"owner\":{\"display_name\":\"H\"}},"
        "{\"answer_id\":3,\"score\":1,\"is_accepted\":true,\"creation_date\":1400000000,"
        "\"last_edit_date\":1500000000,\"body\":\"<h2>Why</h2><pre class=\\\"lang-cpp\\\"><code>"
        "for (std::vector&lt;int&gt; v;;) {\\n    \\tx[i] *= 2; // &amp;amp;\\n}\\n</code></pre>\","
        "\"owner\":{\"display_name\":\"A &amp; B\"}},"
        "{\"answer_id\":4,\"score\":70,\"is_accepted\":false,\"creation_date\":1400000000,"
        "\"body\":\"<p>highest</p>\"}]");
    struct service_list comments =
        list(arena,
             "[{\"post_id\":3,\"score\":5,\"creation_date\":1400000000,"
             "\"body\":\"use <code>vector&lt;int&gt;</code>\",\"owner\":{\"display_name\":\"C\"}},"
             "{\"post_id\":1,\"score\":0,\"creation_date\":1400000000,\"body\":\"on it\"}]");
    struct stackexchange_thread thread = {
        .question =
            json(arena, "{\"question_id\":1,\"title\":\"What is &quot;vector&lt;int&gt;&quot;?\","
                        "\"score\":9,\"tags\":[\"c++\",\"stl\"],\"creation_date\":1300000000,"
                        "\"link\":\"https://stackoverflow.com/questions/1/what\",\"body\":"
                        "\"<p>See <a href=\\\"/help\\\">help</a></p>\",\"owner\":"
                        "{\"display_name\":\"Q\"},\"closed_reason\":\"Duplicate\"}"),
        .answers = answers,
        .comments = comments,
        .linked = 4,
        .missing = "There is more.",
    };
    struct document document = {0};
    assert_int_equal(stackexchange_write(arena, &thread, &document), OK);
    in_order(&document,
             (const char *const[]){
                 "# What is \"vector<int>\"?\n", "Score 9 · 2011-03-13 · asked by Q",
                 "tags: c++, stl", "closed: Duplicate", "[help](https://stackoverflow.com/help)",
                 "**Comments**\n\n- **an unknown user** (2014-05-13): on it\n",
                 "## Accepted answer by A & B\n", "Score 1 · 2014-05-13 · edited 2017-07-14",
                 "#### Why\n",
                 "```cpp\nfor (std::vector<int> v;;) {\n    \tx[i] *= 2; // &amp;\n}\n```\n",
                 "- **C** (2014-05-13, score 5): use `vector<int>`\n",
                 "## Answer by an unknown user (the one that the address points at)", "highest",
                 "## Answer by H\n", "high\n", "_There is more._", NULL});
    assert_string_equal(document.kind, "question");
    assert_string_equal(document.title, "What is \"vector<int>\"?");
    assert_string_equal(document.published, "2011-03-13");
}

/* ---- GitHub ---- */

static void writes_an_issue(void **state)
{
    struct arena *arena = *state;
    struct github_thread thread = {
        .subject =
            json(arena, "{\"number\":7,\"title\":\"It `breaks`\",\"state\":\"closed\","
                        "\"state_reason\":\"not_planned\",\"user\":{\"login\":\"ann\"},"
                        "\"created_at\":\"2020-01-02T03:04:05Z\",\"closed_at\":"
                        "\"2021-01-02T03:04:05Z\",\"labels\":[{\"name\":\"bug\"},"
                        "{\"name\":\"c++\"}],\"body\":\"<!-- a template\\r\\nof lines -->\\r\\n"
                        "# Steps\\r\\n\\r\\n```cpp\\r\\n# std::vector<int> v; <!-- kept -->\\r\\n"
                        "```\\r\\n\"}"),
        .comments = list(arena, "[{\"user\":null,\"created_at\":\"2020-02-03T00:00:00Z\","
                                "\"body\":\"gone\"},{\"user\":{\"login\":\"bob\"},\"created_at\":"
                                "\"2020-02-02T00:00:00Z\",\"body\":null}]"),
    };
    struct document document = {0};
    assert_int_equal(github_write_thread(arena, &thread, &document), OK);
    in_order(&document, (const char *const[]){
                            "# It `breaks` (#7)\n",
                            "Issue · closed as not planned · opened by ann on 2020-01-02 · "
                            "closed on 2021-01-02 · labels: bug, c++",
                            "## Steps\n", "```cpp\n# std::vector<int> v; <!-- kept -->\n```\n",
                            "## Comment by bob on 2020-02-02", "## Comment by ghost on 2020-02-03",
                            "gone", NULL});
    lacks(&document, "template");
    lacks(&document, "\r");
    assert_string_equal(document.kind, "issue");
    assert_string_equal(document.authors, "ann");
}

static void writes_a_pull_request(void **state)
{
    struct arena *arena = *state;
    struct github_thread thread = {
        .is_pull = true,
        .subject =
            json(arena, "{\"number\":8,\"title\":\"Fix\",\"state\":\"closed\",\"merged\":true,"
                        "\"user\":{\"login\":\"ann\"},\"created_at\":\"2020-01-02T03:04:05Z\","
                        "\"head\":{\"label\":\"ann:fix\"},\"base\":{\"label\":\"o:main\"},"
                        "\"changed_files\":2,\"additions\":10,\"deletions\":3,\"body\":\"Why\"}"),
        .comments =
            list(arena, "[{\"user\":{\"login\":\"x\"},\"created_at\":\"2020-01-05T00:00:00Z\","
                        "\"body\":\"later\"}]"),
        .reviews = list(arena, "[{\"user\":{\"login\":\"r\"},\"state\":\"APPROVED\",\"body\":\"\","
                               "\"submitted_at\":\"2020-01-04T00:00:00Z\"},"
                               "{\"user\":{\"login\":\"s\"},\"state\":\"COMMENTED\",\"body\":\"\","
                               "\"submitted_at\":\"2020-01-04T00:00:00Z\"},"
                               "{\"user\":{\"login\":\"t\"},\"state\":\"CHANGES_REQUESTED\","
                               "\"body\":\"no\",\"submitted_at\":\"2020-01-03T00:00:00Z\"}]"),
        .review_comments =
            list(arena, "[{\"id\":1,\"path\":\"a.c\",\"line\":12,\"diff_hunk\":"
                        "\"@@ -1 +1 @@\\n one\\n two\\n three\\n-four\\n+vector<int> five\","
                        "\"user\":{\"login\":\"r\"},\"created_at\":\"2020-01-04T00:00:00Z\","
                        "\"body\":\"hm\"},{\"id\":2,\"path\":\"b.c\",\"line\":null,"
                        "\"original_line\":3,\"diff_hunk\":\"\",\"user\":{\"login\":\"r\"},"
                        "\"body\":\"other\"},{\"id\":3,\"in_reply_to_id\":1,\"path\":\"a.c\","
                        "\"user\":{\"login\":\"ann\"},\"body\":\"done\"}]"),
    };
    struct document document = {0};
    assert_int_equal(github_write_thread(arena, &thread, &document), OK);
    in_order(&document,
             (const char *const[]){
                 "# Fix (#8)", "Pull request · merged · opened by ann on 2020-01-02",
                 "`ann:fix` into `o:main` · 2 files, +10 −3", "Why",
                 "## Changes requested by t on 2020-01-03", "no", "## Approved by r on 2020-01-04",
                 "## Comment by x on 2020-01-05", "## Review comments", "### `a.c` line 12",
                 "```diff\n two\n three\n-four\n+vector<int> five\n```\n",
                 "**r**, 2020-01-04:\n\nhm", "**ann**:\n\ndone", "### `b.c` line 3", "other",
                 NULL});
    lacks(&document, "Review by s");
    lacks(&document, "@@");
}

static void writes_a_discussion(void **state)
{
    struct arena *arena = *state;
    struct service_list comments =
        list(arena, "[{\"author\":{\"login\":\"x\"},\"createdAt\":\"2020-01-02T00:00:00Z\","
                    "\"body\":\"first\",\"isAnswer\":false,\"replies\":{\"nodes\":[{\"author\":"
                    "{\"login\":\"y\"},\"body\":\"# big\"}]}},{\"author\":null,\"body\":\"this\","
                    "\"isAnswer\":true,\"replies\":{\"nodes\":[]}}]");
    struct document document = {0};
    yyjson_val *discussion = json(
        arena, "{\"number\":9,\"title\":\"How?\",\"body\":\"words\",\"author\":{\"login\":\"a\"},"
               "\"createdAt\":\"2020-01-01T00:00:00Z\",\"category\":{\"name\":\"Q&A\"}}");
    assert_int_equal(github_write_discussion(arena, discussion, &comments, NULL, &document), OK);
    in_order(&document, (const char *const[]){
                            "# How? (#9)", "Discussion · Q&A · started by a on 2020-01-01", "words",
                            "## Accepted answer by ghost", "this", "## Comment by x on 2020-01-02",
                            "first", "### Reply by y", "#### big", NULL});
}

static void writes_releases(void **state)
{
    struct arena *arena = *state;
    struct document document = {0};
    yyjson_val *releases =
        json(arena, "[{\"name\":\"\",\"tag_name\":\"v2\",\"published_at\":\"2020-01-01T00:00:00Z\","
                    "\"author\":{\"login\":\"a\"},\"prerelease\":true,\"body\":\"# New\","
                    "\"assets\":[{\"name\":\"a.zip\",\"size\":12,\"browser_download_url\":"
                    "\"https://example.org/a.zip\"}]},{\"name\":\"One\",\"tag_name\":\"v1\","
                    "\"body\":null,\"assets\":[]}]");
    assert_int_equal(github_write_releases(arena, releases, &document), OK);
    in_order(&document,
             (const char *const[]){
                 "# Releases", "## v2\n\nTag `v2` · 2020-01-01 · by a · pre-release", "### New",
                 "- [a.zip](https://example.org/a.zip) (12 bytes)", "## One\n\nTag `v1`\n", NULL});
    assert_int_equal(github_write_releases(arena, yyjson_arr_get(releases, 1), &document), OK);
    assert_string_equal(document.title, "One");
    holds(&document, "# One\n");
}

static void writes_a_repository(void **state)
{
    struct arena *arena = *state;
    struct document document = {0};
    yyjson_val *repository =
        json(arena, "{\"full_name\":\"o/r\",\"description\":\"Does it\",\"stargazers_count\":5,"
                    "\"forks_count\":1,\"open_issues_count\":2,\"language\":\"C\",\"license\":"
                    "{\"spdx_id\":\"MIT\"},\"topics\":[\"a\",\"b\"],\"homepage\":\"\","
                    "\"pushed_at\":\"2020-01-01T00:00:00Z\",\"owner\":{\"login\":\"o\"}}");
    /* "# R\n\nsee [docs](docs/a.md), ![i](i.png), [x](https://example.org/), [t](#t)\n" in lines of
     * base64. */
    yyjson_val *readme =
        json(arena, "{\"name\":\"README.md\",\"encoding\":\"base64\",\"content\":"
                    "\"IyBSCgpzZWUgW2RvY3NdKGRvY3MvYS5tZCksICFbaV0oaS5wbmcpLCBbeF0oaHR0\\n"
                    "cHM6Ly9leGFtcGxlLm9yZy8pLCBbdF0oI3QpCg==\\n\","
                    "\"html_url\":\"https://github.com/o/r/blob/main/README.md\",\"download_url\":"
                    "\"https://raw.githubusercontent.com/o/r/main/README.md\"}");
    assert_int_equal(github_write_repository(arena, repository, readme, &document), OK);
    in_order(&document,
             (const char *const[]){"Repository **o/r**: Does it",
                                   "5 stars · 1 forks · 2 open issues · C · MIT", "topics: a, b",
                                   "# R\n", "[docs](https://github.com/o/r/blob/main/docs/a.md)",
                                   "![i](https://raw.githubusercontent.com/o/r/main/i.png)",
                                   "[x](https://example.org/)", "[t](#t)", NULL});
    assert_int_equal(github_write_repository(arena, repository, NULL, &document), OK);
    holds(&document, "Does it");
}

/* ---- Wikipedia ---- */

static void writes_an_article(void **state)
{
    struct arena *arena = *state;
    struct document document = {0};
    yyjson_val *parse = json(
        arena,
        "{\"title\":\"C++\",\"properties\":{},\"text\":\"<div class=\\\"mw-parser-output\\\">"
        "<div class=\\\"shortdescription\\\">short</div><p><b>C++</b> is a "
        "<a href=\\\"/wiki/Language\\\">language</a>.</p><h2>Use<span class=\\\"mw-editsection\\\">"
        "edit</span></h2><div class=\\\"mw-highlight "
        "mw-highlight-lang-cpp\\\"><pre><span>std</span>"
        "<span>::</span><span>vector</span><span>&lt;</span><span>int</span><span>&gt;</span> v;\\n"
        "  v.size();\\n</pre></div><div class=\\\"navbox\\\" role=\\\"navigation\\\">all "
        "languages</div>"
        "</div>\"}");
    assert_int_equal(
        wikipedia_write(arena, parse, "https://en.wikipedia.org/wiki/C%2B%2B", &document), OK);
    in_order(&document,
             (const char *const[]){"# C++\n", "**C++** is a",
                                   "[language](https://en.wikipedia.org/wiki/Language)", "## Use\n",
                                   "std::vector<int> v;\n  v.size();", NULL});
    lacks(&document, "all languages");
    lacks(&document, "edit");
    lacks(&document, "short");
    holds(&document, "```cpp\n");
    assert_string_equal(document.kind, "article");
}

static void writes_a_disambiguation_as_a_list(void **state)
{
    struct arena *arena = *state;
    struct document document = {0};
    yyjson_val *parse =
        json(arena,
             "{\"title\":\"Mercury\",\"properties\":{\"disambiguation\":\"\"},\"text\":"
             "\"<p><b>Mercury</b> may refer to:</p><ul><li><a href=\\\"/wiki/Mercury_(planet)\\\">"
             "Mercury (planet)</a></li><li><a href=\\\"/wiki/Mercury_(element)\\\">Mercury "
             "(element)</a></li></ul>\"}");
    assert_int_equal(
        wikipedia_write(arena, parse, "https://en.wikipedia.org/wiki/Mercury", &document), OK);
    assert_string_equal(document.kind, "disambiguation");
    in_order(&document, (const char *const[]){
                            "# Mercury\n", "_Several articles have this name",
                            "- [Mercury (planet)](https://en.wikipedia.org/wiki/Mercury_",
                            "- [Mercury (element)](https://en.wikipedia.org/wiki/Mercury_", NULL});
}

/* ---- arXiv ---- */

#define ATOM                                                                                       \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><feed xmlns=\"http://www.w3.org/2005/Atom\">"       \
    "<title>ArXiv Query</title><id>x</id>"

static void reads_arxiv(void **state)
{
    static const char FOUND[] =
        ATOM "<entry><id>http://arxiv.org/abs/1706.03762v7</id><published>2017-06-12T17:57:34Z"
             "</published><updated>2023-08-02T00:41:18Z</updated><title>Attention Is\n  All</title>"
             "<summary>  The dominant &amp; so\n on. </summary><author><name>A B</name>"
             "<arxiv:affiliation>G</arxiv:affiliation></author><author><name>C D</name></author>"
             "<arxiv:comment>15 pages</arxiv:comment><category term=\"cs.CL\"/>"
             "<category term=\"cs.LG\"/></entry></feed>";
    struct arxiv_paper paper;
    struct document document = {0};
    assert_int_equal(arxiv_parse(*state, FOUND, strlen(FOUND), &paper), OK);
    assert_int_equal(arxiv_write(*state, &paper, "1706.03762", "# T\n\ntext\n", NULL, &document),
                     OK);
    in_order(&document,
             (const char *const[]){"# Attention Is All\n", "- Authors: A B, C D\n",
                                   "- Published: 2017-06-12\n", "- Categories: cs.CL, cs.LG\n",
                                   "- Comment: 15 pages\n", "(https://arxiv.org/abs/1706.03762)",
                                   "## Abstract\n\nThe dominant & so on.\n", "## Full text",
                                   "### T\n\ntext", NULL});
    assert_int_equal(arxiv_write(*state, &paper, "1706.03762", NULL, "no PDF", &document), OK);
    holds(&document, "_The full text could not be read: no PDF_");
    assert_string_equal(document.authors, "A B, C D");
}

static void notices_papers_that_are_not_there(void **state)
{
    static const struct {
        const char *xml;
        int status;
    } CASES[] = {
        {ATOM "</feed>", ERR_NOTFOUND},
        {ATOM "<entry><id>http://arxiv.org/api/errors#x</id><title>Error</title>"
              "<summary>incorrect id format</summary></entry></feed>",
         ERR_NOTFOUND},
        {ATOM "<entry><title>T</title>", ERR_INVALID},
        {"<html/>", ERR_INVALID},
        {"", ERR_INVALID},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arxiv_paper paper;
        assert_int_equal(arxiv_parse(*state, CASES[i].xml, strlen(CASES[i].xml), &paper),
                         CASES[i].status);
    }
}

/* ---- plain ---- */

static void writes_plain_texts(void **state)
{
    static const struct {
        struct plain_form form;
        const char *text, *markdown;
    } CASES[] = {
        {{PLAIN_TEXT, ""}, "a  <b>\n", "a  <b>\n"},
        {{PLAIN_MARKDOWN, ""}, "# A\r\n\r\n\r\n* b\r\n", "# A\n\n* b\n"},
        {{PLAIN_CODE, "c"}, "int x;", "```c\nint x;\n```\n"},
        {{PLAIN_CODE, ""}, "```\nx\n````\n", "`````\n```\nx\n````\n`````\n"},
        {{PLAIN_JSON, "json"},
         "{\"a\":[1,\"<b>\"]}",
         "```json\n{\n  \"a\": [\n    1,\n    \"<b>\"\n  ]\n}\n```\n"},
        {{PLAIN_JSON, "json"}, "{broken", "```json\n{broken\n```\n"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct document document = {0};
        assert_int_equal(plain_write(*state, CASES[i].form, CASES[i].text, strlen(CASES[i].text),
                                     NULL, &document),
                         OK);
        assert_string_equal(document.markdown, CASES[i].markdown);
    }
}

static void composes_markdown(void **state)
{
    static const struct compose_links LINKS = {"https://p/", "https://i/"};
    static const struct {
        int levels;
        const char *text, *markdown;
    } CASES[] = {
        {0, "a\n\n\n\nb", "a\n\nb\n"},
        {2, "# a\n###### b\n#c", "### a\n###### b\n#c\n"},
        {1, "~~~\n# a\n~~~\n# b", "~~~\n# a\n~~~\n## b\n"},
        {1, "````\n```\n# a\n````\n# b", "````\n```\n# a\n````\n## b\n"},
        {0, "a <!-- x --> b <!-- y\nz --> c", "a  b \n c\n"},
        {0, "`<!-- x -->` and `` `[a](b)` ``", "`<!-- x -->` and `` `[a](b)` ``\n"},
        {0, "[a](b) ![c](./d.png \"t\")", "[a](https://p/b) ![c](https://i/d.png \"t\")\n"},
        {0, "[a](mailto:x) [b](/c) [d](#e) [f](//g)", "[a](mailto:x) [b](/c) [d](#e) [f](//g)\n"},
        {0, "```\n[a](b)\n```", "```\n[a](b)\n```\n"},
        {0, "", ""},
        {0, "<!-- only -->\n", ""},
        {0, "\n\na\n\n", "a\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct buf out;
        buf_init(&out, MIB(1));
        compose_markdown(&out, CASES[i].text, strlen(CASES[i].text), CASES[i].levels, &LINKS);
        assert_string_equal(out.data ? out.data : "", CASES[i].markdown);
        buf_done(&out);
    }
}

static void repairs_what_is_no_utf8(void **state)
{
    struct buf out;
    struct document document = {0};
    buf_init(&out, MIB(1));
    buf_puts(&out, "a\xFF\xC3");
    assert_int_equal(compose_done(*state, &out, &document), OK);
    assert_string_equal(document.markdown, "a\xEF\xBF\xBD\xEF\xBF\xBD");
    buf_init(&out, 4);
    buf_puts(&out, "ab");
    buf_puts(&out, "cdefgh");
    assert_int_equal(compose_done(*state, &out, &document), OK);
    assert_true(document.cut);
}

UNIT_TEST(loader_documents)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_a_question, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(writes_an_issue, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(writes_a_pull_request, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(writes_a_discussion, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(writes_releases, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(writes_a_repository, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(writes_an_article, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(writes_a_disambiguation_as_a_list, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(reads_arxiv, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(notices_papers_that_are_not_there, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(writes_plain_texts, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(composes_markdown, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(repairs_what_is_no_utf8, make_arena, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
