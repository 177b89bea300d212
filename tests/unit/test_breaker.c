/* Circuit breakers, with a clock that the test moves. */
#include "unit.h"

#include "core/limits.h"
#include "guard/breaker.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic int64_t now;

static int64_t get_now(void)
{
    return now;
}

static struct breakers *new_breakers(void)
{
    now = 1000;
    struct breakers *breakers =
        breakers_new(NULL, "test", BREAKER_FAILURES, BREAKER_PAUSE_MS, get_now);
    assert_non_null(breakers);
    return breakers;
}

static void fail_times(struct breakers *breakers, const char *upstream, int times)
{
    for (int i = 0; i < times; i++) {
        assert_true(breaker_admit(breakers, upstream));
        breaker_report(breakers, upstream, BREAKER_FAILED);
    }
}

static void it_opens_after_five_failures_in_a_row(void **state)
{
    (void)state;
    struct breakers *breakers = new_breakers();
    fail_times(breakers, "a", 4);
    assert_true(breaker_admit(breakers, "a"));
    breaker_report(breakers, "a", BREAKER_ANSWERED); /* not in a row any more */
    fail_times(breakers, "a", 5);
    assert_false(breaker_admit(breakers, "a"));
    assert_int_equal(breaker_wait_ms(breakers, "a"), 30000);
    assert_true(breaker_admit(breakers, "b")); /* each for itself */
    breakers_free(breakers);
}

static void an_unknown_end_is_no_failure(void **state)
{
    (void)state;
    struct breakers *breakers = new_breakers();
    fail_times(breakers, "a", 4);
    for (int i = 0; i < 10; i++) {
        assert_true(breaker_admit(breakers, "a"));
        breaker_report(breakers, "a", BREAKER_UNKNOWN);
    }
    fail_times(breakers, "a", 1);
    assert_false(breaker_admit(breakers, "a"));
    breakers_free(breakers);
}

static void it_half_opens_for_one(void **state)
{
    (void)state;
    struct breakers *breakers = new_breakers();
    fail_times(breakers, "a", 5);
    now += 29999;
    assert_false(breaker_admit(breakers, "a"));
    now += 1;
    assert_int_equal(breaker_wait_ms(breakers, "a"), 0);
    assert_true(breaker_admit(breakers, "a"));
    assert_false(breaker_admit(breakers, "a")); /* somebody is at it */
    breaker_report(breakers, "a", BREAKER_FAILED);
    assert_false(breaker_admit(breakers, "a")); /* another pause after a single failure */
    now += 30000;
    assert_true(breaker_admit(breakers, "a"));
    breaker_report(breakers, "a", BREAKER_UNKNOWN);
    assert_true(breaker_admit(breakers, "a")); /* the next one may try */
    breaker_report(breakers, "a", BREAKER_ANSWERED);
    fail_times(breakers, "a", 4); /* closed again, and counting from none */
    assert_true(breaker_admit(breakers, "a"));
    breakers_free(breakers);
}

static void it_rests_for_as_long_as_it_is_told(void **state)
{
    (void)state;
    struct breakers *breakers = new_breakers();
    assert_true(breaker_admit(breakers, "a"));
    breaker_report(breakers, "a", BREAKER_FAILED); /* one failure alone is none to rest for */
    breaker_rest(breakers, "a", 180000);
    assert_false(breaker_admit(breakers, "a"));
    assert_int_equal(breaker_wait_ms(breakers, "a"), 180000);
    breaker_rest(breakers, "a", 5000); /* a shorter one does not end the longer one */
    assert_int_equal(breaker_wait_ms(breakers, "a"), 180000);
    assert_true(breaker_admit(breakers, "b"));
    now += 180000;
    assert_true(breaker_admit(breakers, "a"));
    assert_false(breaker_admit(breakers, "a")); /* one at a time */
    breaker_report(breakers, "a", BREAKER_FAILED);
    breaker_rest(breakers, "a", 3600000);
    assert_int_equal(breaker_wait_ms(breakers, "a"), 3600000);
    now += 3600000;
    assert_true(breaker_admit(breakers, "a"));
    breaker_report(breakers, "a", BREAKER_ANSWERED);
    assert_true(breaker_admit(breakers, "a"));
    assert_true(breaker_admit(breakers, "a"));
    breakers_free(breakers);
}

static void there_is_a_ceiling(void **state)
{
    (void)state;
    struct breakers *breakers = new_breakers();
    char name[32];
    for (int i = 0; i < LIMIT_BREAKERS; i++) {
        snprintf(name, sizeof name, "upstream %d", i);
        fail_times(breakers, name, 5);
    }
    fail_times(breakers, "one too many", 20); /* never opens, and never fails */
    assert_false(breaker_admit(breakers, "upstream 0"));
    breakers_free(breakers);
    assert_null(breakers_free(NULL));
}

/* ---- threads ---- */

struct crowd {
    struct breakers *breakers;
    _Atomic int admitted;
};

static void *ask(void *context)
{
    struct crowd *crowd = context;
    if (breaker_admit(crowd->breakers, "a")) {
        crowd->admitted++;
    }
    return NULL;
}

static void of_many_at_once_one_tries(void **state)
{
    (void)state;
    struct crowd crowd = {.breakers = new_breakers()};
    pthread_t threads[16];
    fail_times(crowd.breakers, "a", 5);
    now += 30000;
    for (size_t i = 0; i < COUNT(threads); i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &crowd), 0);
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(crowd.admitted, 1);
    breakers_free(crowd.breakers);
}

UNIT_TEST(breaker)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_opens_after_five_failures_in_a_row),
        cmocka_unit_test(an_unknown_end_is_no_failure),
        cmocka_unit_test(it_half_opens_for_one),
        cmocka_unit_test(it_rests_for_as_long_as_it_is_told),
        cmocka_unit_test(there_is_a_ceiling),
        cmocka_unit_test(of_many_at_once_one_tries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
