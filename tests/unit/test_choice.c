/* Which pieces are shown where not all fit: the best, what they lack of the question, and what they
 * lead to. */
#include "unit.h"

#include "core/limits.h"
#include "reader/focus_internal.h"

#include <string.h>

static const char TEXT[] = "The film of 1994 was made by Ada Brandt in the harbour.\n\n"
                           "The film of 1994 was shown in every harbour of the coast.\n\n"
                           "Ada Brandt was born in Norway, as were her four sisters.\n\n"
                           "Nobody has counted the gulls that live along this coast.\n";

enum { MADE, SHOWN, BORN, GULLS, PIECES };
enum { FILM = 1, NATIONALITY = 2 };

static int set_up(void **state)
{
    *state = arena_new(MIB(1));
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    *state = arena_free(*state);
    return 0;
}

static struct focus focus_on(struct arena *arena, const struct index_hit *hits, size_t count)
{
    static struct section above = {.path = ""};
    static uint32_t sections[PIECES];
    struct focus focus = {.arena = arena, .text = TEXT, .sections = &above};
    assert_int_equal(
        pieces_cut(arena, TEXT, 0, strlen(TEXT), &focus.pieces, &focus.count, &focus.whole), OK);
    assert_int_equal(focus.count, PIECES);
    focus.section_of = sections;
    focus.held = arena_zalloc(arena, PIECES * sizeof *focus.held);
    focus.hits = hits;
    focus.hit_count = count;
    return focus;
}

/* The chosen pieces as digits, in the order of the page. */
static const char *chosen(struct focus *focus, size_t max_chars)
{
    struct piece_choice choice = {.focus = focus};
    const char *all = "";
    assert_int_equal(choice_make(&choice, max_chars), OK);
    for (size_t i = 0; i < choice.count; i++) {
        all = arena_printf(focus->arena, "%s%zu", all, choice.pieces[i]);
    }
    return all;
}

static void what_scores_best_comes_first(void **state)
{
    const struct index_hit HITS[] = {{.id = PIECES - SHOWN, .score = 3},
                                     {.id = PIECES - MADE, .score = 2}};
    struct focus focus = focus_on(*state, HITS, 2);
    assert_string_equal(chosen(&focus, 10), "");
    assert_string_equal(chosen(&focus, 70), "1");
    assert_string_equal(chosen(&focus, 140), "01");
    assert_string_equal(chosen(&focus, 1000), "01"); /* what nothing speaks for is never shown */
}

static void words_that_nothing_shown_holds_count(void **state)
{
    const struct index_hit HITS[] = {{.id = PIECES - MADE, .score = 3},
                                     {.id = PIECES - SHOWN, .score = 2.9},
                                     {.id = PIECES - BORN, .score = 1}};
    struct focus focus = focus_on(*state, HITS, 3);
    focus.weights[0] = focus.weights[1] = 1;
    focus.held[MADE] = focus.held[SHOWN] = FILM;
    assert_string_equal(chosen(&focus, 140), "01");
    focus.held[BORN] = NATIONALITY;
    assert_string_equal(chosen(&focus, 140), "02");
}

static void what_is_tied_to_something_shown_counts(void **state)
{
    const struct index_hit HITS[] = {{.id = PIECES - MADE, .score = 3},
                                     {.id = PIECES - SHOWN, .score = 0.6}};
    struct tie ties[] = {{MADE, BORN, 1}, {MADE, BORN, 1}};
    struct focus focus = focus_on(*state, HITS, 2);
    assert_string_equal(chosen(&focus, 140), "01");
    focus.ties = ties;
    focus.tie_count = sizeof ties / sizeof *ties;
    assert_string_equal(chosen(&focus, 140), "02");
    /* A piece that is not shown leads nowhere. */
    ties[0].from = ties[1].from = GULLS;
    assert_string_equal(chosen(&focus, 140), "01");
}

/* ---- where a piece stands ---- */

static const char SECTIONS[] =
    "## Harbours\n\n"
    "Ada Brandt (born 1960) filmed the harbour. It is a rather short film.\n\n"
    "## Gulls of the coast\n\n"
    "They nest on the roofs of every town. They like the warm roofs.\n\n"
    "## Ada Brandt (director)\n\n"
    "Her four sisters were born in Norway as well.\n\n"
    "## Example\n\nOne of them.\n";

enum { FILMED, SHORT, NEST, LIKE, SISTERS, ONE, STANDING };

static struct focus focus_below_headings(struct arena *arena, const char *question)
{
    struct focus focus = {
        .arena = arena, .text = SECTIONS, .length = strlen(SECTIONS), .question = question};
    assert_int_equal(
        pieces_cut(arena, SECTIONS, 0, focus.length, &focus.pieces, &focus.count, &focus.whole),
        OK);
    assert_int_equal(focus.count, STANDING);
    assert_int_equal(
        paging_outline(arena, SECTIONS, focus.length, &focus.headings, &focus.heading_count), OK);
    focus.held = arena_zalloc(arena, STANDING * sizeof *focus.held);
    assert_int_equal(headings_find(&focus), OK);
    return focus;
}

static void the_first_of_a_paragraph_counts_more(void **state)
{
    const struct index_hit HITS[] = {{.id = STANDING - LIKE, .score = 1},
                                     {.id = STANDING - SISTERS, .score = 0.95}};
    struct focus focus = focus_below_headings(*state, "What is there?");
    focus.hits = HITS;
    focus.hit_count = 2;
    assert_string_equal(chosen(&focus, 90), "4");
    headings_done(&focus);
}

static void a_section_that_is_asked_for_counts_more(void **state)
{
    const struct index_hit HITS[] = {{.id = STANDING - SISTERS, .score = 1},
                                     {.id = STANDING - NEST, .score = 0.95}};
    struct focus focus = focus_below_headings(*state, "Where do the coast's gulls nest?");
    assert_true(focus.sections[1].asked);
    assert_false(focus.sections[0].asked || focus.sections[2].asked || focus.sections[3].asked);
    focus.hits = HITS;
    focus.hit_count = 2;
    assert_string_equal(chosen(&focus, 75), "2");
    headings_done(&focus);
}

static int note_named(struct focus *focus, size_t from, size_t to)
{
    focus->tie_count = focus->tie_count * 10 + to;
    return from == FILMED ? OK : ERR_INVALID;
}

static void a_piece_names_sections(void **state)
{
    struct focus focus = focus_below_headings(*state, "Who has sisters?");
    assert_int_equal(headings_named(&focus, FILMED, note_named), OK);
    assert_int_equal(focus.tie_count, SISTERS); /* and not its own section, whose name it has */
    assert_int_equal(headings_named(&focus, NEST, note_named), OK);
    assert_int_equal(focus.tie_count, SISTERS);
    headings_done(&focus);
}

UNIT_TEST(choice)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_scores_best_comes_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(words_that_nothing_shown_holds_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_tied_to_something_shown_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_first_of_a_paragraph_counts_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_section_that_is_asked_for_counts_more, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_piece_names_sections, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
