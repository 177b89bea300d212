/* Turns at sources: when they come, who is next, what is given back, and what is left of it where
 * the store cannot be used. */
#include "unit.h"

#include "call/call.h"
#include "call/parts.h"
#include "core/clock.h"
#include "guard/pacer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define WINDOW_MS 100
#define SPAN_MS   350 /* with its margin */
#define LONG_MS   20000

static const struct pace ONE = {.windows = {{1, WINDOW_MS}}};
#define SLOW_SPAN_MS 2250
static const struct pace SLOW = {.windows = {{1, 2000}}};
static const struct pace PAIR = {.at_once = 2};

/* ---- a store that notes what it is told, and is slow or fails as it is told ---- */

static struct {
    int status;
    long slow_ms;
    enum pace_answer answer;
    int64_t wait_ms;
    atomic_int taken, ended, unused;
    int64_t last_ahead_ms;
    int64_t last_rest_ms;
} fake;

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static int fake_take(void *context, struct call *call, struct pace_claim *claim)
{
    (void)context;
    (void)call;
    fake.taken++;
    fake.last_ahead_ms = claim->ahead_ms;
    claim->decided_ms = clock_now_ms();
    claim->answer = fake.answer;
    claim->wait_ms = fake.wait_ms > claim->ahead_ms ? fake.wait_ms : claim->ahead_ms;
    if (claim->answer == PACE_GRANTED && claim->wait_ms > claim->patience_ms) {
        claim->answer = PACE_LATER;
    }
    pause_ms(fake.slow_ms);
    return fake.status;
}

static void fake_end(void *context, struct call *call, const struct pace_end *end)
{
    (void)context;
    (void)call;
    fake.ended++;
    fake.unused += end->unused;
    fake.last_rest_ms = end->rest_ms;
}

static const struct pace_store STORE = {.take = fake_take, .end = fake_end};
static const struct pace_store NO_STORE = {0};

/* ---- a program with a pacer ---- */

static struct parts parts;

static int open_pacer(const struct pace_store *store)
{
    memset(&fake, 0, sizeof fake);
    parts = (struct parts){.pacer = pacer_new(store)};
    return parts.pacer ? 0 : -1;
}

static int alone(void **state)
{
    (void)state;
    return open_pacer(&NO_STORE);
}

static int with_store(void **state)
{
    (void)state;
    return open_pacer(&STORE);
}

static int close_pacer(void **state)
{
    (void)state;
    parts.pacer = pacer_free(parts.pacer);
    return 0;
}

static struct call *new_call(const struct caller *caller, int64_t timeout_ms)
{
    struct call *call = call_new(
        &(struct call_options){.caller = caller, .parts = &parts, .timeout_ms = timeout_ms});
    assert_non_null(call);
    return call;
}

/* ---- turns ---- */

static void turns_are_a_window_apart(void **state)
{
    (void)state;
    struct call *call = new_call(NULL, 0);
    struct pace_turn turn;
    int64_t began = clock_now_ms();
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pace_take(call, "a", &ONE, LONG_MS, &turn), OK);
        pace_leave(&turn, 0);
    }
    assert_true(clock_now_ms() - began >= 3 * SPAN_MS);
    assert_int_equal(pace_take(call, "b", &ONE, 0, &turn), OK); /* each source for itself */
    pace_leave(&turn, 0);
    call_free(call);
}

static void who_cannot_wait_is_told_at_once(void **state)
{
    (void)state;
    static const struct pace HOURLY = {.windows = {{2, 3600000}}};
    struct call *call = new_call(NULL, 0);
    struct pace_turn turns[3];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pace_take(call, "a", &HOURLY, 0, &turns[i]), OK);
        pace_leave(&turns[i], 0);
    }
    int64_t began = clock_now_ms();
    assert_int_equal(pace_take(call, "a", &HOURLY, LONG_MS, &turns[2]), ERR_BUSY);
    assert_true(clock_now_ms() - began < LONG_MS);
    assert_false(turns[2].rests);
    assert_in_range(turns[2].wait_ms, 3590000, 3601000);
    call_free(call);
    call = new_call(NULL, 5000); /* the deadline counts like patience */
    assert_int_equal(pace_take(call, "a", &HOURLY, 2 * 3600000, &turns[2]), ERR_BUSY);
    assert_int_equal(call_check(call), OK);
    call_free(call);
}

static void so_many_at_once(void **state)
{
    (void)state;
    struct call *call = new_call(NULL, 0);
    struct pace_turn first, second, third;
    assert_int_equal(pace_take(call, "a", &PAIR, 0, &first), OK);
    assert_int_equal(pace_take(call, "a", &PAIR, 0, &second), OK);
    assert_int_equal(pace_take(call, "a", &PAIR, 60, &third), ERR_BUSY);
    pace_leave(&first, 0);
    assert_int_equal(pace_take(call, "a", &PAIR, 0, &third), OK);
    pace_leave(&second, PACE_UNKNOWN);
    pace_leave(&third, 0);
    call_free(call);
}

static void without_a_pacer_every_turn_comes(void **state)
{
    (void)state;
    struct call *call = call_new(&(struct call_options){0});
    struct pace_turn turn;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pace_take(call, "a", &ONE, 0, &turn), OK);
        pace_leave(&turn, 0);
    }
    call_free(call);
}

/* ---- rests ---- */

static void a_source_rests_and_one_tries_it(void **state)
{
    (void)state;
    static const struct pace FREE = {.at_once = 9};
    struct call *call = new_call(NULL, 0);
    struct pace_turn turn, other;
    assert_int_equal(pace_take(call, "a", &FREE, LONG_MS, &turn), OK);
    pace_leave(&turn, 1000);
    assert_int_equal(pace_take(call, "a", &FREE, LONG_MS, &turn), ERR_BUSY);
    assert_true(turn.rests);
    assert_in_range(turn.wait_ms, 1, 1000);
    pause_ms(1010);
    assert_int_equal(pace_take(call, "a", &FREE, 0, &turn), OK);
    assert_int_equal(pace_take(call, "a", &FREE, 0, &other), ERR_BUSY); /* somebody tries it */
    assert_true(other.rests);
    pace_leave(&turn, 0);
    assert_int_equal(pace_take(call, "a", &FREE, 0, &turn), OK);
    assert_int_equal(pace_take(call, "a", &FREE, 0, &other), OK);
    pace_leave(&turn, 0);
    pace_leave(&other, 0);
    call_free(call);
}

/* ---- the line ---- */

struct visitor {
    const struct pace *pace; /* NULL: ONE */
    struct call *call;
    pthread_t thread;
    int status;
    int place; /* in which it was served */
};

static atomic_int served;

static void *visit(void *context)
{
    struct visitor *visitor = context;
    struct pace_turn turn;
    const struct pace *pace = visitor->pace ? visitor->pace : &ONE;
    visitor->status = pace_take(visitor->call, "a", pace, LONG_MS, &turn);
    if (visitor->status == OK) {
        visitor->place = ++served;
        pace_leave(&turn, 0);
    }
    return NULL;
}

static void start(struct visitor *visitor, const struct caller *caller)
{
    visitor->call = new_call(caller, 0);
    assert_int_equal(pthread_create(&visitor->thread, NULL, visit, visitor), 0);
}

static void finish(struct visitor *visitor)
{
    pthread_join(visitor->thread, NULL);
    call_free(visitor->call);
}

static void many_calls_of_one_caller_keep_nobody_waiting(void **state)
{
    (void)state;
    static const struct caller ALICE = {.name = "alice"}, BOB = {.name = "bob"};
    struct visitor alice[12] = {0}, bob[2] = {0};
    served = 0;
    for (size_t i = 0; i < COUNT(alice); i++) {
        start(&alice[i], &ALICE);
    }
    while (served == 0) {
        pause_ms(1);
    }
    pause_ms(50); /* all of hers wait, and one is served */
    start(&bob[0], &BOB);
    start(&bob[1], &BOB);
    for (size_t i = 0; i < COUNT(alice); i++) {
        finish(&alice[i]);
        assert_int_equal(alice[i].status, OK);
    }
    for (size_t i = 0; i < COUNT(bob); i++) {
        finish(&bob[i]);
        assert_int_equal(bob[i].status, OK);
        assert_in_range(bob[i].place, 2, 11); /* on a busy machine; behind all of hers: 13 and 14 */
    }
}

static void a_cancelled_call_gives_its_time_back(void **state)
{
    (void)state;
    struct call *call = new_call(NULL, 0);
    static const struct pace SLOWEST = {.windows = {{1, 6000}}};
    int64_t span_ms = pace_span_ms(6000); /* a busy machine may lose as much */
    struct visitor second = {.pace = &SLOWEST}, third = {.pace = &SLOWEST};
    struct pace_turn first;
    served = 0;
    int64_t began = clock_now_ms();
    assert_int_equal(pace_take(call, "a", &SLOWEST, 0, &first), OK);
    pace_leave(&first, 0);
    start(&second, NULL); /* has a time, and waits for it */
    pause_ms(20);
    start(&third, NULL); /* stands behind it */
    pause_ms(20);
    call_cancel(second.call);
    finish(&second);
    assert_int_equal(second.status, ERR_CANCELLED);
    finish(&third);
    assert_int_equal(third.status, OK);
    assert_in_range(clock_now_ms() - began, span_ms, 2 * span_ms - 1);
    call_free(call);
}

static void who_is_far_behind_knows_it_at_once(void **state)
{
    (void)state;
    struct visitor visitors[3] = {{.pace = &SLOW}, {.pace = &SLOW}, {.pace = &SLOW}};
    struct call *call = new_call(NULL, 0);
    struct pace_turn turn;
    served = 0;
    for (size_t i = 0; i < COUNT(visitors); i++) {
        start(&visitors[i], NULL);
    }
    while (served == 0) {
        pause_ms(1);
    }
    pause_ms(300); /* one is served, one has a time, one waits */
    assert_int_equal(pace_take(call, "a", &SLOW, 2 * SLOW_SPAN_MS, &turn), ERR_BUSY);
    assert_in_range(turn.wait_ms, 2 * SLOW_SPAN_MS + 1, 3 * SLOW_SPAN_MS);
    assert_true(served < 3);
    for (size_t i = 0; i < COUNT(visitors); i++) {
        call_cancel(visitors[i].call);
        finish(&visitors[i]);
    }
    call_free(call);
}

/* ---- the store ---- */

static void the_store_decides(void **state)
{
    (void)state;
    struct call *call = new_call(NULL, 0);
    struct pace_turn turn;
    fake.wait_ms = 80;
    int64_t began = clock_now_ms();
    assert_int_equal(pace_take(call, "a", &PAIR, LONG_MS, &turn), OK);
    assert_true(clock_now_ms() - began >= 80);
    pace_leave(&turn, 7000);
    assert_int_equal(fake.ended - fake.unused, 1);
    assert_int_equal(fake.last_rest_ms, 7000);
    fake.wait_ms = 0; /* somebody found that it answers again: what we remember does not count */
    assert_int_equal(pace_take(call, "a", &PAIR, LONG_MS, &turn), OK);
    pace_leave(&turn, 0);
    assert_int_equal(fake.ended - fake.unused, 2);
    fake.answer = PACE_RESTS;
    fake.wait_ms = 5000;
    assert_int_equal(pace_take(call, "a", &PAIR, LONG_MS, &turn), ERR_BUSY);
    assert_true(turn.rests);
    assert_int_equal(turn.wait_ms, 5000);
    call_free(call);
}

static void a_failing_store_leaves_the_count_to_the_process(void **state)
{
    (void)state;
    struct call *call = new_call(NULL, 0);
    struct pace_turn turn;
    assert_int_equal(pace_take(call, "a", &SLOW, LONG_MS, &turn), OK); /* by the store */
    pace_leave(&turn, 0);
    fake.status = ERR_IO;
    assert_int_equal(pace_take(call, "a", &SLOW, 0, &turn), ERR_BUSY); /* which is remembered */
    assert_in_range(turn.wait_ms, 1, SLOW_SPAN_MS);
    assert_int_equal(pace_take(call, "a", &SLOW, LONG_MS, &turn), OK);
    pace_leave(&turn, 60000);
    assert_int_equal(fake.last_rest_ms, 60000); /* told all the same */
    assert_int_equal(pace_take(call, "a", &SLOW, LONG_MS, &turn), ERR_BUSY);
    assert_true(turn.rests);
    call_free(call);
}

static void a_slow_store_is_given_its_time(void **state)
{
    (void)state;
    struct call *call = new_call(NULL, 0);
    struct pace_turn turn;
    fake.slow_ms = 120;
    assert_int_equal(pace_take(call, "a", &ONE, LONG_MS, &turn), OK);
    assert_true(fake.taken > 1);
    assert_int_equal(fake.unused, fake.taken - 1); /* those that would have begun late */
    assert_true(fake.last_ahead_ms >= 240);
    pace_leave(&turn, 0);
    call_free(call);
}

UNIT_TEST(pacer)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(turns_are_a_window_apart, alone, close_pacer),
        cmocka_unit_test_setup_teardown(who_cannot_wait_is_told_at_once, alone, close_pacer),
        cmocka_unit_test_setup_teardown(so_many_at_once, alone, close_pacer),
        cmocka_unit_test(without_a_pacer_every_turn_comes),
        cmocka_unit_test_setup_teardown(a_source_rests_and_one_tries_it, alone, close_pacer),
        cmocka_unit_test_setup_teardown(many_calls_of_one_caller_keep_nobody_waiting, alone,
                                        close_pacer),
        cmocka_unit_test_setup_teardown(a_cancelled_call_gives_its_time_back, alone, close_pacer),
        cmocka_unit_test_setup_teardown(who_is_far_behind_knows_it_at_once, alone, close_pacer),
        cmocka_unit_test_setup_teardown(the_store_decides, with_store, close_pacer),
        cmocka_unit_test_setup_teardown(a_failing_store_leaves_the_count_to_the_process, with_store,
                                        close_pacer),
        cmocka_unit_test_setup_teardown(a_slow_store_is_given_its_time, with_store, close_pacer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
