/* What pages say about themselves: which source is believed first, dates in many spellings, titles
 * without the name of the site. */
#include "core/limits.h"
#include "core/status.h"
#include "html/extract.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static const char *or_nothing(const char *text)
{
    return text ? text : "nothing";
}

static struct extract_result read_page(struct arena *arena, const char *html)
{
    struct extract_input input = {
        .bytes = html, .length = strlen(html), .url = "https://example.org/"};
    struct extract_result page;
    assert_int_equal(extract_page(arena, &input, &page), OK);
    return page;
}

static void reads_pages(void **state)
{
    (void)state;
    static const struct {
        const char *html;
        const char *title, *authors, *published, *site, *language;
    } CASES[] = {
        {"<html lang=de><title>A thing | The Site</title><p>x", "A thing", "nothing", "nothing",
         "nothing", "de"},
        {"<title>T</title><meta property=og:title content='From OpenGraph'><meta "
         "property=og:site_name "
         "content='The Site'><meta name=author content='By Ann Author'><meta "
         "property=article:published_time "
         "content='2024-05-01T10:00:00+02:00'><p>x",
         "From OpenGraph", "Ann Author", "2024-05-01T10:00:00+02:00", "The Site", "nothing"},
        {"<meta property=og:title content=og><meta name=author content='Meta Name'><script "
         "type='application/"
         "ld+json'>{\"@context\":\"x\",\"@graph\":[{\"@type\":\"WebSite\",\"name\":\"S\"},"
         "{\"@type\":[\"NewsArticle\"],\"headline\":\"From\\nJSON\",\"author\":[{\"name\":\"A "
         "One\"},"
         "{\"@id\":\"#b\"}],\"datePublished\":\"2024-01-02\",\"publisher\":{\"name\":\"Paper\"},},"
         "{\"@type\":\"Person\",\"@id\":\"#b\",\"name\":\"B Two\"}]}</script><p>x",
         "From JSON", "A One, B Two", "2024-01-02", "Paper", "nothing"},
        {"<title>Some page</title><script type='application/ld+json'>{broken</script><div "
         "itemprop=author>"
         "By Carl Three</div><time datetime='2023-02-03T04:05:06Z'>then</time><p>x",
         "Some page", "Carl Three", "2023-02-03T04:05:06Z", "nothing", "nothing"},
        {"<title>The heading - and more for engines</title><h1>The heading</h1><p "
         "class=byline>Written by Dan "
         "Four</p><p>x",
         "The heading", "Dan Four", "nothing", "nothing", "nothing"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arena *arena = arena_new(MIB(8));
        struct extract_result page = read_page(arena, CASES[i].html);
        const char *found[] = {page.title, page.authors, page.published, page.site, page.language};
        const char *expected[] = {CASES[i].title, CASES[i].authors, CASES[i].published,
                                  CASES[i].site, CASES[i].language};
        for (size_t fact = 0; fact < COUNT(found); fact++) {
            if (strcmp(or_nothing(found[fact]), expected[fact]) != 0) {
                fail_msg("page %zu: \"%s\" instead of \"%s\"", i, or_nothing(found[fact]),
                         expected[fact]);
            }
        }
        arena_free(arena);
    }
}

static void reads_dates(void **state)
{
    (void)state;
    static const struct {
        const char *text, *date;
    } CASES[] = {
        {"2024-05-01", "2024-05-01"},
        {"2024/5/1", "2024-05-01"},
        {"2024/05/01", "2024-05-01"},
        {"2024-05-01T10:20", "2024-05-01T10:20:00"},
        {"2024-05-01 10:20:30.123Z", "2024-05-01T10:20:30Z"},
        {"2024-05-01T10:20:30+0200", "2024-05-01T10:20:30+02:00"},
        {"May 1, 2024", "2024-05-01"},
        {"1st of May 2024", "2024-05-01"},
        {"Wed, 01 May 2024 10:00:00 GMT", "2024-05-01"},
        {"Published on 31 December 1999", "1999-12-31"},
        {"2024-13-01", "nothing"},
        {"yesterday", "nothing"},
        {"", "nothing"},
    };
    struct arena *arena = arena_new(MIB(8));
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char html[200];
        snprintf(html, sizeof html, "<meta name=date content='%s'><p>x", CASES[i].text);
        const char *date = or_nothing(read_page(arena, html).published);
        if (strcmp(date, CASES[i].date) != 0) {
            fail_msg("\"%s\" is %s", CASES[i].text, date);
        }
    }
    assert_null(read_page(arena, "<p>x").published);
    arena_free(arena);
}

static void cuts_the_site(void **state)
{
    (void)state;
    static const struct {
        const char *title, *site, *cut;
    } CASES[] = {
        {"How to sail - The Paper", "The Paper", "How to sail"},
        {"The Paper | How to sail", "The Paper", "How to sail"},
        {"How to sail | World | The Paper", "The Paper", "How to sail | World"},
        {"How to sail around the world - Paper", NULL, "How to sail around the world"},
        {"Cats - dogs and all the other animals", NULL, "Cats - dogs and all the other animals"},
        {"Spider-Man", "Man", "Spider-Man"},
        {"Plain", "The Paper", "Plain"},
    };
    struct arena *arena = arena_new(MIB(8));
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char html[200];
        snprintf(html, sizeof html,
                 "<title>%s</title><meta property=og:site_name content='%s'><p>x", CASES[i].title,
                 CASES[i].site ? CASES[i].site : "");
        assert_string_equal(read_page(arena, html).title, CASES[i].cut);
    }
    arena_free(arena);
}

UNIT_TEST(metadata)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_pages),
        cmocka_unit_test(reads_dates),
        cmocka_unit_test(cuts_the_site),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
