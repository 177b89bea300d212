/* The heap of deadlines, compared with a plain search after each of many random changes. */
#include "core/status.h"
#include "server/deadlines.h"

#include "unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ENTRIES 300
#define CHANGES 20000

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

/* The earliest time of those that are in the heap; DEADLINE_NEVER for none. */
static int64_t search(const struct deadline *entries, const bool *added)
{
    int64_t earliest = DEADLINE_NEVER;
    for (size_t i = 0; i < ENTRIES; i++) {
        if (added[i] && entries[i].at < earliest) {
            earliest = entries[i].at;
        }
    }
    return earliest;
}

static void change(struct deadlines *deadlines, struct deadline *entry, bool *added, unsigned *seed)
{
    int64_t at = next_random(seed) % 1000;
    if (!*added) {
        entry->at = at;
        assert_int_equal(deadlines_add(deadlines, entry), OK);
        *added = true;
    } else if (next_random(seed) % 3) {
        deadlines_move(deadlines, entry, at);
        assert_int_equal(entry->at, at);
    } else {
        deadlines_remove(deadlines, entry);
        *added = false;
    }
}

static void test_the_earliest_comes_first(void **state)
{
    struct deadlines deadlines = {0};
    struct deadline entries[ENTRIES];
    bool added[ENTRIES] = {false};
    unsigned seed = 5;
    (void)state;
    memset(entries, 0, sizeof entries);
    assert_null(deadlines_first(&deadlines));
    for (size_t i = 0; i < CHANGES; i++) {
        size_t chosen = next_random(&seed) % ENTRIES;
        entries[chosen].owner = &added[chosen];
        change(&deadlines, &entries[chosen], &added[chosen], &seed);
        const struct deadline *first = deadlines_first(&deadlines);
        assert_int_equal(first ? first->at : DEADLINE_NEVER, search(entries, added));
        if (first) {
            assert_true(*(const bool *)first->owner);
        }
    }
    deadlines_done(&deadlines);
    assert_null(deadlines_first(&deadlines));
}

/* Taken out one after the other, they come in order. */
static void test_draining(void **state)
{
    struct deadlines deadlines = {0};
    struct deadline entries[ENTRIES];
    unsigned seed = 9;
    int64_t before = 0;
    (void)state;
    for (size_t i = 0; i < ENTRIES; i++) {
        entries[i] = (struct deadline){.at = next_random(&seed) % 100};
        assert_int_equal(deadlines_add(&deadlines, &entries[i]), OK);
    }
    for (size_t i = 0; i < ENTRIES; i++) {
        struct deadline *first = deadlines_first(&deadlines);
        assert_true(first->at >= before);
        before = first->at;
        deadlines_remove(&deadlines, first);
    }
    assert_null(deadlines_first(&deadlines));
    deadlines_done(&deadlines);
}

UNIT_TEST(deadlines)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_earliest_comes_first),
        cmocka_unit_test(test_draining),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
