/* When the next request to a source may go out: tables of cases, and random schedules against a
 * slow and obvious model of windows that slide. */
#include "unit.h"

#include "core/limits.h"
#include "guard/pace.h"

#include <stdio.h>
#include <stdlib.h>

#define STEPS 200

/* Numbers that are the same in every run. */
static int64_t any(int64_t below)
{
    static uint64_t state = 7;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(state >> 33) % below;
}

static void spans_have_a_margin(void **state)
{
    (void)state;
    static const struct {
        int64_t window_ms, span_ms;
    } CASES[] = {
        {10, 260}, {1000, 1250}, {3000, 3300}, {5000, 5500}, {60000, 61000}, {86400000, 86401000},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        assert_int_equal(pace_span_ms(CASES[i].window_ms), CASES[i].span_ms);
    }
}

static void windows_end_at_the_first_without_calls(void **state)
{
    (void)state;
    const struct pace pace = {.windows = {{2, 1000}, {0, 0}, {7, 60000}}};
    const struct pace many = {.windows = {{1, 1000}, {20, 60000}, {5000, 3600000}}};
    assert_int_equal(pace_calls(&pace, 0), 2);
    assert_int_equal(pace_calls(&pace, 1), 0);
    assert_int_equal(pace_calls(&pace, 2), 0);
    assert_int_equal(pace_calls(&many, 2), LIMIT_PACE_CALLS);
    assert_int_equal(pace_calls(&many, 3), 0);
    assert_int_equal(pace_memory_ms(&pace), 1250);
    assert_int_equal(pace_memory_ms(&many), 3601000);
    assert_int_equal(pace_memory_ms(&(struct pace){0}), 0);
}

#define NEVER PACE_NEVER

static void a_claim_is_decided_by_the_past(void **state)
{
    (void)state;
    static const struct pace PACE = {.windows = {{1, 1000}, {3, 60000}}, .at_once = 2};
    static const struct {
        const char *name;
        struct pace_past past;
        int64_t patience_ms, ahead_ms;
        enum pace_answer answer;
        int64_t wait_ms;
        bool probe;
    } CASES[] = {
        {"the first", {.last_ms = NEVER, .nth_ms = {NEVER, NEVER}}, 0, 0, PACE_GRANTED, 0, false},
        {"not before it can",
         {.last_ms = NEVER, .nth_ms = {NEVER, NEVER}},
         500,
         300,
         PACE_GRANTED,
         300,
         false},
        {"cannot wait for that",
         {.last_ms = NEVER, .nth_ms = {NEVER, NEVER}},
         200,
         300,
         PACE_LATER,
         300,
         false},
        {"after another",
         {.last_ms = 99500, .nth_ms = {99500, NEVER}},
         750,
         0,
         PACE_GRANTED,
         750,
         false},
        {"not patient enough",
         {.last_ms = 99500, .nth_ms = {99500, NEVER}},
         749,
         0,
         PACE_LATER,
         750,
         false},
        {"long ago", {.last_ms = 98750, .nth_ms = {98750, NEVER}}, 0, 0, PACE_GRANTED, 0, false},
        {"behind one to come",
         {.last_ms = 103000, .nth_ms = {103000, NEVER}},
         9000,
         0,
         PACE_GRANTED,
         4250,
         false},
        {"the longer window",
         {.last_ms = 95000, .nth_ms = {95000, 50000}},
         60000,
         0,
         PACE_GRANTED,
         11000,
         false},
        {"too many at once",
         {.last_ms = 90000, .nth_ms = {90000, NEVER}, .running = 2},
         60000,
         0,
         PACE_FULL,
         0,
         false},
        {"one place left",
         {.last_ms = 90000, .nth_ms = {90000, NEVER}, .running = 1},
         0,
         0,
         PACE_GRANTED,
         0,
         false},
        {"rests",
         {.last_ms = NEVER, .nth_ms = {NEVER, NEVER}, .rested = true, .rests_until_ms = 107000},
         60000,
         0,
         PACE_RESTS,
         7000,
         false},
        {"has rested",
         {.last_ms = NEVER, .nth_ms = {NEVER, NEVER}, .rested = true, .rests_until_ms = 100000},
         0,
         0,
         PACE_GRANTED,
         0,
         true},
        {"rested, but busy",
         {.last_ms = 99500, .nth_ms = {99500, NEVER}, .rested = true, .rests_until_ms = 1},
         0,
         0,
         PACE_LATER,
         750,
         false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct pace_claim claim = {
            .pace = &PACE, .patience_ms = CASES[i].patience_ms, .ahead_ms = CASES[i].ahead_ms};
        pace_decide(&claim, &CASES[i].past, 100000);
        if (claim.answer != CASES[i].answer || claim.wait_ms != CASES[i].wait_ms ||
            claim.probe != CASES[i].probe) {
            fail_msg("%s: %d after %lld ms", CASES[i].name, (int)claim.answer,
                     (long long)claim.wait_ms);
        }
    }
}

/* ---- random schedules ---- */

struct schedule {
    struct pace pace;
    size_t count;
    int64_t times[STEPS];
};

/* Whether at that time a further call is within every window, looking at each earlier one. */
static bool fits(const struct schedule *schedule, int64_t at)
{
    for (unsigned i = 0; i < PACE_WINDOWS && schedule->pace.windows[i].calls; i++) {
        unsigned calls = 0;
        for (size_t k = 0; k < schedule->count; k++) {
            calls += schedule->times[k] > at - pace_span_ms(schedule->pace.windows[i].window_ms);
        }
        if (calls >= schedule->pace.windows[i].calls) {
            return false;
        }
    }
    return true;
}

/* The earliest such time that is not before the last: now, or when some call leaves a window. */
static int64_t model_next(const struct schedule *schedule, int64_t now)
{
    int64_t last = schedule->count ? schedule->times[schedule->count - 1] : now;
    int64_t from = last > now ? last : now;
    int64_t best = fits(schedule, from) ? from : INT64_MAX;
    for (size_t k = 0; k < schedule->count; k++) {
        for (unsigned i = 0; i < PACE_WINDOWS && schedule->pace.windows[i].calls; i++) {
            int64_t at = schedule->times[k] + pace_span_ms(schedule->pace.windows[i].window_ms);
            best = at > from && at < best && fits(schedule, at) ? at : best;
        }
    }
    return best;
}

static struct pace_past past_of(const struct schedule *schedule)
{
    struct pace_past past = {.last_ms = PACE_NEVER};
    size_t count = schedule->count;
    past.last_ms = count ? schedule->times[count - 1] : PACE_NEVER;
    for (unsigned i = 0; i < PACE_WINDOWS; i++) {
        unsigned calls = pace_calls(&schedule->pace, i);
        past.nth_ms[i] = calls && calls <= count ? schedule->times[count - calls] : PACE_NEVER;
    }
    return past;
}

/* Whatever time up to the margin each request takes on its way, nobody who counts in windows that
 * slide sees one too many. */
static void check_at_the_source(const struct schedule *schedule)
{
    for (unsigned i = 0; i < PACE_WINDOWS && schedule->pace.windows[i].calls; i++) {
        int64_t window = schedule->pace.windows[i].window_ms;
        unsigned calls = schedule->pace.windows[i].calls;
        int64_t margin = pace_span_ms(window) - window;
        for (size_t k = calls; k < schedule->count; k++) {
            int64_t late = any(margin); /* the earlier one came late, this one at once */
            assert_true(schedule->times[k] - (schedule->times[k - calls] + late) > window);
        }
    }
}

static void random_schedules_are_those_of_the_model(void **state)
{
    (void)state;
    static struct schedule schedule;
    for (int round = 0; round < 40; round++) {
        schedule = (struct schedule){.pace.windows = {
                                         {1 + (unsigned)any(4), 200 + any(2000)},
                                         {5 + (unsigned)any(20), 5000 + any(30000)},
                                         {30 + (unsigned)any(50), 100000},
                                     }};
        int64_t now = 1000000;
        for (int step = 0; step < STEPS; step++) {
            struct pace_past past = past_of(&schedule);
            struct pace_claim claim = {.pace = &schedule.pace, .patience_ms = any(60000)};
            int64_t expected = model_next(&schedule, now);
            pace_decide(&claim, &past, now);
            assert_int_equal(now + claim.wait_ms, expected);
            assert_int_equal(claim.answer,
                             claim.wait_ms <= claim.patience_ms ? PACE_GRANTED : PACE_LATER);
            if (claim.answer == PACE_GRANTED) {
                schedule.times[schedule.count++] = expected;
            }
            if (schedule.count && any(9) == 0) {
                /* Somebody gave a time back, one of the last perhaps. */
                size_t which = schedule.count - 1 - (size_t)any(schedule.count < 3 ? 1 : 3);
                if (schedule.times[which] > now) {
                    for (size_t k = which + 1; k < schedule.count; k++) {
                        schedule.times[k - 1] = schedule.times[k];
                    }
                    schedule.count--;
                }
            }
            now += any(3) ? any(400) : any(8000);
        }
        assert_true(schedule.count > 20);
        check_at_the_source(&schedule);
    }
}

UNIT_TEST(pace)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_have_a_margin),
        cmocka_unit_test(windows_end_at_the_first_without_calls),
        cmocka_unit_test(a_claim_is_decided_by_the_past),
        cmocka_unit_test(random_schedules_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
