/* Columns: letters that are wide, that take no room, and texts that are cut between letters. */
#include "text/columns.h"

#include "unit.h"

#include <stdint.h>
#include <string.h>

static void counts_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
    } CASES[] = {
        {"", 0},
        {"abc", 3},
        {"na\u00efve", 5},
        {"nai\u0308ve", 5}, /* the same with a mark of its own */
        {"\u4e2d\u6587", 4},
        {"\u30ab\u30ca", 4},
        {"\uff76\uff85", 2},       /* the narrow ones */
        {"\ud55c\uae00", 4},       /* syllables */
        {"\u1112\u1161\u11ab", 2}, /* one of them, taken apart */
        {"\U0001F600!", 3},
        {"\u2603", 1}, /* a snowman, which is a letter like any other */
        {"\u0e01\u0e34\u0e19", 2},
        {"a\u200bb", 2},
        {"a\tb\n", 4},
        {"\xff", 1}, /* shown as a sign for what cannot be read */
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_int_equal(text_columns(CASES[i].text, strlen(CASES[i].text)), CASES[i].columns);
    }
}

static void cuts_between_letters(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
        const char *kept;
    } CASES[] = {
        {"abc", 2, "ab"},
        {"abc", 9, "abc"},
        {"\u4e2d\u6587", 3, "\u4e2d"},
        {"\u4e2d\u6587", 1, ""},
        {"nai\u0308ve", 3, "nai\u0308"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        size_t length = strlen(CASES[i].text);
        assert_int_equal(text_columns_prefix(CASES[i].text, length, CASES[i].columns),
                         strlen(CASES[i].kept));
    }
}

UNIT_TEST(columns)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_columns),
        cmocka_unit_test(cuts_between_letters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
