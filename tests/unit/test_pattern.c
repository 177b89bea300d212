/* Patterns: tables of what matches and what does not, of patterns that are refused, and proof that
 * no text makes a match run away. */
#include "core/status.h"
#include "registry/pattern.h"

#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int match(const char *pattern, const char *text)
{
    return pattern_match(pattern, strlen(pattern), text, strlen(text));
}

static void matches_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        const char *text;
        int expected;
    } CASES[] = {
        /* literals, anywhere in the text */
        {"", "", 1},
        {"", "abc", 1},
        {"a", "", 0},
        {"a", "a", 1},
        {"b", "abc", 1},
        {"abc", "xxabcxx", 1},
        {"abc", "abxabd", 0},
        {"abab", "ababab", 1},
        {"aab", "aaab", 1},
        {"é", "caf\u00e9", 1},
        {"\U0001F600", "a\U0001F600b", 1},
        {"\u00e9", "\u00e8", 0},
        /* anchors */
        {"^abc$", "abc", 1},
        {"^abc$", "xabc", 0},
        {"^abc$", "abcx", 0},
        {"^$", "", 1},
        {"^$", "a", 0},
        {"^b", "ab", 0},
        {"a$", "ab", 0},
        {"a$", "a\n", 0},
        {"^b", "a\nb", 0},
        {"^^a$$", "a", 1},
        {"(^a|b)c", "ac", 1},
        {"(^a|b)c", "xac", 0},
        {"(^a|b)c", "xbc", 1},
        {"a^b", "ab", 0},
        {"a$b", "ab", 0},
        /* the dot */
        {"^.$", "a", 1},
        {"^.$", "\u4e2d", 1},
        {"^.$", "\U0001F600", 1},
        {"^.$", "ab", 0},
        {"^.$", "\n", 0},
        {"^.$", "\r", 0},
        {"^.$", "\u2028", 0},
        {"^...$", "a\u00e9\u4e2d", 1},
        /* classes */
        {"^[abc]$", "b", 1},
        {"^[abc]$", "d", 0},
        {"^[^abc]$", "d", 1},
        {"^[^abc]$", "a", 0},
        {"^[^abc]$", "\n", 1},
        {"^[a-z]$", "m", 1},
        {"^[a-z]$", "M", 0},
        {"^[a-zA-Z0-9_]$", "_", 1},
        {"^[-a]$", "-", 1},
        {"^[a-]$", "-", 1},
        {"^[^-]$", "-", 0},
        {"^[a\\-z]$", "-", 1},
        {"^[a\\-z]$", "m", 0},
        {"^[\\]]$", "]", 1},
        {"^[\\\\]$", "\\", 1},
        {"^[.*+?|(){}$]$", "*", 1},
        {"^[.*+?|(){}$]$", "a", 0},
        {"^[a^]$", "^", 1},
        {"^[[]$", "[", 1},
        {"^[\u4e00-\u9fff]+$", "\u4e2d\u6587", 1},
        {"^[\u4e00-\u9fff]+$", "\u4e2da", 0},
        {"^[\\d.]+$", "3.14", 1},
        {"^[\\d.]+$", "3,14", 0},
        {"^[^\\s]+$", "a b", 0},
        {"^[\\w-]+$", "a-b_c", 1},
        /* shorthands */
        {"^\\d$", "7", 1},
        {"^\\d$", "\u0667", 0},
        {"^\\w$", "_", 1},
        {"^\\w$", "\u00e9", 0},
        {"^\\w$", "-", 0},
        {"^\\s$", " ", 1},
        {"^\\s$", "\t", 1},
        {"^\\s$", "\u00a0", 1},
        {"^\\s$", "\u3000", 1},
        {"^\\s$", "a", 0},
        /* escapes */
        {"^a\\.b$", "a.b", 1},
        {"^a\\.b$", "axb", 0},
        {"^\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/\\-$", "^$\\.*+?()[]{}|/-", 1},
        {"^\\n\\r\\t$", "\n\r\t", 1},
        {"a/b", "a/b", 1},
        /* repetition */
        {"^a?$", "", 1},
        {"^a?$", "a", 1},
        {"^a?$", "aa", 0},
        {"^a*$", "", 1},
        {"^a*$", "aaaa", 1},
        {"^a*$", "aab", 0},
        {"^a+$", "", 0},
        {"^a+$", "aaa", 1},
        {"^a{3}$", "aa", 0},
        {"^a{3}$", "aaa", 1},
        {"^a{3}$", "aaaa", 0},
        {"^a{2,}$", "a", 0},
        {"^a{2,}$", "aa", 1},
        {"^a{2,}$", "aaaaaa", 1},
        {"^a{1,3}$", "", 0},
        {"^a{1,3}$", "a", 1},
        {"^a{1,3}$", "aaa", 1},
        {"^a{1,3}$", "aaaa", 0},
        {"^a{0,2}$", "", 1},
        {"^a{0,2}$", "a", 1},
        {"^a{0,2}$", "aa", 1},
        {"^a{0,2}$", "aaa", 0},
        {"^a{0,1}$", "a", 1},
        {"^a{0,}$", "aaa", 1},
        {"^a{0}b$", "b", 1},
        {"^a{0}b$", "ab", 0},
        {"^a{1}$", "a", 1},
        {"^a*a*b$", "aaab", 1},
        {"^.*b$", "aab", 1},
        {"^[A-Z]{2}$", "DE", 1},
        {"^[A-Z]{2}$", "de", 0},
        {"^[A-Z]{2}$", "DEU", 0},
        /* groups and alternation */
        {"^(ab)+$", "ababab", 1},
        {"^(ab)+$", "aba", 0},
        {"^(a|b|c)$", "c", 1},
        {"^(a|b|c)$", "d", 0},
        {"^(cat|dog)s?$", "dogs", 1},
        {"^cat|dog$", "category", 1},
        {"^cat|dog$", "hotdog", 1},
        {"^cat|dog$", "a cat", 0},
        {"^(?:ab|cd){2}$", "abcd", 1},
        {"^(?:ab|cd){2}$", "ab", 0},
        {"^(a|ab)(c|bcd)(d*)$", "abcd", 1},
        {"^(a||b)$", "", 1},
        {"^(a|)$", "a", 1},
        {"^()$", "", 1},
        {"^(){3}$", "", 1},
        {"^(a*)*$", "aaaa", 1},
        {"^(a*)+$", "", 1},
        {"^(a?){3}$", "aa", 1},
        {"^((a|b)(c|d)){2,3}$", "acbdac", 1},
        {"^((a|b)(c|d)){2,3}$", "ac", 0},
        {"^(a{2}){2}$", "aaaa", 1},
        {"^(a{2}){2}$", "aaa", 0},
        {"^(a{1,2}b){2,}$", "abaabab", 1},
        {"^x(a{2}|b{3,})?y$", "xbbbby", 1},
        {"^x(a{2}|b{3,})?y$", "xbby", 0},
        {"^x(a{2}|b{3,})?y$", "xy", 1},
        /* the kind of thing that definitions say */
        {"^https?://[^\\s/]+(/.*)?$", "https://example.org/a b", 1},
        {"^https?://[^\\s/]+(/.*)?$", "ftp://example.org/", 0},
        {"^\\d{4}-\\d{2}-\\d{2}$", "2026-07-28", 1},
        {"^\\d{4}-\\d{2}-\\d{2}$", "2026-7-28", 0},
        {"^[a-z][a-z0-9_]{0,63}$", "memory_search", 1},
        {"^[a-z][a-z0-9_]{0,63}$", "9lives", 0},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        int got = match(CASES[i].pattern, CASES[i].text);
        if (got != CASES[i].expected) {
            fail_msg("/%s/ on \"%s\": %d instead of %d", CASES[i].pattern, CASES[i].text, got,
                     CASES[i].expected);
        }
    }
}

static void counts_nul_as_a_character(void **state)
{
    (void)state;
    assert_int_equal(pattern_match("^a\0b$", 5, "a\0b", 3), 1);
    assert_int_equal(pattern_match("^a.b$", 5, "a\0b", 3), 1);
    assert_int_equal(pattern_match("^ab$", 4, "a\0b", 3), 0);
}

static void refuses_what_it_does_not_know(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        const char *problem;
    } CASES[] = {
        {"*a", "there is nothing to repeat (at character 1)"},
        {"a|*", "there is nothing to repeat (at character 3)"},
        {"(+a)", "there is nothing to repeat (at character 2)"},
        {"{2}", "there is nothing to repeat (at character 1)"},
        {"a**", "a repetition cannot be repeated (at character 3)"},
        {"a*?", "a repetition cannot be repeated (at character 3)"},
        {"a{2}{3}", "a repetition cannot be repeated (at character 5)"},
        {"^*", "an anchor cannot be repeated (at character 2)"},
        {"a${2}", "an anchor cannot be repeated (at character 3)"},
        {"a{", "a repetition is {m}, {m,} or {m,n} (at character 3)"},
        {"a{,3}", "a repetition is {m}, {m,} or {m,n} (at character 3)"},
        {"a{2", "a repetition is {m}, {m,} or {m,n} (at character 4)"},
        {"a{2,x}", "a repetition is {m}, {m,} or {m,n} (at character 5)"},
        {"a{3,2}", "a repetition runs backwards (at character 7)"},
        {"a{1001}", "a repetition is larger than 1000 (at character 7)"},
        {"a{99999999999999999999}", "a repetition is larger than 1000 (at character 7)"},
        {"a{600}", "the pattern is too large (at character 7)"},
        {"((a{20}){20}){20}", "the pattern is too large (at character 18)"},
        {"[]", "a class is empty (at character 2)"},
        {"[^]", "a class is empty (at character 3)"},
        {"[a", "a class is not closed with ] (at character 3)"},
        {"[a-", "a class is not closed with ] (at character 4)"},
        {"[", "a class is not closed with ] (at character 2)"},
        {"[z-a]", "a range runs backwards (at character 5)"},
        {"[a-c-e]", "a - in a class stands between two characters, first or last (at character 6)"},
        {"[\\d-z]", "a - in a class stands between two characters, first or last (at character 5)"},
        {"[a-\\d]", "a range cannot end in a class (at character 4)"},
        {"(a", "a group is not closed with ) (at character 3)"},
        {"a)", "this ) closes nothing; write \\ before it (at character 2)"},
        {"a]", "this bracket closes nothing; write \\ before it (at character 2)"},
        {"a|}", "this bracket closes nothing; write \\ before it (at character 3)"},
        {"(?=a)", "of the groups with (? only (?: is supported (at character 3)"},
        {"(?<n>a)", "of the groups with (? only (?: is supported (at character 3)"},
        {"(a)\\1", "this escape is not supported (at character 5)"},
        {"\\bword", "this escape is not supported (at character 2)"},
        {"\\D", "this escape is not supported (at character 2)"},
        {"\\p{L}", "this escape is not supported (at character 2)"},
        {"\\u0041", "this escape is not supported (at character 2)"},
        {"[\\b]", "this escape is not supported (at character 3)"},
        {"\u00e9\\", "the pattern ends in a backslash (at character 3)"},
        {"(((((((((((((((((a)))))))))))))))))", "groups are nested too deeply (at character 18)"},
        {"\xff", "the pattern is not UTF-8 (at character 1)"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char problem[200];
        const char *pattern = CASES[i].pattern;
        int status = pattern_check(pattern, strlen(pattern), problem, sizeof problem);
        if (status != ERR_INVALID || strcmp(problem, CASES[i].problem) != 0) {
            fail_msg("/%s/: %d \"%s\"", pattern, status, problem);
        }
        assert_int_equal(match(pattern, "a"), ERR_INVALID);
    }
}

static void has_room_for_large_patterns(void **state)
{
    (void)state;
    char problem[200];
    static const char LARGE[] = "^[a-z0-9]{1,250}$";
    assert_int_equal(pattern_check(LARGE, strlen(LARGE), problem, sizeof problem), OK);
    assert_string_equal(problem, "");
    char text[252];
    memset(text, 'a', 250);
    text[250] = '\0';
    assert_int_equal(match(LARGE, text), 1);
    text[250] = 'a';
    text[251] = '\0';
    assert_int_equal(match(LARGE, text), 0);
}

/* The classics that take a backtracking matcher for ever. A run that does not end fails by the
 * runner's own time limit; what is asserted is the answer. */
static void does_not_run_away(void **state)
{
    (void)state;
    static const char *const PATTERNS[] = {
        "^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "^(a*)*b$", "^(.*a){20}$", "^(a?){100}a{100}$",
    };
    enum { LENGTH = 5000 };
    char *text = malloc(LENGTH + 1);
    assert_non_null(text);
    memset(text, 'a', LENGTH);
    text[LENGTH - 1] = '!';
    text[LENGTH] = '\0';
    for (size_t i = 0; i < COUNT(PATTERNS); i++) {
        assert_int_equal(match(PATTERNS[i], text), 0);
    }
    free(text);
}

static void gives_up_at_the_ceiling(void **state)
{
    (void)state;
    enum { LENGTH = 1000000 };
    char *text = malloc(LENGTH);
    assert_non_null(text);
    memset(text, 'a', LENGTH);
    assert_int_equal(pattern_match("(a?){100}b", 10, text, LENGTH), ERR_LIMIT);
    assert_int_equal(pattern_match("b", 1, text, LENGTH), 0);
    free(text);
}

UNIT_TEST(pattern)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_or_not),
        cmocka_unit_test(counts_nul_as_a_character),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(has_room_for_large_patterns),
        cmocka_unit_test(does_not_run_away),
        cmocka_unit_test(gives_up_at_the_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
