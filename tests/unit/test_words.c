/* What a word is: folding, stemming, scripts without spaces, identifiers, languages. */
#include "core/status.h"
#include "index/fold.h"
#include "index/words.h"
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct listing {
    char text[2048];
    size_t length;
};

/* Terms with spaces between them; stop words in brackets, wholes with =, single characters left
 * out.
 */
static int list_word(void *context, const struct word *word)
{
    struct listing *listing = context;
    if (word->kind == WORD_SINGLE) {
        return OK;
    }
    assert_int_equal(strlen(word->term), word->length);
    assert_true(word->start < word->end);
    listing->length +=
        (size_t)snprintf(listing->text + listing->length, sizeof listing->text - listing->length,
                         "%s%s%s%s%s", listing->length ? " " : "",
                         word->stop                 ? "("
                         : word->kind == WORD_WHOLE ? "="
                                                    : "",
                         word->term, word->stop ? ")" : "", "");
    return OK;
}

static const char *terms_of(struct word_reader *reader, const char *text, enum language language)
{
    static struct listing listing;
    listing = (struct listing){.length = 0};
    assert_int_equal(words_each(reader, text, strlen(text), language, list_word, &listing), OK);
    return listing.text;
}

static const struct {
    enum language language;
    const char *text;
    const char *terms;
} TEXTS[] = {
    {LANGUAGE_ENGLISH, "The connections were closed.", "(the) connect (were) close"},
    {LANGUAGE_ENGLISH, "John's cats don't", "john cat (dont)"},
    {LANGUAGE_ENGLISH, "Ankara'da İstanbul’un Mehmet'i Bakü'yü", "ankara istanbul mehmet baku"},
    {LANGUAGE_ENGLISH, "Hawai'i Halloween'den Don't Ankara'x", "hawaii halloween (dont) ankarax"},
    {LANGUAGE_FRENCH, "Quelqu'un", "quelquun"},
    {LANGUAGE_ENGLISH, "1,000.50 and v2", "1000.50 (and) v2"},
    {LANGUAGE_ENGLISH, "getUserName", "=getusername get user name"},
    {LANGUAGE_ENGLISH, "HTTPServer", "=httpserver http server"},
    {LANGUAGE_ENGLISH, "max_open_files", "=maxopenfiles max open file"},
    {LANGUAGE_ENGLISH, "/usr/local/bin/forage.conf", "usr local bin forag conf"},
    {LANGUAGE_ENGLISH, "__init__", "init"},
    {LANGUAGE_ENGLISH, "x", "x"},
    {LANGUAGE_ENGLISH, "  ...  !? ", ""},
    {LANGUAGE_FRENCH, "L'école est fermée", "(l) ecol (est) ferm"},
    {LANGUAGE_GERMAN, "Die Häuser", "(die) haus"},
    {LANGUAGE_GERMAN, "Straße STRASSE", "strass strass"},
    {LANGUAGE_ENGLISH, "数据库", "数据 据库"},
    {LANGUAGE_ENGLISH, "我", "我"},
    {LANGUAGE_ENGLISH, "データベース", "デー ータ タベ ベー ース"},
    {LANGUAGE_ENGLISH, "한국어", "한국 국어"},
    {LANGUAGE_ENGLISH, "PostgreSQL数据库", "=postgresql postgr sql 数据 据库"},
    {LANGUAGE_ENGLISH, "ＡＢＣ", "abc"},
};

static void takes_texts_apart(void **state)
{
    (void)state;
    struct word_reader *reader = words_new();
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        assert_string_equal(terms_of(reader, TEXTS[i].text, TEXTS[i].language), TEXTS[i].terms);
    }
    words_free(reader);
}

/* A reader that has seen many words looks them up: nothing may change by that, in any language. */
static void remembers_words(void **state)
{
    (void)state;
    struct word_reader *fresh = words_new();
    struct word_reader *busy = words_new();
    for (int i = 0; i < 2000; i++) {
        char text[64];
        snprintf(text, sizeof text, "connections number%d running", i);
        terms_of(busy, text, (enum language)(i % LANGUAGE_COUNT));
    }
    for (size_t i = 0; i < COUNT(TEXTS); i++) {
        for (int language = 0; language < LANGUAGE_COUNT; language++) {
            char wanted[2048];
            snprintf(wanted, sizeof wanted, "%s",
                     terms_of(fresh, TEXTS[i].text, (enum language)language));
            words_rest(fresh);
            assert_string_equal(terms_of(busy, TEXTS[i].text, (enum language)language), wanted);
            assert_string_equal(terms_of(busy, TEXTS[i].text, (enum language)language), wanted);
        }
    }
    words_free(fresh);
    words_free(busy);
}

static void guesses_languages(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum language language;
    } CASES[] = {
        {"", LANGUAGE_ENGLISH},
        {"The meeting is on Tuesday and we are late", LANGUAGE_ENGLISH},
        {"Die Sitzung ist am Dienstag und wir sind nicht da", LANGUAGE_GERMAN},
        {"La réunion est mardi et nous ne sommes pas là", LANGUAGE_FRENCH},
        {"La reunión es el martes y no estamos para eso", LANGUAGE_SPANISH},
        {"Собрание во вторник", LANGUAGE_RUSSIAN},
        {"الاجتماع يوم الثلاثاء", LANGUAGE_ARABIC},
        {"Η συνάντηση είναι την Τρίτη", LANGUAGE_GREEK},
        {"会议在星期二", LANGUAGE_ENGLISH},
    };
    struct word_reader *reader = words_new();
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_int_equal(words_guess(reader, CASES[i].text, strlen(CASES[i].text)),
                         CASES[i].language);
    }
    words_free(reader);
}

/* Positions and bytes of words, which phrases and marks stand on. */
struct places {
    unsigned int positions[16];
    size_t starts[16];
    size_t count;
};

static int note_place(void *context, const struct word *word)
{
    struct places *places = context;
    places->positions[places->count] = word->position;
    places->starts[places->count++] = word->start;
    return places->count < 16 ? OK : ERR_LIMIT;
}

static void counts_positions(void **state)
{
    (void)state;
    static const char TEXT[] = "one two_three, 四五";
    static const unsigned int POSITIONS[] = {0, 1, 1, 2, 3, 3, 4};
    static const size_t STARTS[] = {0, 4, 4, 8, 15, 15, 18};
    struct word_reader *reader = words_new();
    struct places places = {.count = 0};
    assert_int_equal(words_each(reader, TEXT, strlen(TEXT), LANGUAGE_ENGLISH, note_place, &places),
                     OK);
    assert_int_equal(places.count, COUNT(POSITIONS));
    for (size_t i = 0; i < COUNT(POSITIONS); i++) {
        assert_int_equal(places.positions[i], POSITIONS[i]);
        assert_int_equal(places.starts[i], STARTS[i]);
    }
    words_free(reader);
}

/* Bytes that are no UTF-8, very long words, and what is cut in the middle. */
static void survives_anything(void **state)
{
    (void)state;
    static const char *const TEXTS_OF_EVIL[] = {"\xFF\xFE\x80", "a\xC3",  "\xE6\x95", "_",
                                                "____",         "'",      "a'",       "''''",
                                                "9.",           "9.9.9.", "-*\""};
    struct word_reader *reader = words_new();
    char longest[5000];
    for (size_t i = 0; i < COUNT(TEXTS_OF_EVIL); i++) {
        terms_of(reader, TEXTS_OF_EVIL[i], LANGUAGE_ENGLISH);
    }
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_true(strlen(terms_of(reader, longest, LANGUAGE_ENGLISH)) < FOLD_BYTES);
    for (size_t i = 0; i + 2 < sizeof longest; i += 2) {
        memcpy(longest + i, "\xC3\xA9", 2);
    }
    longest[sizeof longest - 2] = '\0';
    assert_true(strlen(terms_of(reader, longest, LANGUAGE_ENGLISH)) < FOLD_BYTES);
    words_free(reader);
}

static void folds(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *folded;
    } CASES[] = {
        {"ÉCOLE", "ecole"},       {"École", "ecole"},   {"Straße", "strasse"}, {"ﬁn", "fin"},
        {"Ångström", "angstrom"}, {"ØRSTED", "orsted"}, {"ﾃﾞｰﾀ", "データ"},    {"مُحَمَّد", "محمد"},
        {"مدرسة", "مدرسه"},       {"don't", "dont"},    {"が", "が"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct fold_text text;
        fold_case(&text, CASES[i].text, strlen(CASES[i].text));
        fold_accents(&text);
        assert_string_equal(text.data, CASES[i].folded);
    }
}

UNIT_TEST(words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_texts_apart), cmocka_unit_test(remembers_words),
        cmocka_unit_test(guesses_languages), cmocka_unit_test(counts_positions),
        cmocka_unit_test(survives_anything), cmocka_unit_test(folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
