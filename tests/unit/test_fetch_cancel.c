/* Fetches that end early: cancelled or out of time in every stage, alone and many at once. What
 * counts is seen from the other end: the socket is closed. The times are printed; the bound is
 * generous, but far below what a stage that cannot be interrupted would take. */
#include "call/parts.h"
#include "core/clock.h"
#include "core/limits.h"
#include "fake_names.h"
#include "loopback.h"
#include "net/fetch.h"
#include "net/lanes.h"
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>

/* ---- servers that stop half-way ---- */

static void serve_nothing(struct loopback *server, int client)
{
    loopback_await_close(server, client);
}

/* The first that a TLS client says; no answer. */
static void serve_half_a_handshake(struct loopback *server, int client)
{
    char hello[4096];
    if (recv(client, hello, sizeof hello, 0) > 0) {
        loopback_await_close(server, client);
    }
}

static void serve_half_a_head(struct loopback *server, int client)
{
    char request[4096];
    loopback_read(client, request, sizeof request);
    loopback_say(client, "HTTP/1.1 200 OK\r\nContent-");
    loopback_await_close(server, client);
}

static void serve_half_a_body(struct loopback *server, int client)
{
    char request[4096];
    loopback_read(client, request, sizeof request);
    loopback_say(client, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf");
    loopback_await_close(server, client);
}

static void serve_half_a_redirect(struct loopback *server, int client)
{
    char request[4096];
    loopback_read(client, request, sizeof request);
    loopback_say(client, "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 1000\r\n\r\nhalf");
    loopback_await_close(server, client);
}

/* ---- a fetch in a thread ---- */

struct job {
    const char *scheme;
    const char *host;
    int port;
    int64_t timeout_ms;
    struct call *call;
    pthread_t thread;
    int status;
    struct fetch_response response;
    int64_t ended_us;
};

static struct parts parts;

/* Closes the idle connections. */
static void forget_connections(void)
{
    net_free(parts.net);
    parts.net = net_new(false);
    assert_non_null(parts.net);
}

static void *run_job(void *argument)
{
    struct job *job = argument;
    char url[200];
    snprintf(url, sizeof url, "%s://%s:%d/", job->scheme, job->host, job->port);
    struct url parsed;
    struct fetch_request request = {.url = &parsed, .timeout_ms = job->timeout_ms};
    job->status = fetch_parse(job->call, url, &parsed, &job->response);
    if (job->status == OK) {
        job->status = fetch_run(job->call, &request, &job->response);
    }
    job->ended_us = clock_now_us();
    return NULL;
}

static void start_job(struct job *job)
{
    struct call_options options = {.timeout_ms = 60000, .parts = &parts};
    job->call = call_new(&options);
    assert_non_null(job->call);
    assert_int_equal(pthread_create(&job->thread, NULL, run_job, job), 0);
}

static void print_time(const char *what, int64_t start_us, int64_t end_us)
{
    print_message("%s after %.2f ms\n", what, (double)(end_us - start_us) / 1000);
}

static void sleep_ms(long time)
{
    nanosleep(&(struct timespec){.tv_sec = time / 1000, .tv_nsec = time % 1000 * 1000000}, NULL);
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder)) {
        count++;
    }
    closedir(folder);
    return count;
}

/* ---- cancelled ---- */

static void ends_in_every_stage_of_a_connection(void **state)
{
    (void)state;
    static const struct {
        const char *stage;
        const char *scheme;
        loopback_serve serve;
    } CASES[] = {
        {"TLS handshake", "https", serve_half_a_handshake},
        {"answer", "http", serve_nothing},
        {"headers", "http", serve_half_a_head},
        {"body", "http", serve_half_a_body},
        {"redirect", "http", serve_half_a_redirect},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct loopback *server = loopback_start("127.0.0.1", CASES[i].serve);
        struct job job = {
            .scheme = CASES[i].scheme, .host = "a.at-127-0-0-1.test", .port = server->port};
        start_job(&job);
        loopback_await_stuck(server, 1);
        int64_t start = clock_now_us();
        call_cancel(job.call);
        pthread_join(job.thread, NULL);
        int64_t closed = loopback_await_closed(server, 1);
        assert_int_equal(job.status, ERR_CANCELLED);
        print_message("%s: ", CASES[i].stage);
        print_time("over", start, job.ended_us);
        print_time("  closed at the other end", start, closed);
        call_free(job.call);
        loopback_stop(server);
    }
    forget_connections();
}

static void ends_while_a_name_is_looked_up(void **state)
{
    (void)state;
    struct job job = {.scheme = "http", .host = "stuck.test", .port = 80};
    start_job(&job);
    fake_names_await(1);
    int64_t start = clock_now_us();
    call_cancel(job.call);
    pthread_join(job.thread, NULL);
    assert_int_equal(job.status, ERR_CANCELLED);
    print_time("name look-up: over", start, job.ended_us);
    call_free(job.call);
    fake_names_release();
}

/* The kernel answers connections until the backlog is full and then keeps silent. */
static void fill_backlog(int port, int *clients, size_t count)
{
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, "127.0.0.1", &server.sin_addr);
    for (size_t i = 0; i < count; i++) {
        clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(clients[i] >= 0);
        connect(clients[i], (struct sockaddr *)&server, sizeof server);
    }
}

static void ends_while_connecting(void **state)
{
    (void)state;
    int clients[4];
    int port;
    int listener = loopback_listen("127.0.0.1", 0, &port);
    fill_backlog(port, clients, COUNT(clients));
    struct job job = {.scheme = "http", .host = "127.0.0.1", .port = port};
    start_job(&job);
    sleep_ms(100); /* nothing tells from outside that it has begun; too early would pass as well */
    int64_t start = clock_now_us();
    call_cancel(job.call);
    pthread_join(job.thread, NULL);
    assert_int_equal(job.status, ERR_CANCELLED);
    print_time("connect: over", start, job.ended_us);
    call_free(job.call);
    for (size_t i = 0; i < COUNT(clients); i++) {
        close(clients[i]);
    }
    close(listener);
    forget_connections();
}

static void call_that_is_over_starts_nothing(void **state)
{
    (void)state;
    struct loopback *server = loopback_start("127.0.0.1", serve_nothing);
    struct job job = {.scheme = "http", .host = "127.0.0.1", .port = server->port};
    struct call_options options = {.timeout_ms = 60000, .parts = &parts};
    job.call = call_new(&options);
    call_cancel(job.call);
    run_job(&job);
    assert_int_equal(job.status, ERR_CANCELLED);
    assert_int_equal(loopback_connections(server), 0);
    call_free(job.call);
    loopback_stop(server);
}

#define MANY 50

static void many_end_at_once(void **state)
{
    (void)state;
    static struct job jobs[MANY];
    forget_connections();
    size_t before = open_descriptors();
    struct loopback *server = loopback_start("127.0.0.1", serve_half_a_handshake);
    for (size_t i = 0; i < MANY; i++) {
        jobs[i] = (struct job){.scheme = i % 2 ? "https" : "http",
                               .host = i % 3 ? "a.at-127-0-0-1.test" : "127.0.0.1",
                               .port = server->port};
        start_job(&jobs[i]);
    }
    loopback_await_stuck(server, MANY);
    int64_t start = clock_now_us();
    for (size_t i = 0; i < MANY; i++) {
        call_cancel(jobs[i].call);
    }
    int64_t last = start;
    for (size_t i = 0; i < MANY; i++) {
        pthread_join(jobs[i].thread, NULL);
        assert_int_equal(jobs[i].status, ERR_CANCELLED);
        call_free(jobs[i].call);
        last = jobs[i].ended_us > last ? jobs[i].ended_us : last;
    }
    int64_t closed = loopback_await_closed(server, MANY);
    print_time("50 at once: the last over", start, last);
    print_time("  the last closed at the other end", start, closed);
    forget_connections();
    loopback_stop(server);
    assert_int_equal(open_descriptors(), before);
}

/* ---- out of time ---- */

static void own_timeout_is_a_failure(void **state)
{
    (void)state;
    static const loopback_serve SERVERS[] = {serve_nothing, serve_half_a_head, serve_half_a_body};
    for (size_t i = 0; i < COUNT(SERVERS); i++) {
        struct loopback *server = loopback_start("127.0.0.1", SERVERS[i]);
        struct job job = {
            .scheme = "http", .host = "127.0.0.1", .port = server->port, .timeout_ms = 1000};
        start_job(&job);
        pthread_join(job.thread, NULL);
        assert_int_equal(job.status, ERR_FAILED);
        assert_int_equal(job.response.failure, FETCH_TIMEOUT);
        assert_string_equal(job.response.body, SERVERS[i] == serve_half_a_body ? "half" : "");
        loopback_await_closed(server, 1);
        call_free(job.call);
        loopback_stop(server);
    }
    struct job job = {.scheme = "http", .host = "stuck.test", .port = 80, .timeout_ms = 50};
    start_job(&job);
    pthread_join(job.thread, NULL);
    assert_int_equal(job.response.failure, FETCH_TIMEOUT);
    call_free(job.call);
    fake_names_release();
    forget_connections();
}

static void deadline_is_the_calls(void **state)
{
    (void)state;
    struct loopback *server = loopback_start("127.0.0.1", serve_half_a_body);
    struct job job = {.scheme = "http", .host = "127.0.0.1", .port = server->port};
    struct call_options options = {.timeout_ms = 1000, .parts = &parts};
    job.call = call_new(&options);
    assert_non_null(job.call);
    run_job(&job);
    assert_int_equal(job.status, ERR_DEADLINE);
    loopback_await_closed(server, 1);
    call_free(job.call);
    loopback_stop(server);
    forget_connections();
}

UNIT_TEST(fetch_cancel)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_in_every_stage_of_a_connection),
        cmocka_unit_test(ends_while_a_name_is_looked_up),
        cmocka_unit_test(ends_while_connecting),
        cmocka_unit_test(call_that_is_over_starts_nothing),
        cmocka_unit_test(many_end_at_once),
        cmocka_unit_test(own_timeout_is_a_failure),
        cmocka_unit_test(deadline_is_the_calls),
    };
    /* Nothing of the machine's own ways out. libcurl reads a bundle of certificates of one's own
     * anew for each of many connections, which takes longer than any cancelling. */
    static const char *const WAYS[] = {"http_proxy",    "all_proxy",   "ALL_PROXY",
                                       "https_proxy",   "HTTPS_PROXY", "SSL_CERT_FILE",
                                       "CURL_CA_BUNDLE"};
    for (size_t i = 0; i < COUNT(WAYS); i++) {
        unsetenv(WAYS[i]);
    }
    parts.net = net_new(false);
    int failed = cmocka_run_group_tests_name("fetch_cancel", tests, NULL, NULL);
    net_free(parts.net);
    return failed;
}
