/* Libraries that are opened at run time, in a process that has no descriptor left. */
#include "core/library.h"
#include "core/limits.h"
#include "core/spare.h"
#include "db/postgres_api.h"
#include "net/curl_api.h"

#include "unit.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOST 64

static int taken[MOST];
static size_t count;

/* Opens whatever the limit has left. */
static void take_all(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) {
        assert_true(count < MOST);
        taken[count++] = fd;
    }
}

static void give_all(void)
{
    while (count) {
        close(taken[--count]);
    }
}

static int lower_limit(void **state)
{
    (void)state;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return -1;
    }
    limit.rlim_cur = MOST;
    return setrlimit(RLIMIT_NOFILE, &limit);
}

static void a_failure_is_not_remembered(void **state)
{
    (void)state;
    const char *problem = NULL;
    take_all();
    assert_null(curl_api_open(&problem));
    give_all();
    assert_non_null(strstr(problem, "descriptors"));
    assert_non_null(curl_api_open(&problem));
    assert_null(problem);
}

static void the_reserve_is_for_the_first_load(void **state)
{
    (void)state;
    const char *problem = NULL;
    spare_keep();
    take_all();
    const struct postgres_api *api = postgres_api_open(&problem);
    /* The reserve has been taken again: nothing is left for others. */
    int left = open("/dev/null", O_RDONLY | O_CLOEXEC);
    give_all();
    assert_non_null(api);
    assert_int_equal(left, -1);
    assert_null(problem);
}

static void the_reserve_is_lent_to_one_at_a_time(void **state)
{
    (void)state;
    take_all();
    spare_lend();
    int lent[LIMIT_SPARE_DESCRIPTORS];
    for (size_t i = 0; i < LIMIT_SPARE_DESCRIPTORS; i++) {
        lent[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_true(lent[i] >= 0);
    }
    assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), -1);
    spare_return();
    for (size_t i = 0; i < LIMIT_SPARE_DESCRIPTORS; i++) {
        close(lent[i]);
    }
    /* What was not there then is taken with the next occasion. */
    spare_lend();
    spare_return();
    assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), -1);
    give_all();
}

UNIT_TEST(library)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_is_not_remembered),
        cmocka_unit_test(the_reserve_is_for_the_first_load),
        cmocka_unit_test(the_reserve_is_lent_to_one_at_a_time),
    };
    return cmocka_run_group_tests_name("library", tests, lower_limit, NULL);
}
