/* Text: UTF-8 that is and is not, messages that are cut between code points, quoting, and guesses.
 */
#include "text/count.h"
#include "text/text.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void tells_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool valid;
        size_t count; /* of code points; a wrong byte counts as one */
    } CASES[] = {
        {"", true, 0},
        {"abc", true, 3},
        {"\u00e9\u4e2d\U0001F600", true, 3},
        {"\x7f\xc2\x80\xdf\xbf", true, 3},
        {"\xe0\xa0\x80\xef\xbf\xbf", true, 2},
        {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", true, 2},
        {"\x80", false, 1},
        {"a\xff"
         "b",
         false, 3},
        {"\xc3", false, 1},
        {"\xe4\xb8", false, 2},
        {"\xc3(", false, 2},
        {"\xc0\x80", false, 2},             /* a long spelling of NUL */
        {"\xe0\x80\x80", false, 3},         /* the same, longer */
        {"\xf0\x80\x80\x80", false, 4},     /* and longer still */
        {"\xed\xa0\x80", false, 3},         /* a surrogate */
        {"\xf4\x90\x80\x80", false, 4},     /* beyond the last code point */
        {"\xf8\x88\x80\x80\x80", false, 5}, /* five bytes */
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        size_t length = strlen(CASES[i].text);
        if (text_is_utf8(CASES[i].text, length) != CASES[i].valid ||
            text_count(CASES[i].text, length) != CASES[i].count) {
            fail_msg("case %zu: %d, %zu", i, text_is_utf8(CASES[i].text, length),
                     text_count(CASES[i].text, length));
        }
    }
}

/* What is counted in words and by first bytes, wherever it stands, is what text_next() takes. */
static void counts_as_it_steps(void **state)
{
    (void)state;
    static const unsigned char BYTES[] = {'a',  0x7F, 0x80, 0x9F, 0xA0, 0xBF, 0xC0,
                                          0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
                                          0xEE, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
    enum { KINDS = COUNT(BYTES), MOST = 24 };
    for (size_t number = 0; number < KINDS * KINDS * KINDS; number++) {
        char text[MOST];
        size_t before = number % 11, length = before + 3 + number % 10;
        memset(text, 'x', sizeof text);
        text[before] = (char)BYTES[number % KINDS];
        text[before + 1] = (char)BYTES[number / KINDS % KINDS];
        text[before + 2] = (char)BYTES[number / KINDS / KINDS];
        char *exact = malloc(length); /* so that a sanitizer sees a byte too many */
        assert_non_null(exact);
        memcpy(exact, text, length);
        size_t steps = 0;
        bool valid = true;
        for (const char *at = exact; at < exact + length; steps++) {
            assert_int_equal(text_prefix(exact, length, steps), at - exact);
            const char *from = at;
            valid &= text_next(&at, exact + length) != TEXT_REPLACEMENT || at - from == 3;
        }
        assert_int_equal(text_count(exact, length), steps);
        assert_int_equal(text_is_utf8(exact, length), valid);
        free(exact);
    }
}

static void takes_code_points(void **state)
{
    (void)state;
    static const char TEXT[] = "a\u00e9\u4e2d\U0001F600\xff";
    static const uint32_t POINTS[] = {'a', 0xE9, 0x4E2D, 0x1F600, TEXT_REPLACEMENT};
    const char *at = TEXT;
    const char *end = TEXT + strlen(TEXT);
    for (size_t i = 0; i < COUNT(POINTS); i++) {
        assert_int_equal(text_next(&at, end), POINTS[i]);
    }
    assert_ptr_equal(at, end);
    assert_int_equal(text_prefix(TEXT, strlen(TEXT), 0), 0);
    assert_int_equal(text_prefix(TEXT, strlen(TEXT), 3), 6);
    assert_int_equal(text_prefix(TEXT, strlen(TEXT), 99), strlen(TEXT));
}

static void cuts_between_code_points(void **state)
{
    (void)state;
    static const char TEXT[] = "ab\u00e9\u4e2d\U0001F600z"; /* 1 1 2 3 4 1 bytes */
    static const size_t FITS[] = {0, 0, 1, 2, 2, 4, 4, 4, 7, 7, 7, 7, 11, 12, 12};
    for (size_t size = 0; size < COUNT(FITS); size++) {
        char by_bytes[16] = "untouched";
        char by_format[16] = "untouched";
        struct text_out out;
        text_start(&out, by_bytes, size);
        text_put(&out, TEXT);
        assert_int_equal(out.length, FITS[size]);
        assert_int_equal(out.cut, size < 13);
        text_put(&out, "more");
        text_start(&out, by_format, size);
        text_putf(&out, "%s", TEXT);
        assert_int_equal(out.length, FITS[size]);
        text_putf(&out, "%s", "more");
        if (size == 0) {
            assert_string_equal(by_bytes, "untouched");
            assert_string_equal(by_format, "untouched");
        } else if (size < 13) {
            assert_int_equal(strlen(by_bytes), FITS[size]);
            assert_memory_equal(by_bytes, TEXT, FITS[size]);
            assert_string_equal(by_format, by_bytes);
        }
    }
}

static void quotes_safely(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t most;
        const char *expected;
    } CASES[] = {
        {"", 5, "\"\""},
        {"plain", 5, "\"plain\""},
        {"plainer", 5, "\"plain\u2026\""},
        {"\u4e2d\u6587\u5b57", 2, "\"\u4e2d\u6587\u2026\""},
        {"say \"hi\" \\o/", 60, "\"say \\\"hi\\\" \\\\o/\""},
        {"a\b\f\n\r\tb", 60, "\"a\\b\\f\\n\\r\\tb\""},
        {"\x1b[31mred\x7f", 60, "\"\\u001b[31mred\\u007f\""},
        {"\xc2\x85\u00ad\u200b\u202e\u2066\ufeff", 60,
         "\"\\u0085\\u00ad\\u200b\\u202e\\u2066\\ufeff\""},
        {"\U000E0041", 60, "\"\\udb40\\udc41\""},
        {"a\xff"
         "b",
         60, "\"a\ufffdb\""},
        {"\u00e9\U0001F600", 60, "\"\u00e9\U0001F600\""},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[200];
        struct text_out out;
        text_start(&out, text, sizeof text);
        text_put_quoted(&out, CASES[i].text, strlen(CASES[i].text), CASES[i].most);
        assert_string_equal(text, CASES[i].expected);
    }
}

static void guesses_what_was_meant(void **state)
{
    (void)state;
    static const char *const CANDIDATES[] = {"query",  "num_results", "max_chars", "depth",
                                             "region", "url",         "start"};
    static const struct {
        const char *word;
        const char *expected; /* NULL: no guess */
    } CASES[] = {
        {"qery", "query"},
        {"querry", "query"},
        {"uqery", "query"},
        {"QUERY", "query"},
        {"quarry", "query"},
        {"numResults", "num_results"},
        {"num_result", "num_results"},
        {"maxchars", "max_chars"},
        {"max", "max_chars"},
        {"dept", "depth"},
        {"uri", "url"},
        {"u", NULL},
        {"", NULL},
        {"limit", NULL},
        {"x", NULL},
        {"completely_else", NULL},
        {"xyz", NULL},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct text_guess guess;
        text_guess_start(&guess, CASES[i].word, strlen(CASES[i].word));
        for (size_t j = 0; j < COUNT(CANDIDATES); j++) {
            text_guess_try(&guess, CANDIDATES[j], strlen(CANDIDATES[j]));
        }
        const char *got = guess.best ? guess.best : "none";
        const char *expected = CASES[i].expected ? CASES[i].expected : "none";
        if (strcmp(got, expected) != 0) {
            fail_msg("%s: %s instead of %s", CASES[i].word, got, expected);
        }
    }
}

static void hides_paths(void **state)
{
    (void)state;
    static const struct {
        const char *text, *told;
    } CASES[] = {
        {"", ""},
        {"no path and/or 1/2 / here", "no path and/or 1/2 / here"},
        {"/srv/data/x.db: cannot be opened", "[path]: cannot be opened"},
        {"cannot open '/srv/data/x' (gone)", "cannot open '[path]' (gone)"},
        {"at f (/usr/lib/node_modules/x.js:12:3)", "at f ([path]:12:3)"},
        {"at file:///usr/lib/x.mjs:1", "at file://[path]:1"},
        {"PATH=/bin:/usr/bin", "PATH=[path]:[path]"},
        {"see https://example.org/a/b?c=/d", "see https://example.org/a/b?c=[path]"},
        {"~/.config/forage/forage.env", "~/.config/forage/forage.env"},
        {"/", "/"},
        {"/srv/My Data/x y/z.db: gone", "[path]: gone"},
        {"/srv/a /srv/b and more", "[path] [path] and more"},
        {"//x /.ssh", "//x [path]"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char told[200];
        struct text_out out;
        text_start(&out, told, sizeof told);
        text_put_without_paths(&out, CASES[i].text);
        assert_string_equal(told, CASES[i].told);
    }
}

static void mends_what_is_no_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text, *mended;
    } CASES[] = {
        {"", ""},
        {"abc", "abc"},
        {"\u00e9\u4e2d\U0001F600", "\u00e9\u4e2d\U0001F600"},
        {"a\xff", "a?"},
        {"\xe4\xb8", "??"},
        {"x\xed\xa0\x80y", "x???y"},
        {"\ufffd", "\ufffd"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", CASES[i].text);
        text_repair(text);
        assert_string_equal(text, CASES[i].mended);
        assert_true(text_is_utf8(text, strlen(text)));
    }
}

/* ---- words ---- */

static void counts_words(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t words, between_blanks, dense;
    } CASES[] = {
        {"", 0, 0, 0},
        {" ", 0, 0, 0},
        {"a", 1, 1, 0},
        {"It's 3.5\n\nkm\t-  far", 6, 5, 0},
        {"one two three four five six seven eight nine ten", 10, 10, 0},
        {"sixteen bytes...seventeen bytes.x", 5, 3, 0},
        {"\u00e9t\u00e9 na\u00efve", 2, 2, 0},
        {"\u4e2d\u6587 \u304b\u306a, \ud55c\uae00", 3, 3, 6},
        {"/:@[`{ A Z a z 0 9", 6, 7, 0},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        size_t length = strlen(CASES[i].text);
        assert_int_equal(count_words(CASES[i].text, length), CASES[i].words);
        assert_int_equal(count_between_blanks(CASES[i].text, length), CASES[i].between_blanks);
        assert_int_equal(count_dense(CASES[i].text, length), CASES[i].dense);
    }
}

/* Every length, beginning and end of word in every place of a block, and sums of more than a byte
 * holds. */
static void counts_words_wherever_they_are(void **state)
{
    (void)state;
    static char text[3 * 255 * 16];
    for (size_t length = 0; length < 70; length++) {
        for (size_t at = 0; at < length; at++) {
            memset(text, ' ', sizeof text);
            text[at] = 'x';
            text[(at * 7 + 5) % length] = 'y';
            size_t gap = (at * 7 + 5) % length, near = gap > at ? gap - at : at - gap;
            assert_int_equal(count_words(text, length), near > 1 ? 2 : 1);
            assert_int_equal(count_between_blanks(text, length), near > 1 ? 2 : 1);
        }
    }
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] = i % 2 ? ' ' : 'x';
    }
    assert_int_equal(count_words(text, sizeof text), sizeof text / 2);
    memset(text, 0xE4, sizeof text);
    assert_int_equal(count_dense(text, sizeof text), sizeof text);
    assert_int_equal(count_words(text, sizeof text), 1);
}

UNIT_TEST(text)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hides_paths),       cmocka_unit_test(mends_what_is_no_utf8),
        cmocka_unit_test(tells_utf8),        cmocka_unit_test(counts_as_it_steps),
        cmocka_unit_test(takes_code_points), cmocka_unit_test(cuts_between_code_points),
        cmocka_unit_test(quotes_safely),     cmocka_unit_test(guesses_what_was_meant),
        cmocka_unit_test(counts_words),      cmocka_unit_test(counts_words_wherever_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
