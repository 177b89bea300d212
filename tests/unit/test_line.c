/* The line: how many are inside at once, who comes next, what somebody who waits is told, and how a
 * wait ends. */
#include "unit.h"

#include "call/line.h"
#include "call/parts.h"
#include "core/clock.h"
#include "core/stock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST    3
#define LONG_MS 60000
#define KEY     "a.test:443"

static struct line line;
static struct place insiders[MOST];

static int set_up(void **state)
{
    (void)state;
    line_init(&line, NULL, NULL, MOST);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_null(line.first); /* nobody was left behind */
    line_done(&line);
    return 0;
}

static struct call *make_call(int64_t timeout_ms)
{
    struct call *call = call_new(&(struct call_options){.timeout_ms = timeout_ms});
    assert_non_null(call);
    return call;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void fill(struct call *call)
{
    for (int i = 0; i < MOST; i++) {
        insiders[i] = (struct place){.call = call, .key = KEY};
        assert_int_equal(line_enter(&line, &insiders[i], 0), OK);
    }
}

static void empty(void)
{
    for (int i = 0; i < MOST; i++) {
        line_leave(&insiders[i]);
    }
}

/* Whether there is no place now. */
static void assert_full(struct call *call, const char *key, int64_t patience_ms)
{
    struct place place = {.call = call, .key = key};
    assert_int_equal(line_enter(&line, &place, patience_ms), ERR_BUSY);
}

static void assert_free(struct call *call, const char *key)
{
    struct place place = {.call = call, .key = key};
    assert_int_equal(line_enter(&line, &place, 0), OK);
    line_leave(&place);
}

/* ---- how many ---- */

static void admits_so_many_of_each_key(void **state)
{
    (void)state;
    struct call *call = make_call(0);
    char same[] = KEY; /* keys are compared by what they say */
    fill(call);
    assert_full(call, same, 0);
    assert_full(call, same, 20);
    assert_free(call, "a.test:80");
    assert_free(call, "b.test:443");
    assert_free(call, NULL);
    line_leave(&insiders[0]);
    assert_free(call, same);
    assert_int_equal(line_enter(&line, &insiders[0], 0), OK);
    assert_full(call, same, 0);
    empty();
    call_free(call);
}

static void a_line_without_keys_is_one_line(void **state)
{
    (void)state;
    struct call *call = make_call(0);
    struct place places[MOST];
    for (int i = 0; i < MOST; i++) {
        places[i] = (struct place){.call = call};
        assert_int_equal(line_enter(&line, &places[i], -1), OK);
    }
    assert_full(call, NULL, 0);
    for (int i = 0; i < MOST; i++) {
        line_leave(&places[i]);
    }
    call_free(call);
}

/* ---- waiting ---- */

struct visitor {
    struct call *call;
    int status;
    pthread_t thread;
    _Atomic pid_t id; /* of the thread, once it is about to enter */
    _Atomic int *order;
    int number;
};

static _Atomic size_t told_inside, told_before;

static void hear(struct call *call, size_t inside, size_t before)
{
    (void)call;
    atomic_store(&told_inside, inside);
    atomic_store(&told_before, before);
}

static void *visit(void *context)
{
    struct visitor *visitor = context;
    struct place place = {.call = visitor->call, .key = KEY, .report = hear};
    atomic_store(&visitor->id, gettid());
    visitor->status = line_enter(&line, &place, LONG_MS);
    if (visitor->status == OK) {
        visitor->number = atomic_fetch_add(visitor->order, 1);
        line_leave(&place);
    }
    return NULL;
}

static bool is_asleep(pid_t thread)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return length && name_end && name_end[1] && name_end[2] == 'S';
}

/* Starts a visitor and waits until it stands in line. */
static void send_call(struct visitor *visitor, struct call *call, _Atomic int *order)
{
    *visitor = (struct visitor){.call = call, .order = order};
    assert_int_equal(pthread_create(&visitor->thread, NULL, visit, visitor), 0);
    while (!atomic_load(&visitor->id) || !is_asleep(atomic_load(&visitor->id))) {
        pause_ms(1);
    }
}

static void send(struct visitor *visitor, _Atomic int *order)
{
    send_call(visitor, make_call(0), order);
}

static void first_come_first_served(void **state)
{
    (void)state;
    struct call *call = make_call(0);
    struct visitor visitors[6];
    _Atomic int order = 0;
    fill(call);
    for (size_t i = 0; i < COUNT(visitors); i++) {
        send(&visitors[i], &order);
        assert_int_equal(atomic_load(&told_inside), MOST);
        assert_int_equal(atomic_load(&told_before), i);
    }
    assert_int_equal(atomic_load(&order), 0);
    line_leave(&insiders[0]);
    for (size_t i = 0; i < COUNT(visitors); i++) {
        pthread_join(visitors[i].thread, NULL);
        assert_int_equal(visitors[i].status, OK);
        assert_int_equal(visitors[i].number, i);
        call_free(visitors[i].call);
    }
    /* The place that was handed from one to the next is free again. */
    assert_int_equal(line_enter(&line, &insiders[0], 0), OK);
    empty();
    call_free(call);
}

/* ---- several callers ---- */

static const struct caller GREEDY = {.name = "greedy"};
static const struct caller OTHER = {.name = "other"};

static struct call *call_of(const struct caller *caller, const struct parts *parts)
{
    struct call *call = call_new(&(struct call_options){.caller = caller, .parts = parts});
    assert_non_null(call);
    return call;
}

/* The last place is for another caller, unless there can be none. */
static void one_caller_leaves_a_place(void **state)
{
    (void)state;
    for (int others = 0; others < 2; others++) {
        struct parts parts = {.stocks = stocks_new(others)};
        struct call *greedy = call_of(&GREEDY, &parts);
        struct call *other = call_of(&OTHER, &parts);
        size_t entered = 0;
        struct place theirs = {.call = other, .key = KEY};
        while (entered < MOST) {
            insiders[entered] = (struct place){.call = greedy, .key = KEY};
            if (line_enter(&line, &insiders[entered], 0) != OK) {
                break;
            }
            entered++;
        }
        assert_int_equal(entered, others ? MOST - 1 : MOST);
        assert_int_equal(line_enter(&line, &theirs, 0), others ? OK : ERR_BUSY);
        if (others) {
            line_leave(&theirs);
        }
        while (entered > 0) {
            line_leave(&insiders[--entered]);
        }
        call_free(greedy);
        call_free(other);
        stocks_free(parts.stocks);
    }
}

/* Four calls of one caller wait, then one of another comes: the next place is for it. */
static void who_has_least_comes_first(void **state)
{
    (void)state;
    struct parts parts = {.stocks = stocks_new(true)};
    struct call *greedy = call_of(&GREEDY, &parts);
    struct visitor visitors[5];
    _Atomic int order = 0;
    struct call *nobodys = make_call(0);
    for (size_t i = 0; i < MOST; i++) {
        insiders[i] = (struct place){.call = i + 1 < MOST ? greedy : nobodys, .key = KEY};
        assert_int_equal(line_enter(&line, &insiders[i], 0), OK);
    }
    for (size_t i = 0; i < COUNT(visitors); i++) {
        send_call(&visitors[i], call_of(i == 4 ? &OTHER : &GREEDY, &parts), &order);
    }
    line_leave(&insiders[0]);
    pthread_join(visitors[4].thread, NULL);
    assert_int_equal(visitors[4].number, 0);
    line_leave(&insiders[1]);
    line_leave(&insiders[2]);
    for (size_t i = 0; i < COUNT(visitors); i++) {
        if (i < 4) {
            pthread_join(visitors[i].thread, NULL);
        }
        assert_int_equal(visitors[i].status, OK);
        call_free(visitors[i].call);
    }
    call_free(greedy);
    call_free(nobodys);
    stocks_free(parts.stocks);
}

static void a_cancelled_visitor_leaves_the_line(void **state)
{
    (void)state;
    struct call *call = make_call(0);
    struct visitor visitors[2];
    _Atomic int order = 0;
    fill(call);
    send(&visitors[0], &order);
    send(&visitors[1], &order);
    int64_t began = clock_now_ms();
    call_cancel(visitors[0].call);
    pthread_join(visitors[0].thread, NULL);
    assert_int_equal(visitors[0].status, ERR_CANCELLED);
    assert_true(clock_now_ms() - began < LONG_MS / 2);
    assert_int_equal(atomic_load(&order), 0);
    /* Its turn goes to who stood behind it. */
    line_leave(&insiders[0]);
    pthread_join(visitors[1].thread, NULL);
    assert_int_equal(visitors[1].status, OK);
    call_free(visitors[0].call);
    call_free(visitors[1].call);
    assert_int_equal(line_enter(&line, &insiders[0], 0), OK);
    empty();
    call_free(call);
}

static void a_deadline_ends_the_wait(void **state)
{
    (void)state;
    struct call *call = make_call(0);
    struct place hurried = {.call = make_call(30), .key = KEY};
    fill(call);
    assert_int_equal(line_enter(&line, &hurried, LONG_MS), ERR_DEADLINE);
    empty();
    call_free(hurried.call);
    call_free(call);
}

/* ---- a crowd ---- */

struct crowd {
    _Atomic int *inside;
    _Atomic int *most_inside;
    _Atomic int *gave_up;
    int number;
};

static void *push(void *context)
{
    struct crowd *one = context;
    for (int i = 0; i < 50; i++) {
        /* Some give up, or run out of time, at the very moment when a place may come. */
        int kind = (i + one->number) % 6;
        struct place place = {.call = make_call(kind == 1 ? 1 : 0), .key = KEY};
        int status = line_enter(&line, &place, kind == 0 ? i % 2 : kind == 2 ? -1 : LONG_MS);
        if (status == OK) {
            int now = atomic_fetch_add(one->inside, 1) + 1;
            int most = atomic_load(one->most_inside);
            while (now > most && !atomic_compare_exchange_weak(one->most_inside, &most, now)) {
            }
            pause_ms(i % 2);
            atomic_fetch_sub(one->inside, 1);
            line_leave(&place);
        } else {
            assert_int_equal(status, kind == 0 ? ERR_BUSY : ERR_DEADLINE);
            assert_true(kind < 2);
            atomic_fetch_add(one->gave_up, 1);
        }
        call_free(place.call);
    }
    return NULL;
}

static void a_crowd_never_exceeds_the_places(void **state)
{
    (void)state;
    struct crowd crowd[16];
    pthread_t threads[COUNT(crowd)];
    _Atomic int inside = 0, most_inside = 0, gave_up = 0;
    for (size_t i = 0; i < COUNT(crowd); i++) {
        crowd[i] = (struct crowd){&inside, &most_inside, &gave_up, (int)i};
        assert_int_equal(pthread_create(&threads[i], NULL, push, &crowd[i]), 0);
    }
    for (size_t i = 0; i < COUNT(crowd); i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&most_inside), MOST);
    assert_true(atomic_load(&gave_up) > 0);
    struct call *call = make_call(0);
    fill(call);
    assert_full(call, KEY, 0);
    empty();
    call_free(call);
}

/* ---- what an operator is told ---- */

struct seen {
    size_t lines, inside, waiting;
};

static void see(void *context, const struct line *shown, size_t inside, size_t waiting)
{
    struct seen *seen = context;
    assert_string_equal(shown->name, "shown");
    *seen = (struct seen){seen->lines + 1, inside, waiting};
}

static void shows_who_is_inside_and_who_waits(void **state)
{
    (void)state;
    struct turns *turns = turns_new();
    struct line shown;
    struct line unnamed;
    struct call *call = make_call(LONG_MS);
    struct place inside = {.call = call};
    struct seen seen = {0};
    assert_non_null(turns);
    line_init(&shown, turns, "shown", 1);
    line_init(&unnamed, turns, NULL, 1);
    assert_int_equal(line_enter(&shown, &inside, 0), OK);
    turns_look(turns, see, &seen);
    assert_int_equal(seen.lines, 1);
    assert_int_equal(seen.inside, 1);
    assert_int_equal(seen.waiting, 0);
    line_leave(&inside);
    line_done(&unnamed);
    line_done(&shown);
    seen = (struct seen){0};
    turns_look(turns, see, &seen);
    assert_int_equal(seen.lines, 0);
    turns_free(turns);
    call_free(call);
}

UNIT_TEST(line)
{
#define WITH_LINE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_who_is_inside_and_who_waits),
        WITH_LINE(admits_so_many_of_each_key),
        WITH_LINE(a_line_without_keys_is_one_line),
        WITH_LINE(first_come_first_served),
        WITH_LINE(a_cancelled_visitor_leaves_the_line),
        WITH_LINE(a_deadline_ends_the_wait),
        WITH_LINE(one_caller_leaves_a_place),
        WITH_LINE(who_has_least_comes_first),
        WITH_LINE(a_crowd_never_exceeds_the_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
