/* Pieces of work side by side: order, deadlines, cancellation, and what is left behind. */
#include "unit.h"

#include "call/call.h"
#include "call/parts.h"
#include "call/pool.h"
#include "call/side.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define SOON_MS 30000 /* half of what a piece sleeps that nobody ends */

struct piece {
    int64_t sleep_ms; /* negative: until it is cancelled */
    const char *text; /* what it kept */
    int status;       /* of its sleep */
};

static _Atomic int running, most_running, ended;

static void work(struct call *call, void *item, struct arena *keep)
{
    struct piece *piece = item;
    int now = ++running;
    for (int most = most_running;
         now > most && !atomic_compare_exchange_weak(&most_running, &most, now);) {
    }
    piece->status = call_sleep(call, piece->sleep_ms < 0 ? 60000 : piece->sleep_ms);
    piece->text = arena_printf(keep, "slept %d", (int)piece->sleep_ms);
    running--;
    ended++;
}

static struct parts parts;

/* Ends the threads, and makes room for new ones. */
static void wait_for_threads(void)
{
    pool_free(parts.side_threads);
    parts.side_threads = side_pool_new(NULL);
    assert_non_null(parts.side_threads);
}

static struct call *new_call(int64_t timeout_ms)
{
    running = most_running = ended = 0;
    struct call *call = call_new(&(struct call_options){.timeout_ms = timeout_ms, .parts = &parts});
    assert_non_null(call);
    return call;
}

static struct side *new_side(struct call *call, struct piece *pieces, size_t count, size_t at_once)
{
    struct side *side = side_new(call, work, count, at_once, KIB(16));
    assert_non_null(side);
    for (size_t i = 0; i < count; i++) {
        side_set(side, i, &pieces[i]);
    }
    return side;
}

struct reports {
    size_t count, last_done;
    unsigned seen;
};

static void note_report(void *context, size_t index, size_t done)
{
    struct reports *reports = context;
    reports->count++;
    reports->seen |= 1u << index;
    assert_int_equal(done, reports->last_done + 1);
    reports->last_done = done;
}

static void all_of_them_end(void **state)
{
    (void)state;
    struct piece pieces[] = {{.sleep_ms = 30}, {.sleep_ms = 1}, {.sleep_ms = 10}, {.sleep_ms = 5}};
    struct call *call = new_call(0);
    struct reports reports = {0};
    struct side *side = new_side(call, pieces, COUNT(pieces), COUNT(pieces));
    assert_int_equal(side_run(side, 0, note_report, &reports), OK);
    assert_int_equal(reports.count, COUNT(pieces));
    assert_int_equal(reports.seen, 0xF);
    for (size_t i = 0; i < COUNT(pieces); i++) {
        assert_true(side_finished(side, i));
        assert_int_equal(pieces[i].status, OK);
    }
    assert_string_equal(pieces[0].text, "slept 30");
    assert_string_equal(pieces[2].text, "slept 10");
    side_free(side);
    call_free(call);
}

static void no_more_than_wanted_run_at_once(void **state)
{
    (void)state;
    struct piece pieces[8] = {{0}};
    struct call *call = new_call(0);
    for (size_t i = 0; i < COUNT(pieces); i++) {
        pieces[i].sleep_ms = 5;
    }
    struct side *side = new_side(call, pieces, COUNT(pieces), 3);
    assert_int_equal(side_run(side, 0, NULL, NULL), OK);
    assert_in_range(most_running, 1, 3);
    side_free(side);
    call_free(call);
}

static void at_the_deadline_the_rest_is_left_behind(void **state)
{
    (void)state;
    struct call *call = new_call(3000);
    /* In the parent's memory: it has to stay until the last piece has ended. */
    struct piece *pieces = arena_zalloc(call_arena(call), 3 * sizeof *pieces);
    pieces[0].sleep_ms = 1;
    pieces[1].sleep_ms = -1;
    pieces[2].sleep_ms = 2;
    struct side *side = new_side(call, pieces, 3, 3);
    int64_t began = clock_now_ms();
    assert_int_equal(side_run(side, 100, NULL, NULL), ERR_DEADLINE);
    assert_in_range(clock_now_ms() - began, 2000, SOON_MS);
    assert_true(side_finished(side, 0));
    assert_false(side_finished(side, 1));
    assert_true(side_finished(side, 2));
    side_free(side);
    call_free(call);
    wait_for_threads(); /* waits for the one that was left */
    assert_int_equal(ended, 3);
}

static void *cancel_soon(void *context)
{
    usleep(20000);
    call_cancel(context);
    return NULL;
}

/* Once one has ended, the others have until a time of the report's own. */
static void limit(void *context, size_t index, size_t done)
{
    (void)index;
    (void)done;
    side_until(context, clock_now_ms() + 50);
}

static void a_report_limits_the_rest(void **state)
{
    (void)state;
    struct call *call = new_call(0);
    struct piece pieces[] = {{.sleep_ms = 5}, {.sleep_ms = -1}, {.sleep_ms = 10}};
    struct side *side = new_side(call, pieces, 3, 3);
    int64_t began = clock_now_ms();
    assert_int_equal(side_run(side, 0, limit, side), ERR_DEADLINE);
    assert_in_range(clock_now_ms() - began, 5, SOON_MS);
    assert_true(side_finished(side, 0));
    assert_false(side_finished(side, 1));
    side_free(side);
    call_free(call);
    wait_for_threads();
    assert_int_equal(ended, 3);
}

static void a_cancelled_call_ends_its_pieces(void **state)
{
    (void)state;
    struct piece pieces[] = {{.sleep_ms = -1}, {.sleep_ms = -1}};
    struct call *call = new_call(60000);
    struct side *side = new_side(call, pieces, COUNT(pieces), COUNT(pieces));
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, call), 0);
    int64_t began = clock_now_ms();
    assert_int_equal(side_run(side, 0, NULL, NULL), ERR_CANCELLED);
    assert_in_range(clock_now_ms() - began, 0, SOON_MS);
    pthread_join(thread, NULL);
    side_free(side);
    wait_for_threads();
    assert_int_equal(pieces[0].status, ERR_CANCELLED);
    assert_int_equal(pieces[1].status, ERR_CANCELLED);
    call_free(call);
}

/* ---- more calls than threads ---- */

#define CALLS  40
#define PIECES 40 /* of each: more in all than there are threads */

static void *run_one(void *context)
{
    (void)context;
    struct piece pieces[PIECES] = {{0}};
    struct call *call = call_new(&(struct call_options){.timeout_ms = 60000, .parts = &parts});
    struct side *side = new_side(call, pieces, PIECES, PIECES);
    for (size_t i = 0; i < PIECES; i++) {
        pieces[i].sleep_ms = 20;
    }
    int status = side_run(side, 0, NULL, NULL);
    side_free(side);
    call_free(call);
    return status == OK ? NULL : context;
}

static void more_pieces_than_threads_wait_for_their_turn(void **state)
{
    (void)state;
    pthread_t threads[CALLS];
    running = most_running = ended = 0;
    for (size_t i = 0; i < CALLS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, run_one, "failed"), 0);
    }
    for (size_t i = 0; i < CALLS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    wait_for_threads();
    assert_int_equal(ended, CALLS * PIECES);
    assert_in_range(most_running, 1, LIMIT_SIDE_THREADS);
}

UNIT_TEST(side)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_them_end),
        cmocka_unit_test(no_more_than_wanted_run_at_once),
        cmocka_unit_test(at_the_deadline_the_rest_is_left_behind),
        cmocka_unit_test(a_report_limits_the_rest),
        cmocka_unit_test(a_cancelled_call_ends_its_pieces),
        cmocka_unit_test(more_pieces_than_threads_wait_for_their_turn),
    };
    parts.side_threads = side_pool_new(NULL);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pool_free(parts.side_threads);
    return failed;
}
