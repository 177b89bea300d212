/* Cutting a text into passages: where the cuts are, and what holds of any text. */
#include "index/passages.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text that is made of pieces: `[n]` stands for n words, everything else for itself. */
static char *make(const char *form)
{
    char *text = calloc(1, 1 << 20);
    char *to = text;
    assert_non_null(text);
    for (const char *at = form; *at;) {
        if (*at != '[') {
            *to++ = *at++;
            continue;
        }
        char *end;
        unsigned long count = strtoul(at + 1, &end, 10);
        at = end + 1;
        for (unsigned long i = 0; i < count; i++) {
            memcpy(to, i + 1 < count ? "word " : "word", 5);
            to += i + 1 < count ? 5 : 4;
        }
    }
    return text;
}

static size_t count_words(const char *text, struct passage passage)
{
    size_t count = 0;
    for (size_t i = passage.start; i < passage.end; i++) {
        count += text[i] != ' ' && (i == passage.start || text[i - 1] == ' ');
    }
    return count;
}

static const struct {
    const char *form;
    const char *begins; /* the bytes that each passage begins with, but for the first */
    size_t passages;
} CUTS[] = {
    {"", "", 0},
    {" \n ", "", 0},
    {"!", "", 1},
    {"[1]", "", 1},
    {"[250]", "", 1},
    {"[251]", "w", 2},
    {"[2000]", "wwwwwwwww", 10},
    {"[150]\n\nA [80]. B [100].", "A", 2},     /* a paragraph before a sentence */
    {"[150]. A [80]\nB [100]", "A", 2},        /* a sentence before a line */
    {"[150]\nA [30] [150]", "A", 2},           /* a line before a word */
    {"[150]. A [30].\nB [150].", "B", 2},      /* a line that ends a sentence is better than one */
    {"[99]. A [94]. B [95]. C [99].", "B", 2}, /* of equal ones the nearest to the middle */
    {"[150]?\" (A [150]", "(", 2},             /* what closes stays, what opens goes on */
    {"[150] 3.14 [150] v2.0", "w", 2},         /* a point inside of a number ends nothing */
};

static void cuts_where_the_text_is_cut_best(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(CUTS); i++) {
        char *text = make(CUTS[i].form);
        struct passages passages;
        struct passage passage;
        size_t count = 0;
        passages_begin(&passages, text, strlen(text));
        while (passages_next(&passages, &passage)) {
            if (count > 0 && text[passage.start] != CUTS[i].begins[count - 1]) {
                fail_msg("%s: passage %zu begins with %.20s", CUTS[i].form, count,
                         text + passage.start);
            }
            count++;
        }
        if (count != CUTS[i].passages) {
            fail_msg("%s: %zu passages", CUTS[i].form, count);
        }
        free(text);
    }
}

static void makes_them_of_about_the_same_length(void **state)
{
    (void)state;
    for (unsigned int words = 251; words < 3000; words += 37) {
        char form[32];
        snprintf(form, sizeof form, "[%u]", words);
        char *text = make(form);
        struct passages passages;
        struct passage passage;
        size_t sum = 0;
        passages_begin(&passages, text, strlen(text));
        while (passages_next(&passages, &passage)) {
            size_t count = count_words(text, passage);
            assert_in_range(count, PASSAGE_WORDS / 2, PASSAGE_MOST_WORDS);
            sum += count;
        }
        assert_int_equal(sum, words);
        free(text);
    }
}

/* Repeats a piece until there are so many bytes. */
static size_t repeat(char *text, const char *piece, size_t length)
{
    size_t size = strlen(piece);
    size_t at = 0;
    while (at + size <= length) {
        memcpy(text + at, piece, size);
        at += size;
    }
    return at;
}

/* Scripts without spaces, one endless word, signs only, emoji, bytes that are no text. */
static const struct {
    const char *piece;
    size_t least, most; /* bytes of a passage */
} RUNS[] = {
    {"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E", 300, 750},
    {"\xE4\xBB\x8A\xE6\x97\xA5\xE3\x81\xAF\xE6\x99\xB4\xE3\x82\x8C\xE3\x80\x82", 300, 900},
    {"\xE0\xB8\x81\xE0\xB8\xA3", 300, 1500},
    {"x", 1200, 3000},
    {"-", 1600, 4250},
    {"\xF0\x9F\x98\x80", 6000, 17000},
    {"\xFF\xC3", 1000, 9000},
    {"Ein Wort und noch eins. ", 500, 1500},
};

static void bounds_every_passage(void **state)
{
    (void)state;
    static char text[100000];
    for (size_t i = 0; i < COUNT(RUNS); i++) {
        size_t length = repeat(text, RUNS[i].piece, sizeof text);
        struct passages passages;
        struct passage passage;
        size_t before = 0, count = 0;
        passages_begin(&passages, text, length);
        while (passages_next(&passages, &passage)) {
            size_t size = passage.end - passage.start;
            if (size < RUNS[i].least || size > RUNS[i].most) {
                fail_msg("%s: a passage of %zu bytes", RUNS[i].piece, size);
            }
            assert_true(passage.start >= before && passage.start - before <= 2);
            /* never inside of a character */
            assert_true(i == 6 || ((unsigned char)text[passage.start] & 0xC0) != 0x80);
            before = passage.end;
            count++;
        }
        assert_true(length - before <= 2);
        assert_true(count > 1);
    }
}

UNIT_TEST(passages)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_where_the_text_is_cut_best),
        cmocka_unit_test(makes_them_of_about_the_same_length),
        cmocka_unit_test(bounds_every_passage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
