/* Where each text of a page goes: into the Markdown, or into one kind of what is left out. */
#include "core/limits.h"
#include "core/status.h"
#include "html/extract.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define PROSE                                                                                      \
    "<p>Bread is made of flour, water and time, and of little else. It takes a day, and some "     \
    "patience, until the dough has risen and the oven is hot.</p>"                                 \
    "<p>Whoever has baked once, bakes again: the second loaf is better, and the third is good. "   \
    "Nobody remembers the first one, which was a stone, and was eaten all the same.</p>"

static struct extract_result read_page(struct arena *arena, const char *html, bool all)
{
    struct extract_input input = {.bytes = html,
                                  .length = strlen(html),
                                  .url = "https://example.org/",
                                  .all = all,
                                  .account = true};
    struct extract_result page;
    assert_int_equal(extract_page(arena, &input, &page), OK);
    return page;
}

/* Where a text went; fails when it is there twice. */
static const char *place_of(const struct extract_result *page, const char *text)
{
    const char *place = "nowhere";
    for (size_t i = 0; i < page->text_count; i++) {
        if (strstr(page->texts[i].text, text)) {
            assert_string_equal(place, "nowhere");
            place = page->texts[i].what;
        }
    }
    return place;
}

/* Each page holds the word FIN once. */
static const struct {
    const char *html;
    const char *what;
    const char *of_all; /* the same where everything is read; NULL: "markdown" */
} PLACES[] = {
    /* What choosing leaves out, it has a name for. */
    {"<nav><a href=/a>FIN</a><a href=/b>News</a></nav><main>" PROSE "</main>", "navigation", NULL},
    {"<main>" PROSE "</main><footer>FIN</footer>", "footer", NULL},
    {"<main>" PROSE "<div class=share-buttons>FIN</div></main>", "promotion", NULL},
    {"<main>" PROSE "</main><div class=related-posts><h3>More</h3><a href=/x>FIN</a></div>",
     "related", NULL},
    {"<main>" PROSE "<button>FIN</button></main>", "controls", NULL},
    {"<main>" PROSE "<select><option>FIN<option>Two</select></main>", "controls", NULL},
    {"<main>" PROSE "</main><div role=dialog><p>FIN</p></div>", "banner", NULL},
    /* What no name tells of: links that are words, links that are titles, teasers, a few words. */
    {"<div><a href=/a>FIN</a> <a href=/b>News</a></div><main>" PROSE "</main>", "navigation", NULL},
    {"<main>" PROSE "</main><div><a href=/a>FIN, or how the mill came to the village</a></div>",
     "related", NULL},
    {"<main>" PROSE "</main><div><div><a href=/a>Rolls</a> FIN are small, and eaten while they are "
     "warm</div><div><a href=/b>Cakes</a> are sweet, and nobody needs them, but for the "
     "joy</div><div><a href=/c>Pies</a> hold something that nobody has seen</div></div>",
     "related", NULL},
    {"<div>FIN, a paper</div><main>" PROSE "</main>", "header", NULL},
    {"<main>" PROSE "</main><div>FIN, all rights reserved</div>", "footer", NULL},
    /* What nobody sees is in neither. */
    {"<main>" PROSE "<p hidden>FIN</p></main>", "hidden", "hidden"},
    {"<main>" PROSE "</main><div style='display:none'><nav>FIN</nav></div>", "hidden", "hidden"},
    {"<main>" PROSE "</main><noscript>FIN</noscript>", "hidden", "hidden"},
    {"<main>" PROSE "<video>FIN</video></main>", "hidden", "hidden"},
    {"<main>" PROSE "</main><script>FIN</script>", "nowhere", "nowhere"},
    /* What the writer leaves out. */
    {"<main><h2>Bread<a href=#b class=headerlink>FIN</a></h2>" PROSE "</main>", "controls",
     "controls"},
    {"<main>" PROSE "<pre><span class=lineno>FIN</span>code</pre></main>", "controls", "controls"},
    /* What it writes in another form or place. */
    {"<title>FIN it</title><main><h1>FIN it</h1>" PROSE "</main>", "markdown", NULL},
    {"<main>" PROSE "<div class='admonition note'><p class=admonition-title>FIN</p>"
     "<p>Text.</p></div></main>",
     "markdown", NULL},
    {"<main>" PROSE "<figure><img src=/a.jpg alt=b><figcaption>FIN</figcaption></figure></main>",
     "markdown", NULL},
    {"<main>" PROSE "<table><tr><th>A<th>B<tr><td>FIN<td>c</table></main>", "markdown", NULL},
    {"<main>" PROSE "<math><mi>FIN</mi></math></main>", "markdown", NULL},
};

static void each_text_has_one_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(PLACES); i++) {
        struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
        struct extract_result page = read_page(arena, PLACES[i].html, false);
        const char *place = place_of(&page, "FIN");
        if (strcmp(place, PLACES[i].what) != 0) {
            fail_msg("%s: %s, not %s", PLACES[i].html, place, PLACES[i].what);
        }
        const char *expected = PLACES[i].of_all ? PLACES[i].of_all : "markdown";
        page = read_page(arena, PLACES[i].html, true);
        place = place_of(&page, "FIN");
        if (strcmp(place, expected) != 0) {
            fail_msg("all of %s: %s, not %s", PLACES[i].html, place, expected);
        }
        bool written = strcmp(expected, "markdown") == 0;
        bool told = strstr(page.markdown, "FIN") || (page.title && strstr(page.title, "FIN"));
        assert_int_equal(written, told);
        arena_free(arena);
    }
}

/* It was written before the writer saw what follows. */
static void a_label_that_is_taken_back_is_no_text(void **state)
{
    (void)state;
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct extract_result page = read_page(
        arena, "<main>" PROSE "<p>Copy <span>code</span></p><pre><code>int x;</code></pre></main>",
        false);
    assert_null(strstr(page.markdown, "Copy"));
    assert_string_equal(place_of(&page, "Copy"), "controls");
    assert_string_equal(place_of(&page, "code"), "controls");
    assert_string_equal(place_of(&page, "int x;"), "markdown");
    arena_free(arena);
}

static void counts_characters_and_names_headings(void **state)
{
    (void)state;
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct extract_result page =
        read_page(arena,
                  "<nav> <a href=/>Hom\xC3\xA9</a> <a href=/>  N  x </a></nav><main>" PROSE
                  "</main><div class=related><h2>One</h2><h2>Two "
                  "of them</h2><h3>Three</h3><h4>Four</h4><a href=/>A</a></div>",
                  false);
    assert_int_equal(page.omitted.count, 2);
    assert_string_equal(page.omitted.parts[0].what, "related");
    assert_int_equal(page.omitted.parts[0].chars, strlen("OneTwo of themThreeFourA"));
    assert_int_equal(page.omitted.parts[0].heading_count, OMITTED_HEADINGS);
    assert_string_equal(page.omitted.parts[0].headings[1], "Two of them");
    assert_string_equal(page.omitted.parts[1].what, "navigation");
    assert_int_equal(page.omitted.parts[1].chars, 4 + 3);
    assert_int_equal(page.omitted.parts[1].heading_count, 0);
    arena_free(arena);
}

static void headings_are_short(void **state)
{
    (void)state;
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct extract_result page =
        read_page(arena,
                  "<main>" PROSE "</main><div class=related><h2>"
                  "\xE4\xBD\xA0\xE4\xBD\xA0\xE4\xBD\xA0\xE4\xBD\xA0\xE4\xBD\xA0"
                  "0123456789012345678901234567890123456789012345678901234567890123456789"
                  "</h2><h2></h2></div>",
                  false);
    assert_int_equal(page.omitted.count, 1);
    assert_int_equal(page.omitted.parts[0].heading_count, 1);
    assert_int_equal(strlen(page.omitted.parts[0].headings[0]), OMITTED_HEADING_CHARS + 10);
    arena_free(arena);
}

/* What everything is, holds what the main part is. */
static void all_leaves_out_nothing_visible(void **state)
{
    (void)state;
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct extract_result page = read_page(
        arena,
        "<header><p>Top</p></header><nav><a href=/>Home</a></nav><main><h2>Bread</h2>" PROSE
        "</main><aside>Beside</aside><form><label>Name</label><textarea>Typed</textarea></form>"
        "<footer>Bottom</footer>",
        true);
    static const char *const WORDS[] = {"Top",    "Home", "## Bread", "stone",
                                        "Beside", "Name", "Typed",    "Bottom"};
    for (size_t i = 0; i < COUNT(WORDS); i++) {
        if (!strstr(page.markdown, WORDS[i])) {
            fail_msg("%s is missing", WORDS[i]);
        }
    }
    assert_int_equal(page.omitted.count, 0);
    arena_free(arena);
}

/* Scripts would have to fill the page, however long its menu is. */
static void a_shell_is_one_with_its_menu(void **state)
{
    (void)state;
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    for (int all = 0; all < 2; all++) {
        struct extract_result page = read_page(
            arena,
            "<nav><a href=/a>One two three four five six</a> <a href=/b>seven eight nine ten "
            "eleven</a> <a href=/c>twelve thirteen fourteen fifteen sixteen seventeen eighteen "
            "nineteen twenty twenty-one</a></nav><div id=app></div><script src=/app.js></script>",
            all);
        assert_true(page.shell);
        assert_int_equal(strstr(page.markdown, "nineteen") != NULL, all);
    }
    arena_free(arena);
}

/* A short page is a shell where something could add to it. */
static void a_short_page_is_no_shell_by_itself(void **state)
{
    (void)state;
    static const struct {
        const char *html;
        bool shell;
    } CASES[] = {
        {"<p>Three short words</p>", false},
        {"<p>Three short words</p><script type='application/ld+json'>{}</script>", false},
        {"<p>Three short words</p><script type='text/template'>x</script>", false},
        {"<div></div>", false},
        {"<p>Three short words</p><script src=/app.js></script>", true},
        {"<p>Three short words</p><script type=MODULE src=/app.js></script>", true},
        {"<p>Three short words</p><script type='text/javascript'>x</script>", true},
        {"<p>Three short words</p><iframe src=/rest></iframe>", true},
        {"<meta http-equiv=Refresh content='0; url=/rest'><p>Three short words</p>", true},
        {"<body onload='fill()'><p>Three short words</p>", true},
    };
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_int_equal(read_page(arena, CASES[i].html, false).shell, CASES[i].shell);
    }
    arena_free(arena);
}

UNIT_TEST(omitted)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_has_one_place),
        cmocka_unit_test(a_label_that_is_taken_back_is_no_text),
        cmocka_unit_test(counts_characters_and_names_headings),
        cmocka_unit_test(headings_are_short),
        cmocka_unit_test(all_leaves_out_nothing_visible),
        cmocka_unit_test(a_shell_is_one_with_its_menu),
        cmocka_unit_test(a_short_page_is_no_shell_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
