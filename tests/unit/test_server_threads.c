/* The HTTP server under many threads: clients that come, leave and race with those who answer them.
 * Meant for the sanitizers; what it asserts itself is that every exchange ends exactly once,
 * answered or left. */
#include "core/status.h"
#include "http_client.h"
#include "server/server.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>

#define CLIENT_THREADS  8
#define CLIENTS_EACH    8
#define ROUNDS          100
#define WORKERS         4
#define RACES           400
#define RESTARTS        20
#define RESTART_CLIENTS 16

/* ---- who answers: a few workers and a list of jobs ---- */

struct job {
    struct job *next;
    struct exchange *exchange;
    _Atomic int gone;
    bool streams;
    unsigned delay_us;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *first;
    bool ending;
    pthread_t threads[WORKERS];
} workers = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static _Atomic int accepted;
static _Atomic int answered;
static _Atomic int left;
static _Atomic int mistakes;

/* Most of this runs in threads where an assertion would end the wrong one. */
static void require(bool right)
{
    mistakes += right ? 0 : 1;
}

static bool answer(struct job *job)
{
    if (!job->streams) {
        return exchange_respond(job->exchange, 200, NULL, "answer", 6) == OK;
    }
    exchange_stream_start(job->exchange, 200, NULL);
    exchange_stream_send(job->exchange, "ans", 3);
    bool sent = exchange_stream_send(job->exchange, "wer", 3) == OK;
    exchange_stream_end(job->exchange, NULL, 0);
    return sent;
}

/* Ends an exchange and frees what `gone` was given: it must not run any more, or have run in whole.
 * A stream may lose its client between its last piece and its end, so there only the one is
 * certain. */
static void finish(struct job *job)
{
    if (job->delay_us) {
        usleep(job->delay_us);
    }
    bool sent = answer(job);
    int gone = atomic_load(&job->gone);
    require(gone <= 1);
    require(job->streams ? sent || gone : sent == !gone);
    atomic_fetch_add(gone ? &left : &answered, 1);
    exchange_free(job->exchange);
    free(job);
}

static void *work(void *context)
{
    pthread_mutex_lock(&workers.lock);
    while (workers.first || !workers.ending) {
        struct job *job = workers.first;
        if (!job) {
            pthread_cond_wait(&workers.changed, &workers.lock);
            continue;
        }
        workers.first = job->next;
        pthread_mutex_unlock(&workers.lock);
        finish(job);
        pthread_mutex_lock(&workers.lock);
    }
    pthread_mutex_unlock(&workers.lock);
    return context;
}

static void add_job(struct job *job)
{
    pthread_mutex_lock(&workers.lock);
    job->next = workers.first;
    workers.first = job;
    pthread_cond_signal(&workers.changed);
    pthread_mutex_unlock(&workers.lock);
}

static int start_workers(void **state)
{
    (void)state;
    accepted = answered = left = mistakes = 0;
    workers.ending = false;
    for (size_t i = 0; i < WORKERS; i++) {
        assert_int_equal(pthread_create(&workers.threads[i], NULL, work, NULL), 0);
    }
    return 0;
}

static int end_workers(void **state)
{
    (void)state;
    pthread_mutex_lock(&workers.lock);
    workers.ending = true;
    pthread_cond_broadcast(&workers.changed);
    pthread_mutex_unlock(&workers.lock);
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(workers.threads[i], NULL);
    }
    assert_int_equal(answered + left, accepted);
    assert_int_equal(mistakes, 0);
    return 0;
}

/* ---- the handler ---- */

static void note_gone(void *context)
{
    struct job *job = context;
    atomic_fetch_add(&job->gone, 1);
}

static void on_request(struct exchange *exchange, void *context)
{
    const struct http_request *request = exchange_request(exchange);
    char kind = request->path.data[1];
    (void)context;
    if (kind == 'e') {
        exchange_respond(exchange, 200, NULL, request->body.data, request->body.length);
        return;
    }
    struct job *job = calloc(1, sizeof *job);
    if (!job) {
        abort();
    }
    job->exchange = exchange_ref(exchange);
    job->streams = kind == 's';
    job->delay_us = (unsigned)strtoul(request->query.data, NULL, 10);
    accepted++;
    exchange_on_gone(exchange, note_gone, job);
    add_job(job);
}

static struct server *start_server(void)
{
    char problem[256];
    struct server_options options = {.host = "127.0.0.1", .reactors = 3, .request = on_request};
    struct server *server = server_start(&options, problem, sizeof problem);
    assert_non_null(server);
    return server;
}

/* ---- many clients at once ---- */

static uint16_t port;

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

static void ask(int fd, const char *path, unsigned delay_us, const char *body)
{
    char text[512];
    snprintf(text, sizeof text, "POST %s?%u HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n%s",
             path, delay_us, strlen(body), body);
    client_send(fd, text);
}

/* One of several things that a client can do; the socket to go on with. */
static int do_something(int fd, unsigned *seed)
{
    unsigned delay = next_random(seed) % 300;
    switch (next_random(seed) % 6) {
    case 0:
        ask(fd, "/echo", 0, "some words");
        require(client_gets(fd, 200, "some words"));
        return fd;
    case 1:
        ask(fd, "/answer", delay, "x");
        require(client_gets(fd, 200, "answer"));
        return fd;
    case 2:
        ask(fd, "/stream", delay, "");
        require(client_gets(fd, 200, "answer"));
        return fd;
    case 3: /* pipelined */
        ask(fd, "/answer", delay, "");
        ask(fd, "/echo", 0, "one");
        ask(fd, "/stream", delay, "");
        ask(fd, "/echo", 0, "two");
        require(client_gets(fd, 200, "answer"));
        require(client_gets(fd, 200, "one"));
        require(client_gets(fd, 200, "answer"));
        require(client_gets(fd, 200, "two"));
        return fd;
    case 4:
        ask(fd, "/answer", delay, "");
        usleep(next_random(seed) % 300);
        client_reset(fd);
        return client_connect(port);
    default:
        ask(fd, "/stream", delay, "");
        usleep(next_random(seed) % 300);
        close(fd);
        return client_connect(port);
    }
}

static void *run_clients(void *context)
{
    unsigned *seed = context;
    int fds[CLIENTS_EACH];
    for (size_t i = 0; i < CLIENTS_EACH; i++) {
        fds[i] = client_connect(port);
    }
    for (size_t i = 0; i < ROUNDS; i++) {
        for (size_t j = 0; j < CLIENTS_EACH; j++) {
            fds[j] = do_something(fds[j], seed);
        }
    }
    for (size_t i = 0; i < CLIENTS_EACH; i++) {
        close(fds[i]);
    }
    return NULL;
}

static void test_many_clients(void **state)
{
    pthread_t threads[CLIENT_THREADS];
    unsigned seeds[CLIENT_THREADS];
    struct server *server = start_server();
    (void)state;
    port = server_port(server);
    for (unsigned i = 0; i < CLIENT_THREADS; i++) {
        seeds[i] = i + 1;
        assert_int_equal(pthread_create(&threads[i], NULL, run_clients, &seeds[i]), 0);
    }
    for (size_t i = 0; i < CLIENT_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    server_free(server);
}

/* ---- races ---- */

static void test_answers_race_with_leaving(void **state)
{
    unsigned seed = 7;
    struct server *server = start_server();
    (void)state;
    port = server_port(server);
    for (int i = 0; i < RACES; i++) {
        int fd = client_connect(port);
        assert_true(fd >= 0);
        ask(fd, i % 2 ? "/answer" : "/stream", 50 + next_random(&seed) % 100, "");
        usleep(next_random(&seed) % 200);
        if (i % 3 == 0) {
            client_reset(fd);
        } else {
            close(fd);
        }
    }
    server_free(server);
    assert_true(accepted > 0);
}

static void test_answers_race_with_the_end(void **state)
{
    unsigned seed = 11;
    (void)state;
    for (int i = 0; i < RESTARTS; i++) {
        int fds[RESTART_CLIENTS];
        struct server *server = start_server();
        for (size_t j = 0; j < RESTART_CLIENTS; j++) {
            fds[j] = client_connect(server_port(server));
            assert_true(fds[j] >= 0);
            ask(fds[j], j % 2 ? "/answer" : "/stream", next_random(&seed) % 500, "");
        }
        usleep(next_random(&seed) % 1000);
        server_free(server);
        for (size_t j = 0; j < RESTART_CLIENTS; j++) {
            close(fds[j]);
        }
    }
}

/* ---- the promise about `gone` ---- */

struct slow_gone {
    struct exchange *exchange;
    _Atomic int asked;
    _Atomic int entered;
    _Atomic int returned;
};

static struct slow_gone slow;

static void go_slowly(void *context)
{
    struct slow_gone *gone = context;
    gone->entered = 1;
    usleep(50000);
    gone->returned = 1;
}

static void on_slow_request(struct exchange *exchange, void *context)
{
    slow.exchange = exchange_ref(exchange);
    exchange_on_gone(exchange, go_slowly, context);
    slow.asked = 1;
}

static void test_an_answer_waits_for_gone(void **state)
{
    char problem[256];
    struct server_options options = {
        .host = "127.0.0.1", .reactors = 1, .context = &slow, .request = on_slow_request};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct server *server = server_start(&options, problem, sizeof problem);
        assert_non_null(server);
        slow.asked = slow.entered = slow.returned = 0;
        int fd = client_connect(server_port(server));
        ask(fd, "/slow", 0, "");
        wait_for(&slow.asked, 1);
        client_reset(fd);
        wait_for(&slow.entered, 1);
        switch (i) {
        case 0:
            assert_int_equal(exchange_respond(slow.exchange, 200, NULL, "x", 1), ERR_CLOSED);
            break;
        case 1:
            exchange_stream_end(slow.exchange, NULL, 0);
            break;
        default:
            exchange_on_gone(slow.exchange, NULL, NULL);
            break;
        }
        assert_int_equal(slow.returned, 1);
        exchange_free(slow.exchange);
        server_free(server);
    }
}

UNIT_TEST(server_threads)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_many_clients, start_workers, end_workers),
        cmocka_unit_test_setup_teardown(test_answers_race_with_leaving, start_workers, end_workers),
        cmocka_unit_test_setup_teardown(test_answers_race_with_the_end, start_workers, end_workers),
        cmocka_unit_test(test_an_answer_waits_for_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
