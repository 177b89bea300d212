/* Claims of a model: read from whatever shape its words have, held against pages, written with
 * markers. */
#include "unit.h"

#include "answer/citations.h"
#include "answer/claims.h"
#include "arena_fixture.h"
#include "core/status.h"
#include "text/text.h"

#include <string.h>

#define RAIN "It rains in Berlin today, says the weather service."
#define SNOW "Snow is expected in Munich tomorrow, with 12 cm in the south."

/* ---- reading ---- */

static void claims_are_read_in_every_shape(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        size_t count;
        const char *sentence, *quote; /* of the last */
        int64_t source;
    } CASES[] = {
        {"{\"notes\":[{\"claim\":\"A.\",\"quote\":\"q q\",\"source\":1},"
         "{\"claim\":\"B.\",\"quote\":\"r r\",\"source\":\"[2]\"}]}",
         2, "B.", "r r", 2},
        {"Sure:\n```json\n{\"notes\":[{\"claim\":\"A.\",\"quote\":\"q\",\"source\":3}]}\n```", 1,
         "A.", "q", 3},
        {"{\"notes\":[{\"claim\":\"A.\",\"quote\":\"q\",\"source\":\"https://evil.example/\"}]}", 1,
         "A.", "q", -1},
        {"{\"notes\":[{\"claim\":\"A.\",\"source\":3}]}", 0, NULL, NULL, 0},
        {"NOTE: A | q | 1\nNOTE: B | r | 2", 2, "B", "r", 2},
        {"<think>NOTE: X | x | 9</think>NOTE: B | r | 2", 1, "B", "r", 2},
        {"It rains [1]. It snows [2, 3].", 3, "It snows.", "It snows.", 3},
        {"It rains. [1] It snows. [2]", 2, "It snows.", "It snows.", 2},
        {"He says \"it rains all day\" [1].", 1, "He says \"it rains all day\".",
         "it rains all day", 1},
        {"{\"text\": \"It rains [source 4].\"}", 1, "It rains.", "It rains.", 4},
        {"It rains, I think.", 0, NULL, NULL, 0},
        {"See [a] and [12345] and [1", 0, NULL, NULL, 0},
        {"", 0, NULL, NULL, 0},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct claim claims[CLAIMS_MOST];
        bool none;
        size_t count = claims_read(arena, CASES[i].words, claims, &none);
        assert_int_equal(count, CASES[i].count);
        assert_false(none);
        if (count) {
            assert_string_equal(claims[count - 1].sentence, CASES[i].sentence);
            assert_string_equal(claims[count - 1].quote, CASES[i].quote);
            assert_int_equal(claims[count - 1].source, CASES[i].source);
        }
    }
}

static void an_empty_list_says_that_there_is_none(void **state)
{
    (void)state;
    struct claim claims[CLAIMS_MOST];
    bool none;
    assert_int_equal(claims_read(arena, "{\"notes\": []}", claims, &none), 0);
    assert_true(none);
}

static void no_more_claims_than_there_is_room(void **state)
{
    (void)state;
    static char words[64 * 16];
    struct claim claims[CLAIMS_MOST];
    bool none;
    for (size_t i = 0; i < 64; i++) {
        memcpy(words + i * 15, "A b c d e. [1] ", 15);
    }
    assert_int_equal(claims_read(arena, words, claims, &none), CLAIMS_MOST);
}

/* ---- writing ---- */

/* Two pages, and a source that nobody read. */
static void put_pages(struct evidence **evidence, struct sources *sources)
{
    static const char *const URLS[] = {"https://rain.example/a", "https://www.snow.example/b_(c)",
                                       "https://unread.example/"};
    static const char *const TEXTS[] = {RAIN " More follows.", "# Snow\n\n" SNOW, NULL};
    *evidence = evidence_new(arena);
    assert_non_null(*evidence);
    for (size_t i = 0; i < COUNT(URLS); i++) {
        size_t number = sources_add(arena, sources, URLS[i], "Title", "");
        assert_int_equal(number, i + 1);
        if (TEXTS[i]) {
            sources->items[i].page = evidence_add_page(*evidence, URLS[i], "Title", TEXTS[i], 1);
            assert_true(sources->items[i].page);
        }
    }
}

static struct claims_text written(const struct claim *claims, size_t count)
{
    struct evidence *evidence;
    struct sources sources = {0};
    struct claims_text text;
    put_pages(&evidence, &sources);
    assert_int_equal(claims_write(arena, evidence, &sources, claims, count, &text), OK);
    return text;
}

static void sentences_get_markers(void **state)
{
    (void)state;
    static const struct claim CLAIMS[] = {
        {"Rain in\n Berlin [1]", RAIN, 1}, {"Rain in Berlin", SNOW, 2},
        {"Rain in Berlin", SNOW, 2},       {"Schnee in M\u00fcnchen!", SNOW, 2},
        {"\u4e0b\u96ea", SNOW, 2},
    };
    struct claims_text text = written(CLAIMS, COUNT(CLAIMS));
    assert_string_equal(
        text.part.text,
        "Rain in Berlin. ([rain.example](https://rain.example/a)) "
        "([snow.example](<https://www.snow.example/b_(c)>)) Schnee in M\u00fcnchen! "
        "([snow.example](<https://www.snow.example/b_(c)>)) \u4e0b\u96ea\u3002 "
        "([snow.example](<https://www.snow.example/b_(c)>))");
    assert_int_equal(text.part.annotation_count, 4);
    assert_int_equal(text.kept, 5);
    assert_int_equal(text.left_out, 0);
    struct cited_text cited;
    struct citation_wishes wishes = {.most = 8};
    assert_int_equal(citations_make(arena, &text.part, 1, &wishes, &cited), OK);
    assert_int_equal(cited.count, 4); /* each marker has one */
    assert_string_equal(cited.citations[0].snippet, "Rain in Berlin.");
    assert_string_equal(cited.citations[1].url, "https://www.snow.example/b_(c)");
    assert_int_equal(cited.citations[0].start, 16);
}

static void what_no_page_says_is_left_out(void **state)
{
    (void)state;
    static const struct claim CLAIMS[] = {
        {"Wrong source.", RAIN, 2},
        {"No such source.", RAIN, 4},
        {"No number.", RAIN, -1},
        {"Not read.", RAIN, 3},
        {"Another number.", "with 13 cm in the south", 2},
        {"No.", "It does not rain in Berlin today, says the weather service.", 1},
        {"Too short.", "Berlin", 1},
        {"Nothing.", "", 1},
        {"See https://evil.example/?q=1 now.", RAIN, 1},
        {"![x](//evil.example/)", RAIN, 1},
        {" [1] ", RAIN, 1},
    };
    struct claims_text text = written(CLAIMS, COUNT(CLAIMS));
    assert_int_equal(text.kept, 0);
    assert_int_equal(text.left_out, COUNT(CLAIMS));
    assert_string_equal(text.part.text, "");
    assert_int_equal(text.part.annotation_count, 0);
}

static void an_answer_is_short(void **state)
{
    (void)state;
    static char long_one[2000];
    memset(long_one, 'a', sizeof long_one - 1);
    static char half[500];
    memset(half, 'b', sizeof half - 1);
    const struct claim one[] = {{long_one, RAIN, 1}, {"More.", RAIN, 1}};
    const struct claim two[] = {{half, RAIN, 1}, {half + 1, SNOW, 2}};
    struct claims_text text = written(one, 2);
    assert_true(text.cut);
    assert_int_equal(text.kept, 1);
    assert_int_equal(strcspn(text.part.text, "\xe2"), CLAIMS_CHARS - 1);
    text = written(two, 2);
    assert_true(text.cut);
    assert_int_equal(text.kept, 1);
}

/* However little there is, the answer is whole or there is none. */
static void memory_may_run_out(void **state)
{
    (void)state;
    static const char *const WORDS[] = {
        "{\"notes\":[{\"claim\":\"Rain.\",\"quote\":\"" RAIN "\",\"source\":1}]}",
        "NOTE: Rain. | " RAIN " | 1",
        RAIN " [1]",
    };
    size_t made = 0, refused = 0;
    for (size_t i = 0; i < COUNT(WORDS); i++) {
        for (size_t room = 64; room < KIB(512); room += room / 8) {
            struct arena *small = arena_new(room);
            struct evidence *evidence = evidence_new(arena);
            struct sources sources = {0};
            struct claim claims[CLAIMS_MOST];
            struct claims_text text;
            bool none;
            assert_non_null(small);
            assert_int_equal(sources_add(arena, &sources, "https://rain.example/", "t", ""), 1);
            sources.items[0].page =
                evidence_add_page(evidence, "https://rain.example/", "t", RAIN, 1);
            size_t count = claims_read(small, WORDS[i], claims, &none);
            int status = claims_write(small, evidence, &sources, claims, count, &text);
            assert_true(status == OK || status == ERR_NOMEM);
            made += status == OK && text.kept == 1;
            refused += status == ERR_NOMEM;
            assert_true(status == ERR_NOMEM || text.kept == 1);
            arena_free(small);
        }
    }
    assert_true(made && refused);
}

UNIT_TEST(claims)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(claims_are_read_in_every_shape, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(an_empty_list_says_that_there_is_none, make_arena,
                                        free_arena),
        cmocka_unit_test_setup_teardown(no_more_claims_than_there_is_room, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(sentences_get_markers, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(what_no_page_says_is_left_out, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(memory_may_run_out, make_arena, free_arena),
        cmocka_unit_test_setup_teardown(an_answer_is_short, make_arena, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
