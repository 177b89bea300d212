/* Buckets of times, quantiles of them, and the sums that are stored. */
#include "ops/tallies.h"

#include "core/status.h"
#include "text/packed.h"

#include "unit.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void buckets_grow_with_time(void **state)
{
    (void)state;
    int last = 0;
    for (int64_t took = 1; took < INT64_C(4000000000000); took += took / 3 + 1) {
        int bucket = tally_bucket(took);
        assert_true(bucket >= last && bucket < TALLY_BUCKETS);
        last = bucket;
    }
    assert_int_equal(tally_bucket(0), 0);
    assert_int_equal(tally_bucket(99), 0);
    assert_int_equal(tally_bucket(100), 1);
    assert_int_equal(tally_bucket(INT64_MAX), TALLY_BUCKETS - 1);
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* The same numbers in every run, from 0 to 1. */
static double chance_of(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*seed >> 33) / (double)(UINT64_C(1) << 31);
}

static void quantiles_are_within_five_percent(void **state)
{
    uint64_t seed = 7;
    (void)state;
    static int64_t times[5000];
    size_t count = sizeof times / sizeof *times;
    for (int round = 0; round < 50; round++) {
        int64_t counts[TALLY_BUCKETS] = {0};
        double middle = 3 + round % 5, spread = 0.2 + round / 50.0;
        for (size_t i = 0; i < count; i++) {
            double chance = 0;
            for (int j = 0; j < 12; j++) {
                chance += chance_of(&seed);
            }
            times[i] = (int64_t)(1000 * exp(middle + spread * (chance - 6)));
            counts[tally_bucket(times[i])]++;
        }
        qsort(times, count, sizeof *times, compare);
        const double SHARES[] = {0.05, 0.5, 0.95};
        for (size_t i = 0; i < sizeof SHARES / sizeof *SHARES; i++) {
            double exact = (double)times[(size_t)(SHARES[i] * (double)count)];
            double told = (double)tally_quantile_us(counts, SHARES[i]);
            assert_true(fabs(told - exact) <= 0.05 * exact);
        }
    }
    int64_t none[TALLY_BUCKETS] = {0};
    assert_int_equal(tally_quantile_us(none, 0.5), 0);
}

static void texts_are_packed_and_unpacked(void **state)
{
    (void)state;
    struct arena *arena = arena_new(1 << 22);
    char *text = arena_alloc(arena, 100001);
    size_t size, length;
    for (size_t i = 0; i < 100000; i++) {
        text[i] = (char)('a' + i % 7);
    }
    const void *packed = packed_text(arena, text, 100000, &size);
    assert_non_null(packed);
    assert_true(size < 2000);
    const char *again = unpacked_text(arena, packed, size, 100000, &length);
    assert_non_null(again);
    assert_int_equal(length, 100000);
    assert_memory_equal(again, text, 100000);
    assert_null(unpacked_text(arena, packed, size, 99999, &length)); /* longer than it may be */
    assert_null(unpacked_text(arena, packed, size - 1, 100000, &length));
    assert_null(unpacked_text(arena, packed, 3, 100000, &length));
    assert_non_null(unpacked_text(arena, packed_text(arena, "", 0, &size), size, 10, &length));
    arena_free(arena);
}

UNIT_TEST(tallies)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_grow_with_time),
        cmocka_unit_test(quantiles_are_within_five_percent),
        cmocka_unit_test(texts_are_packed_and_unpacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
