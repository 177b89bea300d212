/* The other forms of a word: families, words that stand for the same, slips. */
#include "core/status.h"
#include "index/forms.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* What a test looks for among the forms that are offered. */
struct looking {
    const char *term;
    float weight; /* that it was offered with; 0: it was not */
    size_t offered;
};

static int look(void *context, const char *term, size_t length, float weight)
{
    struct looking *looking = context;
    looking->offered++;
    if (strlen(looking->term) == length && memcmp(term, looking->term, length) == 0) {
        looking->weight = weight;
    }
    return OK;
}

static int refuse(void *context, const char *term, size_t length, float weight)
{
    (void)context;
    (void)term;
    (void)length;
    (void)weight;
    return ERR_LIMIT;
}

static void knows_families(void **state)
{
    (void)state;
    static const struct {
        const char *stem, *other;
        bool related;
    } CASES[] = {
        {"allergi", "allerg", true}, {"allerg", "allergi", true},
        {"writer", "write", true},   {"friend", "friendship", true},
        {"music", "musician", true}, {"compani", "companion", false},
        {"cat", "cate", false},      {"", "i", false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct looking looking = {.term = CASES[i].other};
        assert_int_equal(forms_family(CASES[i].stem, look, &looking), OK);
        assert_int_equal(looking.weight > 0, CASES[i].related);
        assert_true(looking.weight < 1);
    }
    char long_stem[300];
    memset(long_stem, 'a', sizeof long_stem - 1);
    long_stem[sizeof long_stem - 1] = '\0';
    struct looking looking = {.term = "x"};
    assert_int_equal(forms_family(long_stem, look, &looking), OK);
    assert_int_equal(forms_family("allergi", refuse, NULL), ERR_LIMIT);
}

static void knows_words_that_stand_for_the_same(void **state)
{
    (void)state;
    struct word_reader *reader = words_new();
    static const struct {
        const char *word, *other;
        bool alike;
    } CASES[] = {
        {"k8s", "kubernet", true}, {"kubernetes", "k8s", true}, {"appt", "appoint", true},
        {"doctor", "dr", true},    {"appt", "appt", false},     {"kuber", "k8s", false},
        {"", "dr", false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct looking looking = {.term = CASES[i].other};
        assert_int_equal(forms_alike(reader, CASES[i].word, look, &looking), OK);
        assert_int_equal(looking.weight > 0, CASES[i].alike);
    }
    words_free(reader);
}

static void knows_slips(void **state)
{
    (void)state;
    struct word_reader *reader = words_new();
    struct arena *arena = arena_new((size_t)1 << 22);
    static const struct {
        const char *word, *other;
        bool near;
    } CASES[] = {
        {"dentst", "dentist", true},  {"dnetist", "dentist", true},  {"dentisst", "dentist", true},
        {"dantist", "dentist", true}, {"entist", "dentist", true},   {"meetign", "meet", true},
        {"dnts", "dentist", false},   {"cta", "cat", false},         {"v12345", "v12346", false},
        {"собоака", "собак", true},   {"日本語日本", "日本", false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct looking looking = {.term = CASES[i].other};
        enum language language = i == 9 ? LANGUAGE_RUSSIAN : LANGUAGE_ENGLISH;
        assert_int_equal(forms_slips(reader, arena, CASES[i].word, language, look, &looking), OK);
        assert_int_equal(looking.weight > 0, CASES[i].near);
        assert_true(looking.offered < 2000);
    }
    assert_int_equal(forms_slips(reader, arena,
                                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                 LANGUAGE_ENGLISH, refuse, NULL),
                     OK);
    struct looking first = {.term = "dentist"};
    struct looking later = {.term = "dentist"};
    assert_int_equal(forms_slips(reader, arena, "tentist", LANGUAGE_ENGLISH, look, &first), OK);
    assert_int_equal(forms_slips(reader, arena, "dentisk", LANGUAGE_ENGLISH, look, &later), OK);
    assert_true(first.weight < later.weight);
    arena_free(arena);
    words_free(reader);
}

static void knows_two_slips(void **state)
{
    (void)state;
    static const struct {
        const char *word, *other;
        bool near;
    } CASES[] = {
        {"restarantu", "restaurant", true}, {"kubernetse", "kubernetes", true},
        {"kubrnetse", "kubernetes", true},  {"xubernetes", "kubernetes", false},
        {"kubernetes", "kuber", false},     {"kubrntse", "kubernetes", false},
        {"kubernetes", "", false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        float weight = forms_near(CASES[i].word, strlen(CASES[i].word), CASES[i].other,
                                  strlen(CASES[i].other));
        assert_int_equal(weight > 0, CASES[i].near);
    }
    assert_true(forms_long("kubernetes"));
    assert_false(forms_long("dentist"));
    assert_false(forms_long("12345678"));
}

UNIT_TEST(forms)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_families),
        cmocka_unit_test(knows_words_that_stand_for_the_same),
        cmocka_unit_test(knows_slips),
        cmocka_unit_test(knows_two_slips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
