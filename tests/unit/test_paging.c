/* Markdown in parts: where it is cut, what is added where a block goes on, headings and sections.
 */
#include "unit.h"

#include "core/arena.h"
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "reader/paging.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

static int set_up(void **state)
{
    *state = arena_new(MIB(64));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    *state = arena_free(*state);
    return 0;
}

static struct paging_part cut(struct arena *arena, const char *text, size_t start, size_t max_chars)
{
    struct paging_part part;
    struct paging_request request = {.text = text,
                                     .length = strlen(text),
                                     .start = start,
                                     .end = SIZE_MAX,
                                     .max_chars = max_chars};
    assert_int_equal(paging_cut(arena, &request, &part), OK);
    return part;
}

/* ---- one cut ---- */

static void ends_where_a_part_should(void **state)
{
    static const struct {
        const char *text;
        size_t start;
        size_t max_chars;
        const char *part; /* without what is added */
        enum paging_inside inside;
    } CASES[] = {
        /* All of it fits. */
        {"one\n\ntwo\n", 0, 100, "one\n\ntwo\n", INSIDE_NOTHING},
        {"one\n\ntwo\n", 0, 9, "one\n\ntwo\n", INSIDE_NOTHING},
        {"", 0, 10, "", INSIDE_NOTHING},
        {"one\n", 4, 10, "", INSIDE_NOTHING},
        {"one\n", 99, 10, "", INSIDE_NOTHING},
        {"one\n\ntwo\n", 5, 100, "two\n", INSIDE_NOTHING},
        /* At the end of a block, its blank lines included. */
        {"one\n\ntwo\n\nthree\n", 0, 12, "one\n\ntwo\n\n", INSIDE_NOTHING},
        {"one\n\ntwo\n\nthree\n", 0, 10, "one\n\ntwo\n\n", INSIDE_NOTHING},
        {"one\n\n\n\ntwo two two\n", 0, 10, "one\n\n\n\n", INSIDE_NOTHING},
        /* A line's end, when a block is too long. */
        {"- a\n- b\n- c\n- d\n", 0, 10, "- a\n- b\n", INSIDE_NOTHING},
        {"x\n\n- aaaa\n- bbbb\n- cccc\n", 0, 20, "x\n\n- aaaa\n- bbbb\n", INSIDE_NOTHING},
        /* A heading stays with its text. */
        {"some text\n\n# Head\n\nmore of the text\n", 0, 25, "some text\n\n", INSIDE_NOTHING},
        {"some text\n# Head\nmore of the text\n", 0, 18, "some text\n", INSIDE_NOTHING},
        /* A long line is cut behind a blank. */
        {"aaaa bbbb cccc dddd", 0, 12, "aaaa bbbb ", INSIDE_LINE},
        {"aaaaaaaaaaaaaaaaaaa", 0, 12, "aaaaaaaaaaaa", INSIDE_LINE},
        /* Code points, not bytes. */
        {"äöü\n\nßßß\n\nend\n", 0, 5, "äöü\n\n", INSIDE_NOTHING},
        {"äöüäöü", 2, 2, "üä", INSIDE_LINE},
        {"\U0001F9A6\U0001F9A6\U0001F9A6", 1, 1, "\U0001F9A6", INSIDE_LINE},
        /* A code block stays whole when it fits into the next part. */
        {"one\n\n```c\nint a;\n\nint b;\n```\n\nend\n", 0, 20, "one\n\n", INSIDE_NOTHING},
        {"one\n\n~~~\na\n```\n\nb\n~~~\n\nend\n", 0, 22, "one\n\n", INSIDE_NOTHING},
        /* What only looks like a fence is none. */
        {"one\n\n```c``` is code\n\ntwo\n\nthree\n", 0, 28, "one\n\n```c``` is code\n\ntwo\n\n",
         INSIDE_NOTHING},
        /* A table is cut between rows, never right behind its head. */
        {"| a |\n|---|\n| 1 |\n| 2 |\n| 3 |\n", 0, 26, "| a |\n|---|\n| 1 |\n| 2 |\n",
         INSIDE_NOTHING},
        {"text text\n\n| a |\n|---|\n| 1 |\n", 0, 24, "text text\n\n", INSIDE_NOTHING},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct paging_part part = cut(*state, CASES[i].text, CASES[i].start, CASES[i].max_chars);
        const char *got = arena_strndup(*state, part.text, part.length);
        if (strcmp(got, CASES[i].part) != 0 || part.inside != CASES[i].inside) {
            print_message("case %zu: got \"%s\", %d\n", i, got, part.inside);
        }
        assert_string_equal(got, CASES[i].part);
        assert_int_equal(part.inside, CASES[i].inside);
        assert_int_equal(part.end - part.start, text_count(part.text, part.length));
    }
}

static void closes_and_reopens_code(void **state)
{
    struct buf text;
    buf_init(&text, MIB(1));
    buf_puts(&text, "> ````python\n");
    for (int i = 0; i < 40; i++) {
        buf_printf(&text, "> line_%02d = \"```\"\n", i);
    }
    buf_puts(&text, "> ````\n\nend\n");
    struct paging_part first = cut(*state, text.data, 0, 300);
    assert_int_equal(first.inside, INSIDE_CODE);
    assert_string_equal(first.before, "");
    assert_int_equal(text.data[first.length - 1], '\n');
    char after[200];
    snprintf(after, sizeof after, "> ````\n\n_[The code goes on at start=%zu.]_", first.end);
    assert_string_equal(first.after, after);
    struct paging_part second = cut(*state, text.data, first.end, 10000);
    assert_string_equal(second.before,
                        "_[The code goes on from the part before.]_\n\n> ````python\n");
    assert_string_equal(second.after, "");
    assert_int_equal(second.inside, INSIDE_NOTHING);
    /* What is added counts. */
    assert_true(text_count(first.text, first.length) + strlen(first.after) <= 300);
    buf_done(&text);
}

static void closes_a_fence_of_a_list_item_with_blanks(void **state)
{
    static const char TEXT[] = "1. ```\n   aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
                               "   bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n"
                               "   ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc\n"
                               "   ```\n";
    struct paging_part part = cut(*state, TEXT, 0, 190);
    assert_int_equal(part.inside, INSIDE_CODE);
    assert_memory_equal(part.after, "   ```\n\n_[", 10);
}

static void repeats_the_head_of_a_table(void **state)
{
    struct buf text;
    buf_init(&text, MIB(1));
    buf_puts(&text, "| name | value |\n| --- | ---: |\n");
    for (int i = 0; i < 100; i++) {
        buf_printf(&text, "| row %02d | %d |\n", i, i * i);
    }
    struct paging_part first = cut(*state, text.data, 0, 500);
    assert_int_equal(first.inside, INSIDE_NOTHING);
    assert_memory_equal(first.text + first.length, "| row", 5);
    struct paging_part second = cut(*state, text.data, first.end, 500);
    assert_string_equal(second.before, "_[The table goes on from the part before.]_\n\n"
                                       "| name | value |\n| --- | ---: |\n");
    assert_true(second.end - second.start + strlen(second.before) <= 500);
    buf_done(&text);
}

static void says_that_a_row_is_cut(void **state)
{
    struct buf text;
    buf_init(&text, MIB(1));
    buf_puts(&text, "| a |\n| - |\n| ");
    for (int i = 0; i < 200; i++) {
        buf_puts(&text, "word ");
    }
    buf_puts(&text, "|\n");
    struct paging_part part = cut(*state, text.data, 0, 300);
    assert_int_equal(part.inside, INSIDE_ROW);
    char after[200];
    snprintf(after, sizeof after, "\n\n_[The table row is cut here and goes on at start=%zu.]_",
             part.end);
    assert_string_equal(part.after, after);
    buf_done(&text);
}

/* ---- all parts together ---- */

static const char PAGE[] =
    "# Title\n\nA paragraph with some words in it, and ünïcödé, and 日本語.\n\n"
    "## Code\n\n```python\ndef f(x):\n    return [x]\n\n\nclass A:\n    pass\n```\n\n"
    "1. one\n2. two\n\n   ```sh\n   make\n   make test\n   ```\n3. three\n\n"
    "## Table\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n| five five five | 6 |\n\n"
    "> quoted\n> text\n\n---\n\nThe end, which is a rather long line without any structure.\n";

static void parts_put_together_are_the_page(void **state)
{
    size_t total = text_count(PAGE, sizeof PAGE - 1);
    for (size_t max_chars = 1; max_chars <= total + 1; max_chars++) {
        struct buf whole;
        buf_init(&whole, MIB(1));
        size_t start = 0;
        while (start < total) {
            struct paging_part part = cut(*state, PAGE, start, max_chars);
            assert_true(part.end > start);
            assert_true(part.end - part.start <= max_chars);
            assert_true(part.end - part.start + text_count(part.before, strlen(part.before)) +
                            text_count(part.after, strlen(part.after)) <=
                        max_chars);
            buf_append(&whole, part.text, part.length);
            start = part.end;
        }
        assert_string_equal(whole.data, PAGE);
        buf_done(&whole);
        arena_reset(*state);
    }
}

static void stops_at_the_end_of_a_section(void **state)
{
    struct paging_part part;
    struct paging_request request = {.text = "# A\n\none\n\n# B\n\ntwo\n",
                                     .length = 19,
                                     .start = 0,
                                     .end = 10,
                                     .max_chars = 100};
    assert_int_equal(paging_cut(*state, &request, &part), OK);
    assert_int_equal(part.end, 10);
    assert_memory_equal(part.text + part.length, "# B", 3);
}

/* ---- headings ---- */

static void lists_headings_with_their_sections(void **state)
{
    static const char TEXT[] = "intro é\n\n# One *with* `marks` #\n\ntext\n\n## Two\n\n"
                               "```\n# not a heading\n```\n\n### [Three](https://x.test/a)\n\n"
                               "## Four\n\n#5 is none\n\n# C\\# and C++\n";
    static const struct {
        const char *title;
        int level;
        const char *begins;
        const char *next; /* what its section ends before */
    } EXPECTED[] = {
        {"One with marks", 1, "# One", "# C\\#"}, {"Two", 2, "## Two", "## Four"},
        {"Three", 3, "### [Three]", "## Four"},   {"Four", 2, "## Four", "# C\\#"},
        {"C# and C++", 1, "# C\\#", ""},
    };
    const struct paging_heading *headings;
    size_t count;
    assert_int_equal(paging_outline(*state, TEXT, sizeof TEXT - 1, &headings, &count), OK);
    assert_int_equal(count, COUNT(EXPECTED));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(headings[i].title, EXPECTED[i].title);
        assert_int_equal(headings[i].level, EXPECTED[i].level);
        const char *start = TEXT + text_prefix(TEXT, sizeof TEXT - 1, headings[i].start);
        const char *end = TEXT + text_prefix(TEXT, sizeof TEXT - 1, headings[i].end);
        assert_memory_equal(start, EXPECTED[i].begins, strlen(EXPECTED[i].begins));
        assert_memory_equal(end, EXPECTED[i].next, strlen(EXPECTED[i].next) + !*EXPECTED[i].next);
    }
}

static void outlines_are_bounded(void **state)
{
    struct buf text;
    buf_init(&text, MIB(1));
    for (int i = 0; i < LIMIT_PAGE_HEADINGS + 10; i++) {
        buf_puts(&text, "# x\n");
    }
    const struct paging_heading *headings;
    size_t count;
    assert_int_equal(paging_outline(*state, text.data, text.length, &headings, &count), OK);
    assert_int_equal(count, LIMIT_PAGE_HEADINGS);
    buf_done(&text);
}

static void finds_sections(void **state)
{
    static const char TEXT[] = "# Introduction\n\n# Installing on macOS\n\n# 2\n\n# Änderungen\n\n"
                               "# Введение\n\n# install\n";
    static const struct {
        const char *wanted;
        int number; /* 0: none */
    } CASES[] = {
        {"introduction", 1},
        {"INTRODUCTION", 1},
        {"# Introduction", 1},
        {"1", 1},
        {"2", 3},
        {"3", 3},
        {"6", 6},
        {"7", 0},
        {"0", 0},
        {"macos", 2},
        {"install", 6},
        {"Install", 6},
        {"installing", 2},
        {"änderungen", 4},
        {"ÄNDERUNGEN", 4},
        {"ВВЕДЕНИЕ", 5},
        {"derung", 4},
        {"nothing", 0},
        {"", 0},
        {"18446744073709551617", 0},
    };
    const struct paging_heading *headings;
    size_t count;
    assert_int_equal(paging_outline(*state, TEXT, sizeof TEXT - 1, &headings, &count), OK);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const struct paging_heading *found = paging_find(headings, count, CASES[i].wanted);
        int number = found ? (int)(found - headings) + 1 : 0;
        if (number != CASES[i].number) {
            print_message("section \"%s\" is %d\n", CASES[i].wanted, number);
        }
        assert_int_equal(number, CASES[i].number);
    }
}

UNIT_TEST(paging)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_where_a_part_should),
        cmocka_unit_test(closes_and_reopens_code),
        cmocka_unit_test(closes_a_fence_of_a_list_item_with_blanks),
        cmocka_unit_test(repeats_the_head_of_a_table),
        cmocka_unit_test(says_that_a_row_is_cut),
        cmocka_unit_test(parts_put_together_are_the_page),
        cmocka_unit_test(stops_at_the_end_of_a_section),
        cmocka_unit_test(lists_headings_with_their_sections),
        cmocka_unit_test(outlines_are_bounded),
        cmocka_unit_test(finds_sections),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
