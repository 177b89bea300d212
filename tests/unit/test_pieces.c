/* The pieces of a page: what is one, where they are, and what must stand before them. */
#include "unit.h"

#include "core/arena.h"
#include "core/limits.h"
#include "reader/pieces.h"
#include "text/text.h"

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

static const struct piece *cut(struct arena *arena, const char *text, size_t *count, bool *whole)
{
    const struct piece *pieces = NULL;
    assert_int_equal(pieces_cut(arena, text, 0, strlen(text), &pieces, count, whole), OK);
    return pieces;
}

/* The pieces with a bar between them, and two where another paragraph begins. */
static const char *shown(struct arena *arena, const char *text)
{
    size_t count;
    bool whole;
    const struct piece *pieces = cut(arena, text, &count, &whole);
    const char *all = "";
    assert_true(whole);
    for (size_t i = 0; i < count; i++) {
        const struct piece *piece = &pieces[i];
        const char *gap = i == 0 ? "" : pieces[i - 1].paragraph == pieces[i].paragraph ? "|" : "||";
        all = arena_printf(arena, "%s%s%.*s", all, gap, (int)(piece->end - piece->start),
                           text + piece->start);
        assert_int_equal(piece->at, text_count(text, piece->start));
        assert_int_equal(piece->chars, text_count(text + piece->start, piece->end - piece->start));
    }
    return all;
}

static void are_sentences_items_and_rows(void **state)
{
    static const struct {
        const char *text, *pieces;
    } CASES[] = {
        {"", ""},
        {"# Only a heading\n\n", ""},
        {"The first sentence is here. The second one follows it.\n",
         "The first sentence is here.|The second one follows it."},
        /* Short ones stay together; abbreviations and small letters end none. */
        {"Yes. No. It depends on the weather.\n", "Yes. No. It depends on the weather."},
        {"It was built by Dr. Miller in the U.S. Army camp. Nobody lives there now.\n",
         "It was built by Dr. Miller in the U.S. Army camp.|Nobody lives there now."},
        {"It takes approx. five minutes to walk. Then turn left there.\n",
         "It takes approx. five minutes to walk.|Then turn left there."},
        {"\"Is it far from the station?\" Nobody knows how far it is.\n",
         "\"Is it far from the station?\"|Nobody knows how far it is."},
        /* Lines of one paragraph. */
        {"A sentence that goes on\nin the next line. And another\none of them.\n\nNext.\n",
         "A sentence that goes on\nin the next line.|And another\none of them.||Next."},
        {"\xE7\x8C\xAB\xE3\x81\xAF\xE5\xAF\x9D\xE3\x82\x8B\xE3\x80\x82"
         "\xE7\x8A\xAC\xE3\x81\xAF\xE8\xB5\xB0\xE3\x82\x8B\xE3\x80\x82"
         "\xE9\xB3\xA5\xE3\x81\xAF\xE9\xA3\x9B\xE3\x81\xB6\xE3\x80\x82"
         "\xE9\xAD\x9A\xE3\x81\xAF\xE6\xB3\xB3\xE3\x81\x90\xE3\x80\x82",
         "\xE7\x8C\xAB\xE3\x81\xAF\xE5\xAF\x9D\xE3\x82\x8B\xE3\x80\x82"
         "\xE7\x8A\xAC\xE3\x81\xAF\xE8\xB5\xB0\xE3\x82\x8B\xE3\x80\x82|"
         "\xE9\xB3\xA5\xE3\x81\xAF\xE9\xA3\x9B\xE3\x81\xB6\xE3\x80\x82"
         "\xE9\xAD\x9A\xE3\x81\xAF\xE6\xB3\xB3\xE3\x81\x90\xE3\x80\x82"},
        {"- one\n- two\n  goes on\n3. three\n", "- one|- two\n  goes on|3. three"},
        {"| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n",
         "| a | b |\n| - | - |\n| 1 | 2 ||| 3 | 4 |"},
        {"```sh\nls. Then more of it. And yet more\n\ncd\n```\nText.\n",
         "```sh\nls. Then more of it. And yet more\n\ncd\n```|Text."},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_string_equal(shown(*state, CASES[i].text), CASES[i].pieces);
    }
}

static void know_what_must_stand_before_them(void **state)
{
    size_t count;
    bool whole;
    const char *line =
        "a line of code that is so long that some twenty of them are more than a piece";
    const char *text = "| a |\n| - |\n| 1 |\n| 2 |\n\n- ```c\n";
    for (int i = 0; i < 20; i++) {
        text = arena_printf(*state, "%s  %s\n", text, line);
    }
    text = arena_printf(*state, "%s  ```\n", text);
    const struct piece *pieces = cut(*state, text, &count, &whole);
    assert_int_equal(count, 4);
    assert_null(pieces[0].head.data);
    assert_true(slice_is(pieces[1].head, "| a |\n| - |"));
    assert_false(pieces[1].prose);
    assert_null(pieces[2].head.data);
    assert_string_equal(fence_closing(*state, pieces[2].fence), "  ```");
    assert_true(slice_is(pieces[3].head, "- ```c"));
    assert_null(pieces[3].fence);
}

static void have_ceilings(void **state)
{
    size_t count;
    bool whole;
    size_t lines = LIMIT_FOCUS_PIECES + 10;
    char *text = arena_alloc(*state, 3 * lines + 1);
    for (size_t i = 0; i < lines; i++) {
        memcpy(text + 3 * i, "a\n\n", 3);
    }
    text[3 * lines] = '\0';
    cut(*state, text, &count, &whole);
    assert_int_equal(count, LIMIT_FOCUS_PIECES);
    assert_false(whole);
    /* A long text without an end is cut between words, or anywhere. */
    memset(text, 'x', 5000);
    text[900] = ' ';
    text[5000] = '\0';
    const struct piece *pieces = cut(*state, text, &count, &whole);
    assert_int_equal(pieces[0].chars, 900);
    assert_int_equal(count, 6);
    assert_true(whole);
}

UNIT_TEST(pieces)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(are_sentences_items_and_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(know_what_must_stand_before_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(have_ceilings, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
