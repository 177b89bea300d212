/* Vectors: every form of the sums gives the same, what is found is what a slow and obvious search
 * finds, and the set follows what is put and removed. */
#include "core/limits.h"
#include "index/dots.h"
#include "index/fuse.h"
#include "index/vectors.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIMENSIONS 100u /* no multiple of anything */
#define TEXTS      400u

static uint64_t state;

static uint32_t dice(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

static float some(void)
{
    return (float)(dice() % 2001) / 1000 - 1;
}

/* A direction by chance, of length 1. */
static void make(float *numbers, size_t dimensions)
{
    double sum = 0;
    for (size_t i = 0; i < dimensions; i++) {
        numbers[i] = some();
        sum += (double)numbers[i] * numbers[i];
    }
    for (size_t i = 0; i < dimensions; i++) {
        numbers[i] = (float)(numbers[i] / sqrt(sum));
    }
}

static void test_all_forms_give_the_same(void **unused)
{
    (void)unused;
    static uint8_t row[LIMIT_MEANING_DIMENSIONS];
    static int8_t question[LIMIT_MEANING_DIMENSIONS];
    static uint64_t codes[LIMIT_MEANING_DIMENSIONS / 64 * DOTS_CODES];
    uint16_t slow[DOTS_CODES];
    uint16_t fast[DOTS_CODES];
    const struct dots *portable = dots_choose(DOTS_PORTABLE);
    for (size_t length = DOTS_STEP; length <= LIMIT_MEANING_DIMENSIONS; length += DOTS_STEP) {
        for (size_t i = 0; i < length; i++) {
            row[i] = (uint8_t)(length == DOTS_STEP ? 255 : dice());
            question[i] = (int8_t)(length == DOTS_STEP ? -127 : (int)(dice() % 255) - 127);
        }
        for (size_t i = 0; i < COUNT(codes); i++) {
            codes[i] = (uint64_t)dice() << 32 | dice();
        }
        portable->differences(codes, codes + 77, length / 64, slow);
        for (enum dots_level level = DOTS_PORTABLE; level <= DOTS_ANY; level++) {
            const struct dots *dots = dots_choose(level);
            assert_int_equal(dots->product(row, question, length),
                             portable->product(row, question, length));
            dots->differences(codes, codes + 77, length / 64, fast);
            assert_memory_equal(slow, fast, sizeof slow);
        }
    }
}

/* ---- a set, beside a slow and obvious one ---- */

struct model {
    float numbers[TEXTS][2][DIMENSIONS]; /* up to two passages */
    size_t passages[TEXTS];              /* 0: not there */
};

static void put(struct vectors *vectors, struct model *model, size_t which, size_t passages)
{
    unsigned char packed[2 * VECTORS_PACKED(DIMENSIONS)];
    for (size_t i = 0; i < passages; i++) {
        make(model->numbers[which][i], DIMENSIONS);
        vectors_pack(model->numbers[which][i], DIMENSIONS, packed + i * VECTORS_PACKED(DIMENSIONS));
    }
    model->passages[which] = passages;
    assert_int_equal(vectors_put(vectors, (int64_t)which + 1, (uint32_t)which, packed,
                                 passages * VECTORS_PACKED(DIMENSIONS), DIMENSIONS),
                     OK);
}

static double cosine(const struct model *model, size_t which, const float *question)
{
    double best = -2;
    for (size_t i = 0; i < model->passages[which]; i++) {
        double sum = 0;
        for (size_t j = 0; j < DIMENSIONS; j++) {
            sum += (double)model->numbers[which][i][j] * question[j];
        }
        best = fmax(best, sum);
    }
    return best;
}

static bool is_odd(const void *context, int64_t id)
{
    (void)context;
    return id % 2 == 1;
}

static void compare(const struct vectors *vectors, const struct model *model, bool only_odd)
{
    float question[DIMENSIONS];
    struct vectors_hit hits[10];
    size_t count;
    make(question, DIMENSIONS);
    assert_int_equal(vectors_search(vectors, question, COUNT(hits), only_odd ? is_odd : NULL, NULL,
                                    hits, &count),
                     OK);
    size_t there = 0;
    size_t better = 0;
    for (size_t i = 0; i < TEXTS; i++) {
        bool passes = model->passages[i] > 0 && (!only_odd || (i + 1) % 2 == 1);
        there += passes;
        better += passes && count == COUNT(hits) &&
                  cosine(model, i, question) > hits[count - 1].cosine + 0.02;
    }
    assert_int_equal(count, there < COUNT(hits) ? there : COUNT(hits));
    assert_true(better < COUNT(hits));
    for (size_t i = 0; i < count; i++) {
        size_t which = (size_t)hits[i].id - 1;
        assert_true(fabs(hits[i].cosine - cosine(model, which, question)) < 0.01);
        assert_true(i == 0 || hits[i - 1].cosine >= hits[i].cosine);
        struct vectors_hit same = {.id = hits[i].id};
        assert_int_equal(vectors_compare(vectors, question, &same, 1, NAN), OK);
        assert_true(same.cosine == hits[i].cosine);
    }
}

static void test_finds_what_a_slow_search_finds(void **unused)
{
    (void)unused;
    struct vectors *vectors = vectors_new();
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(vectors);
    assert_non_null(model);
    for (size_t round = 0; round < 5000; round++) {
        size_t which = dice() % TEXTS;
        if (dice() % 3 == 0) {
            vectors_remove(vectors, (int64_t)which + 1);
            model->passages[which] = 0;
        } else {
            put(vectors, model, which, 1 + dice() % 2);
        }
        if (round % 50 == 0) {
            compare(vectors, model, round % 100 == 0);
        }
    }
    assert_int_equal(vectors_dimensions(vectors), DIMENSIONS);
    assert_true(vectors_bytes(vectors) < (size_t)4 * TEXTS * 2 * 160);
    vectors_free(vectors);
    free(model);
}

static void test_texts_that_changed_are_forgotten(void **unused)
{
    (void)unused;
    struct vectors *vectors = vectors_new();
    struct model *model = calloc(1, sizeof *model);
    struct vectors_hit hit = {.id = 1};
    put(vectors, model, 0, 2);
    vectors_keep(vectors, 1, 0); /* the same text */
    assert_int_equal(vectors_compare(vectors, model->numbers[0][0], &hit, 1, -2), OK);
    assert_true(hit.cosine > 0.99);
    vectors_keep(vectors, 1, 7); /* another one */
    assert_int_equal(vectors_compare(vectors, model->numbers[0][0], &hit, 1, -2), OK);
    assert_true(hit.cosine == -2);
    vectors_free(vectors);
    free(model);
}

static void test_what_is_no_vector_is_refused(void **unused)
{
    (void)unused;
    struct vectors *vectors = vectors_new();
    unsigned char packed[2 * VECTORS_PACKED(8)] = {0};
    float numbers[8] = {1};
    assert_int_equal(vectors_put(vectors, 1, 0, packed, VECTORS_PACKED(8), 8), ERR_INVALID);
    vectors_pack(numbers, 8, packed);
    assert_int_equal(vectors_put(vectors, 1, 0, packed, VECTORS_PACKED(8) - 1, 8), ERR_INVALID);
    assert_int_equal(vectors_put(vectors, 0, 0, packed, VECTORS_PACKED(8), 8), ERR_INVALID);
    assert_int_equal(vectors_put(vectors, 1, 0, packed, 0, 0), ERR_INVALID);
    assert_int_equal(vectors_put(vectors, 1, 0, packed, VECTORS_PACKED(8), 8), OK);
    assert_int_equal(vectors_put(vectors, 2, 0, packed, 2 * VECTORS_PACKED(8), 20), ERR_INVALID);
    packed[3] = 0x7F; /* a scale that is no number */
    packed[2] = 0xC0;
    assert_int_equal(vectors_put(vectors, 2, 0, packed, VECTORS_PACKED(8), 8), ERR_INVALID);
    vectors_free(vectors);
}

/* With very many, signs choose first. Those that are near are found all the same. */
static void test_very_many(void **unused)
{
    (void)unused;
    enum { SMALL = 128, NEAR = 20 };
    struct vectors *vectors = vectors_new();
    unsigned char packed[VECTORS_PACKED(SMALL)];
    float numbers[SMALL];
    float question[SMALL];
    struct vectors_hit hits[NEAR];
    size_t count;
    make(question, SMALL);
    for (int64_t id = 1; id <= LIMIT_VECTORS_EXACT + 5000; id++) {
        make(numbers, SMALL);
        for (size_t i = 0; i < SMALL && id % 2500 == 0; i++) {
            numbers[i] = question[i] + numbers[i] / 2;
        }
        vectors_pack(numbers, SMALL, packed);
        assert_int_equal(vectors_put(vectors, id, 0, packed, sizeof packed, SMALL), OK);
    }
    assert_int_equal(vectors_search(vectors, question, NEAR, NULL, NULL, hits, &count), OK);
    assert_int_equal(count, NEAR);
    for (size_t i = 0; i < NEAR; i++) {
        assert_int_equal(hits[i].id % 2500, 0);
    }
    /* A filter that hardly anything passes is answered in full. */
    for (int64_t id = 1; id <= LIMIT_VECTORS_EXACT + 5000; id++) {
        if (id % 2 == 1 && id > 9) {
            vectors_remove(vectors, id);
        }
    }
    assert_int_equal(vectors_search(vectors, question, NEAR, is_odd, NULL, hits, &count), OK);
    assert_int_equal(count, 5);
    vectors_free(vectors);
}

/* ---- one ranking of two ---- */

static void test_both_sides_count(void **unused)
{
    (void)unused;
    struct arena *arena = arena_new(MIB(1));
    struct vectors *vectors = vectors_new();
    unsigned char packed[VECTORS_PACKED(4)];
    /* 1: both; 2: words only; 3: vectors only; 4: neither, but it is there; 5: no vector yet */
    static const float NUMBERS[4][4] = {{0.9f, 0.1f}, {0, 1}, {1}, {0, 0, 1}};
    static const float QUESTION[4] = {1};
    for (int64_t id = 1; id <= 4; id++) {
        vectors_pack(NUMBERS[id - 1], 4, packed);
        assert_int_equal(vectors_put(vectors, id, 0, packed, sizeof packed, 4), OK);
    }
    struct index_hit words[] = {{.id = 1, .score = 10, .relevance = 0.8, .parts.words = 10},
                                {.id = 2, .score = 9, .relevance = 0.7, .parts.words = 9},
                                {.id = 5, .score = 8, .relevance = 0.6, .parts.words = 8}};
    struct index_found found = {.hits = words, .count = 3, .total = 3, .possible = 12};
    assert_int_equal(fuse_hits(arena, vectors, QUESTION, NULL, NULL, &found), OK);
    assert_int_equal(found.count, 5);
    assert_int_equal(found.total, 5);
    static const int64_t ORDER[] = {1, 5, 2, 3, 4};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(found.hits[i].id, ORDER[i]);
        assert_true(found.hits[i].relevance >= 0 && found.hits[i].relevance <= 1);
        assert_true(i == 0 || found.hits[i].relevance <= found.hits[i - 1].relevance);
        const struct index_parts *parts = &found.hits[i].parts;
        assert_true(fabs(parts->words + parts->meaning - found.hits[i].score) < 1e-9);
        assert_int_equal(isnan(parts->cosine), ORDER[i] == 5);
    }
    vectors_free(vectors);
    arena_free(arena);
}

/* Words that hold little of a question do not keep back what is near to it; where they hold much,
 * they do. A key that was asked for comes before both. */
static void test_words_count_as_they_hold(void **unused)
{
    (void)unused;
    struct arena *arena = arena_new(MIB(1));
    struct vectors *vectors = vectors_new();
    unsigned char packed[VECTORS_PACKED(4)];
    static const float NUMBERS[3][4] = {{0, 1}, {1}, {0, 0, 1}};
    static const float QUESTION[4] = {1};
    for (int64_t id = 1; id <= 3; id++) {
        vectors_pack(NUMBERS[id - 1], 4, packed);
        assert_int_equal(vectors_put(vectors, id, 0, packed, sizeof packed, 4), OK);
    }
    static const struct {
        double possible;
        enum index_precedence precedence;
        int64_t first;
    } CASES[] = {{12, INDEX_RANKED, 1}, {100, INDEX_RANKED, 2}, {100, INDEX_KEY, 1}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct index_hit words[] = {
            {.id = 1, .score = 10, .relevance = 1, .precedence = CASES[i].precedence}};
        struct index_found found = {
            .hits = words, .count = 1, .total = 1, .possible = CASES[i].possible};
        assert_int_equal(fuse_hits(arena, vectors, QUESTION, NULL, NULL, &found), OK);
        assert_int_equal(found.hits[0].id, CASES[i].first);
        if (CASES[i].precedence == INDEX_KEY) {
            assert_true(found.hits[0].relevance >= 1);
        }
    }
    vectors_free(vectors);
    arena_free(arena);
}

UNIT_TEST(vectors)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_forms_give_the_same),
        cmocka_unit_test(test_finds_what_a_slow_search_finds),
        cmocka_unit_test(test_texts_that_changed_are_forgotten),
        cmocka_unit_test(test_what_is_no_vector_is_refused),
        cmocka_unit_test(test_very_many),
        cmocka_unit_test(test_both_sides_count),
        cmocka_unit_test(test_words_count_as_they_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
