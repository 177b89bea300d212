/* Experiments by their functions: statistics against numbers of SciPy and of Newcombe's paper, who
 * gets which arm, and when a search words another anew. */
#include "unit.h"

#include "core/arena.h"
#include "core/limits.h"
#include "embedded.h"
#include "experiment/assign.h"
#include "experiment/recent.h"
#include "experiment/stats.h"
#include "registry/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLOSE 1e-9

/* cmocka's own comparison is for floats. */
static void assert_close(double ours, double theirs)
{
    if (!(fabs(ours - theirs) <= CLOSE * (1 + fabs(theirs)))) {
        fail_msg("%.17g is not %.17g", ours, theirs);
    }
}

/* ---- statistics ---- */

static const double ONE[] = {812, 640, 1203, 977, 702, 655, 1500, 803, 911, 760};
static const double OTHER[] = {500, 720, 480, 1900, 610, 555, 590, 640, 470, 830, 515};

static struct stats_sample sample_of(const double *values, size_t count)
{
    struct stats_sample sample = {0};
    for (size_t i = 0; i < count; i++) {
        stats_add(&sample, values[i]);
    }
    return sample;
}

static void assert_estimate(struct stats_estimate ours, double value, double low, double high)
{
    assert_close(ours.value, value);
    assert_close(ours.low, low);
    assert_close(ours.high, high);
}

static void means_are_those_of_scipy(void **state)
{
    (void)state;
    struct stats_sample one = sample_of(ONE, COUNT(ONE));
    struct stats_sample other = sample_of(OTHER, COUNT(OTHER));
    assert_estimate(stats_mean(&one, 0.05), 896.3, 702.3891424123989, 1090.210857587601);
    assert_estimate(stats_difference(&one, &other, 0.05), -186.3, -502.7667037766204,
                    130.16670377662047);
    assert_estimate(stats_difference(&one, &other, 0.025), -186.3, -554.8098327118196,
                    182.20983271182007);
    /* One degree of freedom, and very many. */
    struct stats_sample two = sample_of(ONE, 2), many = {0};
    for (int i = 0; i < 20001; i++) {
        stats_add(&many, i % 7);
    }
    assert_estimate(stats_mean(&two, 0.05), 726, -366.7336073331603, 1818.7336073331603);
    assert_estimate(stats_mean(&many, 0.05), 2.999750012499375, 2.9720293924945747,
                    3.0274706325041754);
    /* What does not vary is known; what is one or nothing, is not. */
    static const double STILL[] = {4, 4, 4};
    struct stats_sample still = sample_of(STILL, 3);
    assert_estimate(stats_mean(&still, 0.05), 4, 4, 4);
    assert_estimate(stats_difference(&still, &still, 0.05), 0, 0, 0);
    struct stats_sample single = sample_of(STILL, 1);
    struct stats_sample none = {0};
    assert_true(isnan(stats_mean(&single, 0.05).low) && stats_mean(&single, 0.05).value == 4);
    assert_true(isnan(stats_mean(&none, 0.05).value));
    assert_true(isnan(stats_difference(&one, &single, 0.05).low));
    assert_true(isnan(stats_difference(&one, &none, 0.05).value));
}

static struct stats_sample rate_of(size_t happened, size_t all)
{
    struct stats_sample sample = {0};
    for (size_t i = 0; i < all; i++) {
        stats_add(&sample, i < happened);
    }
    return sample;
}

static void rates_are_those_of_wilson_and_newcombe(void **state)
{
    (void)state;
    static const struct {
        size_t happened, all;
        double low, high;
    } CASES[] = {
        {0, 10, 0, 0.27753279986288926},
        {3, 10, 0.10779126740630102, 0.6032218525388546},
        {10, 10, 0.7224672001371109, 1},
        {17, 40, 0.28509392559950375, 0.5780493145800892},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct stats_sample rate = rate_of(CASES[i].happened, CASES[i].all);
        assert_estimate(stats_rate(&rate, 0.05), (double)CASES[i].happened / (double)CASES[i].all,
                        CASES[i].low, CASES[i].high);
    }
    /* 56/70 less 48/80: the first example of his paper, 0.0524 to 0.3339. */
    struct stats_sample one = rate_of(48, 80);
    struct stats_sample other = rate_of(56, 70);
    assert_estimate(stats_rate_difference(&one, &other, 0.05), 0.2, 0.05243147240236484,
                    0.3338726540369059);
}

/* ---- who gets which arm ---- */

static struct assigned assigned_to(const char *salt, double share, size_t arms, size_t number)
{
    char unit[32];
    struct assigned assigned;
    snprintf(unit, sizeof unit, "unit-%zu", number);
    assign_unit(salt, share, arms, unit, strlen(unit), &assigned);
    return assigned;
}

#define UNITS_TRIED 20000

/* Whether so many of all are what chance would give: within five standard deviations. */
static void assert_share(size_t count, size_t all, double share)
{
    double off = fabs((double)count - share * (double)all);
    assert_true(off <= 5 * sqrt(share * (1 - share) * (double)all));
}

static void arms_are_balanced(void **state)
{
    (void)state;
    for (size_t arms = 2; arms <= LIMIT_EXPERIMENT_ARMS; arms++) {
        size_t counts[LIMIT_EXPERIMENT_ARMS] = {0};
        for (size_t i = 0; i < UNITS_TRIED; i++) {
            struct assigned assigned = assigned_to("salt", 1, arms, i);
            assert_true(assigned.takes_part && assigned.arm < arms);
            counts[assigned.arm]++;
        }
        for (size_t i = 0; i < arms; i++) {
            assert_share(counts[i], UNITS_TRIED, 1.0 / (double)arms);
        }
    }
}

/* The share says who takes part and nothing else: whoever does keeps its arm when it grows. */
static void a_share_takes_part_and_keeps_its_arms(void **state)
{
    (void)state;
    static const double SHARES[] = {0.01, 0.3, 0.7, 1};
    for (size_t s = 0; s < COUNT(SHARES); s++) {
        size_t count = 0, second = 0;
        for (size_t i = 0; i < UNITS_TRIED; i++) {
            struct assigned small = assigned_to("salt", SHARES[s], 2, i);
            struct assigned all = assigned_to("salt", 1, 2, i);
            assert_int_equal(small.arm, all.arm);
            assert_string_equal(small.unit, all.unit);
            count += small.takes_part;
            second += small.takes_part && small.arm == 1;
            struct assigned larger = assigned_to("salt", SHARES[s] / 2, 2, i);
            assert_true(!larger.takes_part || small.takes_part);
        }
        assert_share(count, UNITS_TRIED, SHARES[s]);
        assert_share(second, count, 0.5);
    }
}

/* Under another salt, who was in an arm before tells nothing of where it is now. */
static void salts_are_independent(void **state)
{
    (void)state;
    size_t together = 0;
    for (size_t i = 0; i < UNITS_TRIED; i++) {
        struct assigned one = assigned_to("one", 1, 2, i);
        struct assigned other = assigned_to("other", 1, 2, i);
        together += one.arm == other.arm;
        assert_string_not_equal(one.unit, other.unit);
    }
    assert_share(together, UNITS_TRIED, 0.5);
}

/* ---- words ---- */

static bool asked(struct recent *recent, const char *unit, const char *text, int64_t at_ms)
{
    struct recent_query query = {.count = 0};
    assert_int_equal(recent_add_words(recent, &query, text), OK);
    return recent_take(recent, unit, &query, at_ms);
}

static void a_search_that_words_the_last_one_anew(void **state)
{
    (void)state;
    struct recent *recent = recent_new();
    assert_non_null(recent);
    assert_false(asked(recent, "u", "sqlite write ahead log", 0));
    assert_false(asked(recent, "u", "SQLite: write-ahead logs!", 1)); /* the same words */
    assert_true(asked(recent, "u", "sqlite log checkpoint", 2));
    assert_false(asked(recent, "v", "sqlite log", 3)); /* somebody else */
    assert_false(asked(recent, "u", "bread with seeds", 4));
    assert_false(asked(recent, "u", "how is the weather with seeds of doubt today", 5));
    assert_true(asked(recent, "u", "weather today in Lyon", TIME_EXPERIMENT_RECENT_MS + 5));
    assert_false(asked(recent, "u", "weather Lyon", 2 * TIME_EXPERIMENT_RECENT_MS + 6));
    assert_false(asked(recent, "w", "東京の天気", 0));
    assert_true(asked(recent, "w", "東京の天気予報", 1));
    recent_free(recent);
}

/* ---- files ---- */

/* It promises no check that does not happen. */
static void the_schema_of_files_is_sound(void **state)
{
    (void)state;
    char problem[256] = "";
    struct arena *arena = arena_new(MIB(1));
    yyjson_doc *schema = json_embedded(arena, experiment_file);
    if (schema_check(yyjson_doc_get_root(schema), problem, sizeof problem) != OK) {
        fail_msg("%s", problem);
    }
    arena_free(arena);
}

UNIT_TEST(experiment)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_those_of_scipy),
        cmocka_unit_test(rates_are_those_of_wilson_and_newcombe),
        cmocka_unit_test(arms_are_balanced),
        cmocka_unit_test(a_share_takes_part_and_keeps_its_arms),
        cmocka_unit_test(salts_are_independent),
        cmocka_unit_test(a_search_that_words_the_last_one_anew),
        cmocka_unit_test(the_schema_of_files_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
