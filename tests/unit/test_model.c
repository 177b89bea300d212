/* The model: what it is told of a page is true, its table is whole, its trees are read as they are
 * meant, and it has the last word on a page of the usual kind. */
#include "html/choose/model.h"

#include "core/arena.h"
#include "core/limits.h"
#include "core/status.h"
#include "html/embedded.h"
#include "html/extract.h"
#include "html/hidden.h"
#include "html/page.h"
#include "html/parse.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 60 letters, two sentences. */
#define TEXT                                                                                       \
    "The river rose for three days, and on the fourth the bridge, which was old, gave way. So."

struct read_page {
    struct arena *arena;
    struct page page;
};

static struct read_page read_page(const char *html, const struct chooser_model *model)
{
    struct read_page read = {.arena = arena_new(MIB(64))};
    assert_non_null(read.arena);
    read.page = (struct page){.arena = read.arena, .model = model, .learning = true};
    assert_int_equal(parse_html(&read.page, html, strlen(html)), OK);
    hidden_mark(&read.page);
    jsonld_read(&read.page);
    assert_int_equal(choose_content(&read.page), OK);
    assert_non_null(read.page.units);
    return read;
}

static void read_done(struct read_page *read)
{
    parse_done(&read->page);
    arena_free(read->arena);
}

static int feature(const struct read_page *read, uint32_t unit, enum feature which)
{
    assert_true(unit < read->page.units->count);
    return *unit_feature(read->page.units, unit, which);
}

/* ---- features ---- */

static void gathers_lists_and_tables(void **state)
{
    (void)state;
    struct read_page read =
        read_page("<body><h1>Rivers</h1><ul><li>Elbe<li><a href='/o'>Oder</a><li>Rhine</ul>"
                  "<table><tr><th>River<th>Length<tr><td>Elbe<td>1094</table>"
                  "<ul><li><p>" TEXT TEXT TEXT "</p><li>Short</ul>",
                  NULL);
    const struct units *units = read.page.units;
    assert_int_equal(units->count, 5); /* title, list, table, paragraph, item */
    assert_int_equal(feature(&read, 0, FEATURE_HEADING), 1);
    assert_int_equal(feature(&read, 1, FEATURE_BLOCKS), 3);
    assert_int_equal(feature(&read, 1, FEATURE_LETTERS), 13);
    assert_int_equal(feature(&read, 1, FEATURE_LINK_SHARE), 400 / 13);
    assert_int_equal(feature(&read, 2, FEATURE_BLOCKS), 4);
    assert_int_equal(feature(&read, 3, FEATURE_STOPS), 4);
    assert_int_equal(feature(&read, 4, FEATURE_LETTERS), 5);
    read_done(&read);
}

static void tells_what_is_around(void **state)
{
    (void)state;
    struct read_page read =
        read_page("<body><nav><a href='/'>Home</a></nav><main><h2>One</h2><p>" TEXT
                  "</p><div class='comments'><p>" TEXT "</p></div></main>",
                  NULL);
    const struct units *units = read.page.units;
    assert_int_equal(units->count, 4);
    assert_true(feature(&read, 0, FEATURE_IN_NAV) < 10);
    assert_int_equal(feature(&read, 0, FEATURE_IN_MAIN), NOT_NEAR);
    assert_true(feature(&read, 0, FEATURE_OMISSION) > 0);
    assert_int_equal(feature(&read, 2, FEATURE_IN_NAV), NOT_NEAR);
    assert_true(feature(&read, 2, FEATURE_IN_MAIN) > 90);
    assert_int_equal(feature(&read, 2, FEATURE_NEAR_COMMENT), NOT_NEAR);
    assert_true(feature(&read, 3, FEATURE_NEAR_COMMENT) < 60);
    assert_int_equal(feature(&read, 2, FEATURE_SINCE_HEADING), 0);
    assert_int_equal(feature(&read, 2, FEATURE_HEADING_ABOVE), 2);
    assert_int_equal(feature(&read, 1, FEATURE_AFTER_LETTERS), feature(&read, 2, FEATURE_LETTERS));
    assert_int_equal(feature(&read, 3, FEATURE_REPEATS), 2);
    read_done(&read);
}

/* ---- trees ---- */

static void walks_trees(void **state)
{
    (void)state;
    static const struct model_tree TREES[] = {
        {{FEATURE_LETTERS, FEATURE_LINK_SHARE, FEATURE_LETTERS, FEATURE_LETTERS, FEATURE_LETTERS,
          FEATURE_LETTERS},
         {10, 50, INT16_MAX, INT16_MAX, INT16_MAX, INT16_MAX},
         {1, 20, 300, 4000}},
        {{FEATURE_LETTERS, FEATURE_LETTERS, FEATURE_LETTERS, FEATURE_LETTERS, FEATURE_LETTERS,
          FEATURE_LETTERS},
         {40, INT16_MAX, INT16_MAX, INT16_MAX, INT16_MAX, INT16_MAX},
         {0, 5}},
    };
    static const struct chooser_model MODEL = {TREES, COUNT(TREES), -2};
    struct read_page read = read_page("<body><p>Short</p><p>" TEXT "</p><p><a href='/'>Far</a></p>"
                                      "<p><a href='/'>A somewhat longer link</a></p>",
                                      NULL);
    int32_t *scores = calloc(model_room(read.page.units), sizeof *scores);
    assert_non_null(scores);
    model_score(&MODEL, read.page.units, scores);
    static const int32_t EXPECTED[] = {-2 + 1, -2 + 20 + 5, -2 + 300, -2 + 4000};
    for (size_t i = 0; i < COUNT(EXPECTED); i++) {
        assert_int_equal(scores[i], EXPECTED[i]);
    }
    free(scores);
    read_done(&read);
}

/* ---- guards ---- */

/* Whatever a model has learned - this one knows sentences alone -, some parts of a text stay. */
static void loses_no_part_of_the_text(void **state)
{
    (void)state;
    static const struct model_tree TREE = {
        {FEATURE_PROSE, FEATURE_PROSE, FEATURE_PROSE, FEATURE_PROSE, FEATURE_PROSE, FEATURE_PROSE},
        {0, INT16_MAX, INT16_MAX, INT16_MAX, INT16_MAX, INT16_MAX},
        {-9000, 9000}};
    static const struct chooser_model MODEL = {&TREE, 1, 0};
    static const char TABLE[] = "<div class='wide'><table><tr><th>Boat<th>Fare<tr><td>Ann<td>four"
                                "<tr><td>Bea<td>five</table></div>";
    static const struct {
        const char *name, *html, *kept, *dropped;
    } CASES[] = {
        {"code", "<pre>x = 1</pre>", "x = 1", NULL},
        {"a picture in an item of a list, before a date",
         "<ul><li><img src='https://a.example/b.png' alt='Boat'><span>The Ann</span></ul><p>May 2",
         "b.png", "May 2"},
        {"a table of data in a box", TABLE, "| Bea | five |", NULL},
        {"a table that its box names",
         "<div class='related'><table><tr><th>Boat<th>Fare<tr><td>Ann<td>four</table></div>",
         "river", "Ann"},
        {"a list of links", "<ul><li><a href='/a'>Ann</a><li><a href='/b'>Bea</a></ul>", "river",
         "Bea"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char page[4096];
        int length = snprintf(page, sizeof page,
                              "<body><nav><a href='/'>Home</a> <a href='/n'>News</a> <a "
                              "href='/s'>Shop of the valley</a></nav><article><h1>The bridge</h1>"
                              "<p>" TEXT "</p>%s<p>Again: " TEXT "</p></article>",
                              CASES[i].html);
        struct arena *arena = arena_new(MIB(64));
        assert_non_null(arena);
        struct extract_input input = {.bytes = page, .length = (size_t)length, .model = &MODEL};
        struct extract_result result;
        assert_int_equal(extract_page(arena, &input, &result), OK);
        if (!strstr(result.markdown, CASES[i].kept)) {
            fail_msg("%s: lost in:\n%s", CASES[i].name, result.markdown);
        }
        if (CASES[i].dropped && strstr(result.markdown, CASES[i].dropped)) {
            fail_msg("%s: \"%s\" stays in:\n%s", CASES[i].name, CASES[i].dropped, result.markdown);
        }
        arena_free(arena);
    }
}

/* A table that was trained for other features would be refused by the compiler; one that is cut, or
 * that has leaves out of proportion, is refused here. */
static void has_a_whole_table(void **state)
{
    (void)state;
    assert_in_range(page_model.count, 40, 400);
    int64_t most = 0;
    for (uint32_t i = 0; i < page_model.count; i++) {
        const struct model_tree *tree = &page_model.trees[i];
        int32_t largest = 0;
        for (int level = 0; level < MODEL_DEPTH; level++) {
            assert_true(tree->features[level] < FEATURE_COUNT);
        }
        for (int leaf = 0; leaf < MODEL_LEAVES; leaf++) {
            largest = abs(tree->leaves[leaf]) > largest ? abs(tree->leaves[leaf]) : largest;
        }
        assert_true(largest > 0);
        most += largest;
    }
    assert_true(most < INT32_MAX);
}

UNIT_TEST(model)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gathers_lists_and_tables),
        cmocka_unit_test(tells_what_is_around),
        cmocka_unit_test(walks_trees),
        cmocka_unit_test(loses_no_part_of_the_text),
        cmocka_unit_test(has_a_whole_table),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
