/* How words make a score: what must hold whatever the weights are. */
#include "index/score.h"
#include "unit.h"

#include <math.h>

static struct score_manner of_lengths(const int *lengths, size_t count)
{
    struct score_store store = {.texts = (double)count, .passages = (double)count};
    for (size_t i = 0; i < count; i++) {
        double logarithm = log(lengths[i]);
        store.words += lengths[i];
        store.log_sum += logarithm;
        store.log_square_sum += logarithm * logarithm;
    }
    return score_manner(&store);
}

static const int ALIKE[] = {20, 25, 30, 22, 28};
static const int MIXED[] = {5, 900, 8, 1200, 6};

static void weighs_words(void **state)
{
    (void)state;
    struct score_manner manner = of_lengths(ALIKE, COUNT(ALIKE));
    assert_true(score_weight(&manner, 1, false) > score_weight(&manner, 3, false));
    assert_true(score_weight(&manner, 1, false) > score_weight(&manner, 1, true));
    assert_true(score_weight(&manner, 5, true) > 0);
    assert_true(score_weight(&manner, 0, false) > score_weight(&manner, 1, false));
}

static void counts_repetition_less_and_less(void **state)
{
    (void)state;
    struct score_manner manner = of_lengths(ALIKE, COUNT(ALIKE));
    double slowness = score_slowness(&manner, 25, false);
    double once = score_word(1, 1, slowness);
    double twice = score_word(1, 2, slowness);
    assert_true(once > 0 && twice > once && twice < 2 * once && score_word(1, 1000, slowness) < 1);
    assert_true(score_word(1, 1, score_slowness(&manner, 50, false)) < once);
}

static void prefers_short_texts_where_lengths_are_mixed(void **state)
{
    (void)state;
    struct score_manner alike = of_lengths(ALIKE, COUNT(ALIKE));
    struct score_manner mixed = of_lengths(MIXED, COUNT(MIXED));
    assert_true(score_text(&alike, 1, 1, 1, 5) == score_text(&alike, 1, 1, 1, 900));
    assert_true(score_text(&mixed, 1, 1, 1, 5) > score_text(&mixed, 1, 1, 1, 900));
}

static void counts_what_a_text_holds_and_its_best_passage(void **state)
{
    (void)state;
    struct score_manner manner = of_lengths(ALIKE, COUNT(ALIKE));
    assert_true(score_text(&manner, 1, 1, 1, 25) > score_text(&manner, 1, 1, 0.5, 25));
    assert_true(score_text(&manner, 1, 2, 1, 25) > score_text(&manner, 1, 1, 1, 25));
}

static void estimates_relevance(void **state)
{
    (void)state;
    assert_true(score_relevance(1) > 0.95);
    assert_true(score_relevance(0.3) < 0.2);
    for (double share = 0; share < 1; share += 0.1) {
        assert_true(score_relevance(share) >= 0 && score_relevance(share + 0.1) <= 1);
        assert_true(score_relevance(share) < score_relevance(share + 0.1));
    }
    assert_true(score_joint_relevance(0.8, 0) > 0.95); /* a repetition, also one of two */
    assert_true(score_joint_relevance(0.2, 0.05) < 0.2);
    assert_true(score_joint_relevance(0.4, 0.1) > score_joint_relevance(0.4, -0.1));
}

static void bears_an_empty_store(void **state)
{
    (void)state;
    struct score_manner manner = score_manner(&(struct score_store){0});
    assert_true(isfinite(score_weight(&manner, 0, false)));
    assert_true(isfinite(score_text(&manner, 1, 1, 1, 0)));
    assert_true(isfinite(score_word(1, 1, score_slowness(&manner, 0, true))));
}

UNIT_TEST(score)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weighs_words),
        cmocka_unit_test(counts_repetition_less_and_less),
        cmocka_unit_test(prefers_short_texts_where_lengths_are_mixed),
        cmocka_unit_test(counts_what_a_text_holds_and_its_best_passage),
        cmocka_unit_test(estimates_relevance),
        cmocka_unit_test(bears_an_empty_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
