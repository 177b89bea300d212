/* What the tests of the server share: a handler with a route for each kind of answer, counters of
 * what happened to it, and a server for each test. */
#ifndef FORAGE_TESTS_SERVER_FIXTURE_H
#define FORAGE_TESTS_SERVER_FIXTURE_H

#include "core/status.h"
#include "http_client.h"
#include "server/server.h"

#include <pthread.h>
#include <stdio.h>

#define GET(path)  "GET " path " HTTP/1.1\r\nHost: a\r\n\r\n"
#define POST(path) "POST " path " HTTP/1.1\r\nHost: a\r\n"

#define BIG_BYTES    MIB(20)
#define PAUSE_PIECES 80
#define PAUSE_PIECE  0x10000

/* ---- the handler under test ---- */

struct counters {
    _Atomic int heads;
    _Atomic int requests;
    _Atomic int gone;
    _Atomic int started; /* workers */
    _Atomic int workers; /* those that have ended */
    _Atomic int limited;
    _Atomic int closed;
    _Atomic int second_answer;
    _Atomic int users;
    _Atomic int release; /* lets a waiting worker go on */
    _Atomic int mistakes;
};

static struct counters seen;

static inline void forget(void)
{
    _Atomic int *const all[] = {&seen.heads,   &seen.requests,      &seen.gone,    &seen.started,
                                &seen.workers, &seen.limited,       &seen.closed,  &seen.release,
                                &seen.users,   &seen.second_answer, &seen.mistakes};
    for (size_t i = 0; i < COUNT(all); i++) {
        atomic_store(all[i], 0);
    }
}

static inline bool path_is(const struct exchange *exchange, const char *path)
{
    struct slice slice = exchange_request(exchange)->path;
    return slice.length == strlen(path) && memcmp(slice.data, path, slice.length) == 0;
}

/* Handlers run on the server's threads, where an assertion would end the wrong one. */
static inline void require(bool right)
{
    seen.mistakes += right ? 0 : 1;
}

static inline void count_gone(void *context)
{
    (void)context;
    seen.gone++;
}

static inline void start_worker(struct exchange *exchange, void *(*work)(void *))
{
    pthread_t thread;
    seen.started++;
    exchange_ref(exchange);
    require(pthread_create(&thread, NULL, work, exchange) == 0);
    pthread_detach(thread);
}

static inline void *end_worker(struct exchange *exchange)
{
    exchange_free(exchange);
    seen.workers++;
    return NULL;
}

/* Answers twice; only the first counts. */
static inline void answer_hello(struct exchange *exchange)
{
    struct slice query = exchange_request(exchange)->query;
    struct buf body;
    buf_init(&body, KIB(16));
    buf_puts(&body, "hello ");
    buf_append(&body, query.data, query.length);
    exchange_respond(exchange, 200, "Content-Type: text/plain\r\n", body.data, body.length);
    seen.second_answer = exchange_respond(exchange, 500, NULL, "no", 2);
    buf_done(&body);
}

static inline void end_user(void *user)
{
    require(user == &seen.users);
    seen.users--;
}

static inline void give_user(struct exchange *exchange)
{
    seen.users++;
    exchange_set_user(exchange, &seen.users, end_user);
    require(exchange_user(exchange) == &seen.users);
}

static inline void answer_echo(struct exchange *exchange)
{
    struct slice body = exchange_request(exchange)->body;
    exchange_respond(exchange, 200, NULL, body.data, body.length);
}

static inline void answer_about(struct exchange *exchange)
{
    char body[256];
    size_t count = 0;
    struct slice value = exchange_header(exchange, "x-THING", &count);
    size_t missing = 7;
    require(!exchange_header(exchange, "X-Nothing", &missing).data);
    int length = snprintf(body, sizeof body, "%zu %.*s %zu %s", count, (int)value.length,
                          value.data ? value.data : "", missing, exchange_peer(exchange));
    exchange_respond(exchange, 200, NULL, body, (size_t)length);
}

static inline void answer_empty(struct exchange *exchange)
{
    exchange_respond(exchange, 204, NULL, "ignored", 7);
}

static inline void answer_big(struct exchange *exchange)
{
    char *body = malloc(BIG_BYTES);
    for (size_t i = 0; body && i < BIG_BYTES; i++) {
        body[i] = (char)('a' + i % 23);
    }
    exchange_respond(exchange, 200, NULL, body, body ? BIG_BYTES : 0);
    free(body);
}

static inline void *work_later(void *context)
{
    struct exchange *exchange = context;
    struct slice body = exchange_request(exchange)->body;
    usleep(5000);
    exchange_respond(exchange, 200, NULL, body.length ? body.data : "later",
                     body.length ? body.length : 5);
    return end_worker(exchange);
}

static inline void answer_later(struct exchange *exchange)
{
    exchange_on_gone(exchange, count_gone, NULL);
    start_worker(exchange, work_later);
}

static inline void *work_stream(void *context)
{
    struct exchange *exchange = context;
    exchange_stream_start(exchange, 200, "Content-Type: text/event-stream\r\n");
    for (int i = 0; i < 5; i++) {
        char event[32];
        int length = snprintf(event, sizeof event, "event %d;", i);
        exchange_stream_send(exchange, event, (size_t)length);
        exchange_stream_send(exchange, "", 0);
        usleep(2000);
    }
    exchange_stream_end(exchange, NULL, 0);
    return end_worker(exchange);
}

static inline void answer_stream(struct exchange *exchange)
{
    start_worker(exchange, work_stream);
}

static inline void answer_stream_here(struct exchange *exchange)
{
    exchange_stream_start(exchange, 200, NULL);
    exchange_stream_send(exchange, "one,", 4);
    exchange_stream_send(exchange, "two", 3);
    exchange_stream_end(exchange, NULL, 0);
}

/* Sends until the client's backlog is full, then in drops until it has gone. */
static inline void *work_flood(void *context)
{
    static const char piece[KIB(64)];
    struct exchange *exchange = context;
    exchange_stream_start(exchange, 200, NULL);
    while (exchange_stream_send(exchange, piece, sizeof piece) == OK) {
    }
    seen.limited = 1;
    while (exchange_stream_send(exchange, "x", 1) == OK) {
        usleep(5000);
    }
    seen.closed++;
    exchange_stream_end(exchange, NULL, 0);
    return end_worker(exchange);
}

static inline void answer_flood(struct exchange *exchange)
{
    exchange_on_gone(exchange, count_gone, NULL);
    start_worker(exchange, work_flood);
}

/* A stream that pauses after some large pieces until seen.release says so. */
static inline void *work_pause(void *context)
{
    static const char piece[PAUSE_PIECE];
    struct exchange *exchange = context;
    exchange_stream_start(exchange, 200, NULL);
    for (int i = 0; i < PAUSE_PIECES; i++) {
        require(exchange_stream_send(exchange, piece, sizeof piece) == OK);
    }
    require(reaches(&seen.release, 1));
    exchange_stream_send(exchange, "end", 3);
    exchange_stream_end(exchange, NULL, 0);
    return end_worker(exchange);
}

static inline void answer_pause(struct exchange *exchange)
{
    exchange_on_gone(exchange, count_gone, NULL);
    start_worker(exchange, work_pause);
}

/* Is not answered before seen.release says so, and tells what became of the answer. */
static inline void *work_held(void *context)
{
    struct exchange *exchange = context;
    require(reaches(&seen.release, 1));
    if (exchange_respond(exchange, 200, NULL, "held", 4) == ERR_CLOSED) {
        seen.closed++;
    }
    return end_worker(exchange);
}

static inline void answer_held(struct exchange *exchange)
{
    exchange_on_gone(exchange, count_gone, NULL);
    start_worker(exchange, work_held);
}

/* Holds its reactor up until the answer to /held has been given elsewhere. */
static inline void answer_block(struct exchange *exchange)
{
    require(reaches(&seen.workers, 1));
    exchange_respond(exchange, 200, NULL, "blocked", 7);
}

/* Is answered and yet kept. */
static struct exchange *kept;

static inline void answer_kept(struct exchange *exchange)
{
    kept = exchange_ref(exchange);
    exchange_respond(exchange, 200, NULL, exchange_id(exchange), strlen(exchange_id(exchange)));
}

/* Nobody answers; only the client's leaving ends it. */
static inline void answer_never(struct exchange *exchange)
{
    exchange_on_gone(exchange, count_gone, NULL);
}

static inline void fire_second(struct exchange *exchange, void *context)
{
    exchange_stream_send(exchange, context, strlen(context));
    exchange_stream_end(exchange, NULL, 0);
}

static inline void fire_first(struct exchange *exchange, void *context)
{
    exchange_stream_start(exchange, 200, NULL);
    exchange_stream_send(exchange, context, strlen(context));
    exchange_set_timer(exchange, 10, fire_second, "second");
}

static inline void fire_wrong(struct exchange *exchange, void *context)
{
    (void)exchange;
    (void)context;
    require(false);
}

static inline void answer_by_timer(struct exchange *exchange)
{
    exchange_set_timer(exchange, 5, fire_wrong, NULL);
    exchange_set_timer(exchange, 10, fire_first, "first ");
}

/* A stream that gives a sign of life now and then, for as long as its client is there. */
static inline void beat(struct exchange *exchange, void *context)
{
    exchange_stream_send(exchange, context, strlen(context));
    exchange_set_timer(exchange, 50, beat, context);
}

static inline void answer_beats(struct exchange *exchange)
{
    exchange_on_gone(exchange, count_gone, NULL);
    exchange_stream_start(exchange, 200, NULL);
    beat(exchange, "beat,");
}

/* A timer does not outlive the answer, neither while that is being sent nor into the next exchange.
 */
static inline void answer_before_timer(struct exchange *exchange)
{
    exchange_set_timer(exchange, 20, fire_wrong, NULL);
    answer_big(exchange);
}

static inline void answer_before_timer_shortly(struct exchange *exchange)
{
    exchange_set_timer(exchange, 20, fire_wrong, NULL);
    exchange_respond(exchange, 200, NULL, "in time", 7);
}

static const struct route {
    const char *path;
    void (*answer)(struct exchange *exchange);
} ROUTES[] = {
    {"/hello", answer_hello},
    {"/echo", answer_echo},
    {"/about", answer_about},
    {"/empty", answer_empty},
    {"/big", answer_big},
    {"/later", answer_later},
    {"/stream", answer_stream},
    {"/stream-here", answer_stream_here},
    {"/flood", answer_flood},
    {"/held", answer_held},
    {"/never", answer_never},
    {"/timer", answer_by_timer},
    {"/no-timer", answer_before_timer},
    {"/no-timer-either", answer_before_timer_shortly},
    {"/pause", answer_pause},
    {"/beat", answer_beats},
    {"/block", answer_block},
    {"/kept", answer_kept},
};

static inline void on_request(struct exchange *exchange, void *context)
{
    require(context == &seen && !exchange_user(exchange));
    give_user(exchange);
    give_user(exchange);
    seen.requests++;
    for (size_t i = 0; i < COUNT(ROUTES); i++) {
        if (path_is(exchange, ROUTES[i].path)) {
            ROUTES[i].answer(exchange);
            return;
        }
    }
    exchange_respond(exchange, 404, NULL, "nothing here", 12);
}

static inline void on_head(struct exchange *exchange, void *context)
{
    require(context == &seen && exchange_request(exchange)->body.length == 0);
    seen.heads++;
    if (path_is(exchange, "/refused")) {
        exchange_respond(exchange, 403, NULL, "refused", 7);
    }
    if (path_is(exchange, "/health")) {
        exchange_let_in(exchange);
    }
    if (path_is(exchange, "/watched")) {
        exchange_on_gone(exchange, count_gone, NULL);
    }
}

/* ---- a server for each test ---- */

static struct server *server;

static inline struct server *start_with(struct server_options options)
{
    char problem[256] = "";
    forget();
    options.host = "127.0.0.1";
    options.context = &seen;
    options.head = on_head;
    options.request = on_request;
    struct server *started = server_start(&options, problem, sizeof problem);
    assert_string_equal(problem, "");
    assert_non_null(started);
    return started;
}

static inline int start(void **state)
{
    (void)state;
    server = start_with((struct server_options){.reactors = 2});
    return 0;
}

static inline int end(void **state)
{
    (void)state;
    server = server_free(server);
    seen.release = 1;
    wait_for(&seen.workers, seen.started);
    assert_int_equal(seen.users, 0);
    assert_int_equal(seen.mistakes, 0);
    return 0;
}

static inline int enter(void)
{
    int fd = client_connect(server_port(server));
    assert_true(fd >= 0);
    return fd;
}

/* Waits until the server has this many connections. */
static inline void wait_for_connections(size_t count)
{
    int64_t until = clock_now_ms() + PATIENCE_S * 1000;
    while (server_connections(server) != count && clock_now_ms() < until) {
        usleep(1000);
    }
    assert_int_equal(server_connections(server), count);
}

#define WITH(start_function, test) cmocka_unit_test_setup_teardown(test, start_function, end)

#endif
