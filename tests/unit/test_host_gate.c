/* The gate in front of hosts: how many at once, who comes next, and how a wait ends. */
#include "unit.h"

#include "core/clock.h"
#include "core/status.h"
#include "page/source/host_gate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST    3
#define LONG_MS 60000
#define HOST    "a.test"
#define PORT    443

static struct call *make_call(int64_t timeout_ms)
{
    struct call *call = call_new(&(struct call_options){.timeout_ms = timeout_ms});
    assert_non_null(call);
    return call;
}

static int set_up(void **state)
{
    *state = host_gate_new(MOST);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    *state = host_gate_free(*state);
    return 0;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void fill(struct host_gate *gate, struct call *call)
{
    for (int i = 0; i < MOST; i++) {
        assert_int_equal(host_gate_enter(gate, call, HOST, PORT, 0), OK);
    }
}

static void empty(struct host_gate *gate)
{
    for (int i = 0; i < MOST; i++) {
        host_gate_leave(gate, HOST, PORT);
    }
}

/* ---- how many ---- */

static void admits_so_many_to_each_host_and_port(void **state)
{
    struct host_gate *gate = *state;
    struct call *call = make_call(0);
    fill(gate, call);
    assert_int_equal(host_gate_enter(gate, call, HOST, PORT, 0), ERR_BUSY);
    assert_int_equal(host_gate_enter(gate, call, HOST, PORT, 20), ERR_BUSY);
    /* Another port and another host have places of their own. */
    assert_int_equal(host_gate_enter(gate, call, HOST, 80, 0), OK);
    assert_int_equal(host_gate_enter(gate, call, "b.test", PORT, 0), OK);
    host_gate_leave(gate, HOST, 80);
    host_gate_leave(gate, "b.test", PORT);
    host_gate_leave(gate, HOST, PORT);
    assert_int_equal(host_gate_enter(gate, call, HOST, PORT, 0), OK);
    empty(gate);
    call_free(call);
}

/* ---- waiting ---- */

struct visitor {
    struct host_gate *gate;
    struct call *call;
    int status;
    pthread_t thread;
    _Atomic pid_t id; /* of the thread, once it is about to enter */
    _Atomic int *order;
    int place;
};

static void *visit(void *context)
{
    struct visitor *visitor = context;
    atomic_store(&visitor->id, gettid());
    visitor->status = host_gate_enter(visitor->gate, visitor->call, HOST, PORT, LONG_MS);
    if (visitor->status == OK) {
        visitor->place = atomic_fetch_add(visitor->order, 1);
        host_gate_leave(visitor->gate, HOST, PORT);
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

/* Starts a visitor and waits until he stands in line. */
static void send(struct visitor *visitor, struct host_gate *gate, _Atomic int *order)
{
    *visitor = (struct visitor){.gate = gate, .call = make_call(0), .order = order};
    assert_int_equal(pthread_create(&visitor->thread, NULL, visit, visitor), 0);
    while (!atomic_load(&visitor->id) || !is_asleep(atomic_load(&visitor->id))) {
        pause_ms(1);
    }
}

static void first_come_first_served(void **state)
{
    struct host_gate *gate = *state;
    struct call *call = make_call(0);
    struct visitor visitors[6];
    _Atomic int order = 0;
    fill(gate, call);
    for (size_t i = 0; i < COUNT(visitors); i++) {
        send(&visitors[i], gate, &order);
    }
    assert_int_equal(atomic_load(&order), 0);
    host_gate_leave(gate, HOST, PORT);
    for (size_t i = 0; i < COUNT(visitors); i++) {
        pthread_join(visitors[i].thread, NULL);
        assert_int_equal(visitors[i].status, OK);
        assert_int_equal(visitors[i].place, i);
        call_free(visitors[i].call);
    }
    /* The place that was handed from one to the next is free again. */
    assert_int_equal(host_gate_enter(gate, call, HOST, PORT, 0), OK);
    empty(gate);
    call_free(call);
}

static void a_cancelled_visitor_leaves_the_line(void **state)
{
    struct host_gate *gate = *state;
    struct call *call = make_call(0);
    struct visitor visitors[2];
    _Atomic int order = 0;
    fill(gate, call);
    send(&visitors[0], gate, &order);
    send(&visitors[1], gate, &order);
    int64_t began = clock_now_ms();
    call_cancel(visitors[0].call);
    pthread_join(visitors[0].thread, NULL);
    assert_int_equal(visitors[0].status, ERR_CANCELLED);
    assert_true(clock_now_ms() - began < LONG_MS / 2);
    assert_int_equal(atomic_load(&order), 0);
    /* His turn goes to who stood behind him. */
    host_gate_leave(gate, HOST, PORT);
    pthread_join(visitors[1].thread, NULL);
    assert_int_equal(visitors[1].status, OK);
    call_free(visitors[0].call);
    call_free(visitors[1].call);
    assert_int_equal(host_gate_enter(gate, call, HOST, PORT, 0), OK);
    empty(gate);
    call_free(call);
}

static void a_deadline_ends_the_wait(void **state)
{
    struct host_gate *gate = *state;
    struct call *call = make_call(0);
    struct call *hurried = make_call(30);
    fill(gate, call);
    assert_int_equal(host_gate_enter(gate, hurried, HOST, PORT, LONG_MS), ERR_DEADLINE);
    empty(gate);
    call_free(hurried);
    call_free(call);
}

/* ---- a crowd ---- */

struct crowd {
    struct host_gate *gate;
    _Atomic int *inside;
    _Atomic int *most_inside;
    _Atomic int *cancelled;
    int number;
};

static void *push(void *context)
{
    struct crowd *one = context;
    for (int i = 0; i < 50; i++) {
        struct call *call = call_new(&(struct call_options){0});
        /* Some give up at the very moment when a place may come. */
        int64_t patience = (i + one->number) % 3 == 0 ? i % 2 : LONG_MS;
        int status = host_gate_enter(one->gate, call, HOST, PORT, patience);
        if (status == OK) {
            int now = atomic_fetch_add(one->inside, 1) + 1;
            int most = atomic_load(one->most_inside);
            while (now > most && !atomic_compare_exchange_weak(one->most_inside, &most, now)) {
            }
            pause_ms(i % 2);
            atomic_fetch_sub(one->inside, 1);
            host_gate_leave(one->gate, HOST, PORT);
        } else {
            atomic_fetch_add(one->cancelled, 1);
        }
        call_free(call);
    }
    return NULL;
}

static void a_crowd_never_exceeds_the_places(void **state)
{
    struct crowd crowd[16];
    pthread_t threads[COUNT(crowd)];
    _Atomic int inside = 0, most_inside = 0, cancelled = 0;
    for (size_t i = 0; i < COUNT(crowd); i++) {
        crowd[i] = (struct crowd){*state, &inside, &most_inside, &cancelled, (int)i};
        assert_int_equal(pthread_create(&threads[i], NULL, push, &crowd[i]), 0);
    }
    for (size_t i = 0; i < COUNT(crowd); i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(atomic_load(&most_inside), MOST);
    assert_true(atomic_load(&cancelled) > 0);
    struct call *call = make_call(0);
    fill(*state, call);
    assert_int_equal(host_gate_enter(*state, call, HOST, PORT, 0), ERR_BUSY);
    empty(*state);
    call_free(call);
}

int main(void)
{
#define WITH_GATE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_GATE(admits_so_many_to_each_host_and_port), WITH_GATE(first_come_first_served),
        WITH_GATE(a_cancelled_visitor_leaves_the_line),  WITH_GATE(a_deadline_ends_the_wait),
        WITH_GATE(a_crowd_never_exceeds_the_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
