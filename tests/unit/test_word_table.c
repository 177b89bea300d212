/* Looking words up in the generated tables. */
#include "tables.h"
#include "unit.h"

#include "html/choose/hints.h"

#include <string.h>

static uint32_t value(const struct word_table *table, const char *word)
{
    return words_value(table, word, strlen(word));
}

static void test_values(void **state)
{
    (void)state;
    assert_int_equal(value(&page_hints, "navbar"), HINT_NAVIGATION);
    assert_int_equal(value(&page_hints, "taboola"), HINT_RELATED | HINT_ADVERT);
    assert_int_equal(value(&page_hints, "navba"), 0);
    assert_int_equal(value(&page_hints, "Navbar"), 0); /* this table is asked in small letters */
    assert_int_equal(value(&page_hints, ""), 0);
    assert_int_equal(words_value(&page_hints, "navbars", 6), HINT_NAVIGATION);
}

static void test_texts_in_any_case(void **state)
{
    (void)state;
    assert_string_equal(words_text(&code_languages, "C++", 3), "cpp");
    assert_string_equal(words_text(&code_languages, "Ada", 3), "ada");
    assert_null(words_text(&code_languages, "klingon", 7));
}

static void test_beginnings(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        enum label_effect effect;
    } CASES[] = {
        {"related", LABEL_SECTION},
        {"relate", LABEL_NONE},
        {"related work", LABEL_NONE},
        {"related articles", LABEL_SECTION},
        {"more in", LABEL_NONE},
        {"more in sports", LABEL_SECTION},
        {"zzz", LABEL_NONE},
        {"!", LABEL_NONE},
        {"", LABEL_NONE},
        {"\xd0\x9f\xd0\xbe\xd1\x85\xd0\xbe\xd0\xb6\xd0\xb8\xd0\xb5 x", LABEL_SECTION},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_int_equal(words_match(&page_labels, CASES[i].label, strlen(CASES[i].label)),
                         CASES[i].effect);
    }
}

static void test_every_entry_is_found(void **state)
{
    (void)state;
    static const struct word_table *const TABLES[] = {&page_hints, &page_labels, &code_languages};
    for (size_t t = 0; t < sizeof TABLES / sizeof *TABLES; t++) {
        for (size_t i = 0; i < TABLES[t]->count; i++) {
            const struct word_entry *entry = &TABLES[t]->entries[i];
            const char *word = TABLES[t]->text + entry->at;
            assert_int_equal(words_value(TABLES[t], word, entry->length), entry->value);
            assert_int_equal(words_match(TABLES[t], word, entry->length), entry->value);
        }
    }
}

UNIT_TEST(word_table)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_texts_in_any_case),
        cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_every_entry_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
