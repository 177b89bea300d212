/* The call and the pool: waiting, deadlines, cancellation, errors, and who gets a thread. */
#include "unit.h"

#include "call/call.h"
#include "call/errors.h"
#include "call/pool.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct call *make(int64_t timeout_ms)
{
    struct call *call = call_new(&(struct call_options){.timeout_ms = timeout_ms});
    assert_non_null(call);
    return call;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static void *cancel_soon(void *call)
{
    pause_ms(30);
    call_cancel(call);
    return NULL;
}

static void a_wait_ends_by_cancellation(void **state)
{
    (void)state;
    struct call *call = make(0);
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_soon, call);
    assert_int_equal(call_sleep(call, 60000), ERR_CANCELLED);
    pthread_join(thread, NULL);
    assert_true(call_cancelled(call));
    assert_int_equal(call_check(call), ERR_CANCELLED);
    assert_int_equal(call_sleep(call, 60000), ERR_CANCELLED); /* and every later one */
    call_free(call);
}

static void a_call_cancelled_before_its_wait_does_not_wait(void **state)
{
    (void)state;
    struct call *call = make(0);
    call_cancel(call);
    struct pollfd watched = {.fd = call_cancel_fd(call), .events = POLLIN};
    assert_int_equal(poll(&watched, 1, 0), 1);
    assert_int_equal(call_sleep(call, 60000), ERR_CANCELLED);
    call_free(call);
}

static void a_wait_ends_by_deadline(void **state)
{
    (void)state;
    struct call *call = make(30);
    assert_int_equal(call_sleep(call, 60000), ERR_DEADLINE);
    assert_int_equal(call_time_left_ms(call), 0);
    assert_int_equal(call_check(call), ERR_DEADLINE);
    call_free(call);
}

static void a_deadline_only_shrinks(void **state)
{
    (void)state;
    struct call *call = make(0);
    assert_true(call_time_left_ms(call) == INT64_MAX);
    call_limit_time(call, 5000);
    call_limit_time(call, 90000);
    assert_true(call_time_left_ms(call) <= 5000);
    call_free(call);
}

static void a_wait_ends_by_a_descriptor_or_its_own_time(void **state)
{
    (void)state;
    struct call *call = make(60000);
    int event = event_open();
    struct pollfd watched = {.fd = event, .events = POLLIN};
    assert_int_equal(call_wait(call, &watched, 1, 10), 0);
    event_signal(event);
    assert_int_equal(call_wait(call, &watched, 1, 60000), 1);
    assert_true(watched.revents & POLLIN);
    event_clear(event);
    assert_int_equal(call_wait(call, &watched, 1, 0), 0);
    assert_int_equal(event_close(event), -1);
    assert_int_equal(call_sleep(call, 5), 0);
    call_free(call);
}

static void the_first_error_stays(void **state)
{
    (void)state;
    struct call *call = make(0);
    assert_null(call_error(call));
    assert_int_equal(call_fail(call, CODE_PROVIDER, "first %d", 1), ERR_FAILED);
    assert_int_equal(call_fail(call, CODE_INTERNAL, "second"), ERR_FAILED);
    assert_string_equal(call_error(call)->code, "PROVIDER");
    assert_string_equal(call_error(call)->message, "first 1");
    call_fail_details(call, "{\"a\":1}");
    call_fail_retry_after(call, 7);
    assert_string_equal(call_error(call)->details, "{\"a\":1}");
    assert_int_equal(call_error(call)->retry_after_s, 7);
    call_free(call);
}

static void a_status_becomes_an_error(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *code;
        int http;
    } CASES[] = {
        {ERR_CANCELLED, "CANCELLED", 499}, {ERR_DEADLINE, "TIMEOUT", 504},
        {ERR_BUSY, "BUSY", 503},           {ERR_NOMEM, "INTERNAL", 500},
        {ERR_LIMIT, "TOO_LARGE", 413},     {ERR_IO, "INTERNAL", 500},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct call *call = make(0);
        assert_int_equal(call_fail_status(call, CASES[i].status), ERR_FAILED);
        assert_string_equal(call_error(call)->code, CASES[i].code);
        assert_int_equal(error_http_status(CASES[i].code), CASES[i].http);
        call_free(call);
    }
    struct call *call = make(0);
    assert_int_equal(call_fail_status(call, OK), OK);
    assert_int_equal(call_fail_status(call, ERR_NEED_INPUT), ERR_NEED_INPUT);
    assert_null(call_error(call));
    assert_int_equal(error_http_status("UNHEARD_OF"), 500);
    assert_int_equal(error_http_status(CODE_RATE_LIMIT), 429);
    assert_int_equal(error_http_status(CODE_VALIDATION), 400);
    call_free(call);
}

static void a_call_without_hooks_speaks_to_nobody(void **state)
{
    (void)state;
    struct call *call = make(0);
    const char *response;
    call_progress(call, 1, 2, "x");
    call_log(call, "info", "x");
    assert_int_equal(call_ask(call, "k", "elicitation/create", "{}", &response), ERR_UNSUPPORTED);
    assert_int_equal(call_keep_state(call, "s"), ERR_UNSUPPORTED);
    assert_null(call_resume_state(call));
    assert_false(call_has_capability(call, "sampling"));
    assert_int_equal(strlen(call_request_id(call)), 16);
    call_free(call);
}

/* ---- the pool ---- */

struct gate_job {
    atomic_int running;
    int release; /* an event */
};

static void wait_for_release(void *context)
{
    struct gate_job *job = context;
    atomic_fetch_add(&job->running, 1);
    poll(&(struct pollfd){.fd = job->release, .events = POLLIN}, 1, -1);
    atomic_fetch_sub(&job->running, 1);
}

static void wait_until_running(struct pool *pool, size_t wanted)
{
    while (pool_running(pool) != wanted) {
        pause_ms(1);
    }
}

static void the_pool_says_busy_and_never_queues(void **state)
{
    (void)state;
    struct gate_job job = {.release = event_open()};
    struct pool *pool = pool_new(NULL, &(struct stock_rule){.name = "threads", .all = 3});
    struct call *call = make(0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pool_run(pool, call, false, wait_for_release, &job), OK);
    }
    assert_int_equal(pool_run(pool, call, false, wait_for_release, &job), ERR_BUSY);
    assert_int_equal(pool_running(pool), 3);
    event_signal(job.release);
    wait_until_running(pool, 0);
    for (int i = 0; i < 1000; i++) { /* idle threads are used again */
        while (pool_run(pool, call, false, wait_for_release, &job) != OK) {
            pause_ms(1);
        }
    }
    assert_null(pool_free(pool));
    assert_int_equal(job.running, 0);
    event_close(job.release);
    call_free(call);
}

static void sleep_in_call(void *context)
{
    (void)!call_sleep(context, 60000); /* until the pool cancels it */
}

static void the_pool_can_cancel_everything(void **state)
{
    (void)state;
    struct pool *pool = pool_new(NULL, &(struct stock_rule){.name = "threads", .all = 8});
    struct call *calls[8];
    for (size_t i = 0; i < COUNT(calls); i++) {
        calls[i] = make(0);
        assert_int_equal(pool_run(pool, calls[i], false, sleep_in_call, calls[i]), OK);
    }
    pool_cancel_all(pool);
    wait_until_running(pool, 0);
    pool_free(pool);
    for (size_t i = 0; i < COUNT(calls); i++) {
        assert_true(call_cancelled(calls[i]));
        call_free(calls[i]);
    }
}

static void note_rest(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

static void note_job(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

/* While a thread still waits for jobs, the pool is not at rest; a job that runs for long does not
 * keep it from resting. */
static void the_last_idle_thread_gives_back(void **state)
{
    (void)state;
    struct gate_job job = {.release = event_open()};
    struct pool *pool = pool_new(NULL, &(struct stock_rule){.name = "threads", .all = 8});
    atomic_int rests = 0;
    atomic_int jobs = 0;
    struct call *call = make(0);
    pool_at_rest(pool, 20, note_rest, &rests);
    assert_int_equal(pool_run(pool, call, false, wait_for_release, &job), OK);
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < 7; i++) {
            assert_int_equal(pool_run(pool, call, false, note_job, &jobs), OK);
        }
        while (atomic_load(&rests) == 0) {
            pause_ms(1);
        }
        wait_until_running(pool, 1);
        assert_int_equal(atomic_load(&jobs), 7 * round);
        atomic_store(&rests, 0);
    }
    event_signal(job.release);
    assert_null(pool_free(pool)); /* closing it does not count as a rest */
    event_close(job.release);
    call_free(call);
}

UNIT_TEST(call)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_ends_by_cancellation),
        cmocka_unit_test(a_call_cancelled_before_its_wait_does_not_wait),
        cmocka_unit_test(a_wait_ends_by_deadline),
        cmocka_unit_test(a_deadline_only_shrinks),
        cmocka_unit_test(a_wait_ends_by_a_descriptor_or_its_own_time),
        cmocka_unit_test(the_first_error_stays),
        cmocka_unit_test(a_status_becomes_an_error),
        cmocka_unit_test(a_call_without_hooks_speaks_to_nobody),
        cmocka_unit_test(the_pool_says_busy_and_never_queues),
        cmocka_unit_test(the_pool_can_cancel_everything),
        cmocka_unit_test(the_last_idle_thread_gives_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
