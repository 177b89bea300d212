/* The life of the HTTP server's connections: time limits, clients that leave, too many of them, and
 * the end. */
#include "server_fixture.h"
#include "unit.h"

#include <linux/filter.h>
#include <sys/resource.h>

/* ---- time ---- */

#define SHORT_MS 100
#define HEAD_MS  2000 /* short, and yet enough for a head that comes at once */

/* Each case shortens one limit only, so that a busy machine cannot make another one strike first.
 */
static const struct limited {
    struct server_options options;
    const char *part;
    int status; /* 0: the connection closes without a word */
    int gone;
} LIMITED[] = {
    {{.head_ms = SHORT_MS}, "", 0, 0},
    {{.head_ms = SHORT_MS}, "GET /hel", 408, 0},
    {{.body_ms = SHORT_MS}, POST("/echo") "Content-Length: 4000000\r\n\r\nab", 408, 0},
    {{.body_ms = SHORT_MS}, POST("/echo") "Transfer-Encoding: chunked\r\n\r\n3fffff\r\nab", 408, 0},
    {{.body_ms = SHORT_MS}, POST("/watched") "Content-Length: 5\r\n\r\nab", 408, 1},
};

static void test_time_limits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(LIMITED); i++) {
        server = start_with(LIMITED[i].options);
        int fd = enter();
        client_send(fd, LIMITED[i].part);
        if (LIMITED[i].status) {
            client_expect(fd, LIMITED[i].status, NULL);
        }
        assert_true(client_ended(fd));
        assert_int_equal(seen.gone, LIMITED[i].gone);
        close(fd);
        server = server_free(server);
    }
}

static int start_short_idle(void **state)
{
    (void)state;
    server = start_with((struct server_options){.idle_ms = SHORT_MS});
    return 0;
}

/* A client that has asked something may be silent for longer before it asks again. */
static void test_idle_time(void **state)
{
    int fd = enter();
    int silent = enter();
    (void)state;
    client_send(fd, GET("/hello"));
    client_expect(fd, 200, "hello ");
    assert_true(client_ended(fd));
    client_send(silent, GET("/hello"));
    client_expect(silent, 200, "hello ");
    close(fd);
    close(silent);
}

/* A byte now and then does not buy time. */
static void test_drops_do_not_extend_the_limits(void **state)
{
    (void)state;
    for (size_t i = 1; i < 4; i++) {
        char byte;
        int64_t until = clock_now_ms() + PATIENCE_S * 1000;
        server = start_with(LIMITED[i].options);
        int fd = enter();
        client_send(fd, LIMITED[i].part);
        while (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && clock_now_ms() < until) {
            client_send(fd, "x");
            usleep(5000);
        }
        assert_true(clock_now_ms() < until);
        client_expect(fd, 408, NULL);
        close(fd);
        server = server_free(server);
    }
}

static int start_impatient(void **state)
{
    (void)state;
    server = start_with(
        (struct server_options){.head_ms = HEAD_MS, .body_ms = SHORT_MS, .write_ms = SHORT_MS});
    return 0;
}

/* An exchange that is being worked on has all the time it wants. */
static void test_work_is_not_hurried(void **state)
{
    int fd = enter();
    (void)state;
    client_send(fd, GET("/held"));
    wait_for(&seen.requests, 1);
    usleep((HEAD_MS + SHORT_MS) * 1000);
    seen.release = 1;
    client_expect(fd, 200, "held");
    assert_int_equal(seen.gone, 0);
    close(fd);
}

static void test_client_that_does_not_read(void **state)
{
    int fd = enter();
    (void)state;
    client_send(fd, GET("/flood"));
    wait_for(&seen.gone, 1);
    wait_for(&seen.closed, 1);
    wait_for_connections(0);
    close(fd);
}

/* What a slow client has not taken is bounded. */
static void test_unsent_bytes_are_bounded(void **state)
{
    int fd = enter();
    (void)state;
    client_send(fd, GET("/flood"));
    wait_for(&seen.limited, 1);
    assert_int_equal(seen.gone, 0);
    close(fd);
    wait_for(&seen.gone, 1);
    wait_for(&seen.closed, 1);
}

static int start_writing_limit(void **state)
{
    (void)state;
    server = start_with((struct server_options){.write_ms = 1000});
    return 0;
}

/* The limit is about bytes that are not taken; a stream that has none to give may be quiet. */
static void test_quiet_stream(void **state)
{
    const size_t framed = strlen("10000\r\n") + PAUSE_PIECE + strlen("\r\n");
    char text[KIB(1)];
    struct buf pieces;
    int fd = enter();
    (void)state;
    client_send(fd, GET("/pause"));
    buf_init(&pieces, MIB(8));
    assert_true(client_read_until(fd, "\r\n\r\n", text, sizeof text - 1));
    assert_true(client_read_bytes(fd, &pieces, PAUSE_PIECES * framed));
    usleep(2500000);
    assert_int_equal(seen.gone, 0);
    seen.release = 1;
    assert_true(client_read_until(fd, "\r\n\r\n", text, sizeof text - 1));
    assert_string_equal(text, "3\r\nend\r\n0\r\n\r\n");
    buf_done(&pieces);
    close(fd);
}

/* A client whose machine vanished without a word: its end of the connection answers nothing. */
static void test_client_that_vanished(void **state)
{
    struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog all = {.len = 1, .filter = &nothing};
    char text[KIB(1)];
    int fd = enter();
    (void)state;
    client_send(fd, GET("/beat"));
    assert_true(client_read_until(fd, "\r\n\r\n", text, sizeof text - 1));
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all), 0);
    wait_for(&seen.gone, 1);
    wait_for_connections(0);
    close(fd);
}

static void test_timers(void **state)
{
    int fd = enter();
    (void)state;
    client_send(fd, GET("/timer") GET("/no-timer"));
    client_expect(fd, 200, "first second");
    usleep(60000);
    client_expect(fd, 200, NULL);
    client_send(fd, GET("/no-timer-either") GET("/held"));
    client_expect(fd, 200, "in time");
    usleep(60000);
    seen.release = 1;
    client_expect(fd, 200, "held");
    close(fd);
}

/* ---- clients that leave ---- */

static void leave_by_fin(int fd)
{
    shutdown(fd, SHUT_WR);
}

static void leave_by_close(int fd)
{
    close(fd);
}

static void test_leaving(void **state)
{
    static void (*const ways[])(int fd) = {leave_by_fin, client_reset, leave_by_close};
    static const char *const requests[] = {GET("/never"), GET("/held"), GET("/never") GET("/hello"),
                                           POST("/watched") "Content-Length: 5\r\n\r\nab"};
    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++) {
        for (size_t j = 0; j < COUNT(requests); j++) {
            forget();
            int fd = enter();
            client_send(fd, requests[j]);
            wait_for(&seen.heads, 1);
            ways[i](fd);
            wait_for(&seen.gone, 1);
            wait_for_connections(0);
            seen.release = 1;
            wait_for(&seen.workers, j == 1);
            assert_int_equal(seen.closed, j == 1);
            assert_int_equal(seen.gone, 1);
            if (ways[i] == leave_by_fin) {
                close(fd);
            }
        }
    }
}

/* The FIN comes with the request: it is handled, and only what is not answered at once is given up.
 */
static void test_request_and_fin_together(void **state)
{
    int fd = enter();
    (void)state;
    client_send(fd, GET("/hello") POST("/echo") "Content-Length: 2\r\n\r\nok");
    shutdown(fd, SHUT_WR);
    client_expect(fd, 200, "hello ");
    client_expect(fd, 200, "ok");
    assert_true(client_ended(fd));
    close(fd);
    fd = enter();
    client_send(fd, GET("/big"));
    shutdown(fd, SHUT_WR);
    client_expect(fd, 200, NULL);
    assert_true(client_ended(fd));
    close(fd);
    fd = enter();
    client_send(fd, GET("/never"));
    shutdown(fd, SHUT_WR);
    wait_for(&seen.gone, 1);
    assert_true(client_ended(fd));
    close(fd);
}

static int start_single(void **state)
{
    (void)state;
    server = start_with((struct server_options){.reactors = 1});
    return 0;
}

/* The answer was given and the FIN came while the reactor was busy: it is sent and not given up. */
static void test_fin_after_the_answer(void **state)
{
    int fd = enter();
    int other = enter();
    (void)state;
    client_send(fd, GET("/held"));
    wait_for(&seen.requests, 1);
    client_send(other, GET("/block"));
    wait_for(&seen.requests, 2);
    shutdown(fd, SHUT_WR);
    seen.release = 1;
    client_expect(fd, 200, "held");
    client_expect(other, 200, "blocked");
    assert_int_equal(seen.gone, 0);
    close(fd);
    close(other);
}

/* ---- many, and the end ---- */

static int start_small(void **state)
{
    (void)state;
    server = start_with((struct server_options){.reactors = 2, .connections = 4});
    return 0;
}

static void test_too_many_connections(void **state)
{
    struct reply reply;
    char value[128];
    int first = enter();
    int second = enter();
    (void)state;
    wait_for_connections(2);
    int third = enter();
    client_send(third, GET("/hello"));
    assert_true(client_read(third, &reply, false));
    assert_int_equal(reply.status, 503);
    assert_non_null(reply_header(&reply, "Retry-After", value));
    assert_non_null(strstr(reply.body.data, "\"BUSY\""));
    assert_true(client_ended(third));
    buf_done(&reply.body);
    close(third);
    close(first);
    wait_for_connections(1);
    third = enter();
    client_send(third, GET("/hello"));
    client_expect(third, 200, "hello ");
    client_send(second, GET("/hello"));
    client_expect(second, 200, "hello ");
    close(second);
    close(third);
}

/* What must always get in does: here that is /health. */
static void test_let_in(void **state)
{
    int fds[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        fds[i] = enter();
        wait_for_connections(i + 1);
    }
    client_send(fds[2], GET("/health"));
    client_expect(fds[2], 404, NULL);
    assert_true(client_ended(fds[2]));
    for (size_t i = 0; i < 3; i++) {
        close(fds[i]);
    }
}

/* Who says nothing on a surplus connection makes room for the next one. */
static void test_silent_surplus(void **state)
{
    enum { MANY = 2 + 64 + 10 };
    int fds[MANY];
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        fds[i] = enter();
    }
    assert_true(client_ended(fds[2]));
    client_send(fds[MANY - 1], GET("/health"));
    client_expect(fds[MANY - 1], 404, NULL);
    client_send(fds[0], GET("/hello"));
    client_expect(fds[0], 200, "hello ");
    for (size_t i = 0; i < MANY; i++) {
        close(fds[i]);
    }
}

static bool any_is_proxy(void *context, const char *peer)
{
    (void)context;
    return strcmp(peer, "127.0.0.1") == 0;
}

static int start_behind_a_proxy(void **state)
{
    (void)state;
    server = start_with(
        (struct server_options){.reactors = 1, .connections = 16, .is_proxy = any_is_proxy});
    return 0;
}

/* Connections of a proxy are those of many clients: they have no share. Where they get short, the
 * one that has been idle longest goes, and no other. */
static void test_idle_ones_make_room(void **state)
{
    int fds[20];
    (void)state;
    for (size_t i = 0; i < COUNT(fds); i++) {
        fds[i] = enter();
        client_send(fds[i], i == 0 ? GET("/never") : GET("/hello"));
        if (i > 0) {
            client_expect(fds[i], 200, "hello ");
        }
    }
    wait_for_connections(14);
    for (size_t i = 0; i < COUNT(fds); i++) {
        if (i >= 1 && i <= 6) {
            assert_true(client_ended(fds[i]));
        } else if (i > 0) {
            client_send(fds[i], GET("/hello"));
            client_expect(fds[i], 200, "hello ");
        }
        close(fds[i]);
    }
    wait_for(&seen.gone, 1);
}

static int64_t processor_time_us(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
           used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

/* Without descriptors the server neither spins nor stops for good. */
static void test_no_descriptors_left(void **state)
{
    struct rlimit before;
    int fd = client_socket();
    int lowest = dup(fd);
    (void)state;
    close(lowest);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit none = {.rlim_cur = (rlim_t)lowest, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool joined = client_join(fd, server_port(server)) && client_send(fd, GET("/hello"));
    int64_t spent_us = -processor_time_us();
    usleep(400000);
    spent_us += processor_time_us();
    size_t connections = server_connections(server);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(joined);
    assert_int_equal(connections, 0);
    assert_true(spent_us < 50000);
    client_expect(fd, 200, "hello ");
    close(fd);
}

static void test_stop_accepting(void **state)
{
    struct reply reply;
    char value[128];
    int idle = enter();
    int busy = enter();
    (void)state;
    client_send(idle, GET("/hello"));
    client_expect(idle, 200, "hello ");
    client_send(busy, GET("/held"));
    wait_for(&seen.requests, 2);
    server_stop_accepting(server);
    assert_true(client_ended(idle));
    wait_for_connections(1);
    int64_t until = clock_now_ms() + PATIENCE_S * 1000;
    int fd = client_connect(server_port(server));
    while (fd >= 0 && clock_now_ms() < until) {
        close(fd);
        fd = client_connect(server_port(server));
    }
    assert_int_equal(fd, -1);
    seen.release = 1;
    assert_true(client_read(busy, &reply, false));
    assert_string_equal(reply.body.data, "held");
    assert_string_equal(reply_header(&reply, "Connection", value), "close");
    assert_true(client_ended(busy));
    wait_for(&seen.workers, 1);
    buf_done(&reply.body);
    close(idle);
    close(busy);
    wait_for_connections(0);
}

/* A stream that began before the stop promised to keep the connection; it ends all the same. */
static void test_stop_during_a_stream(void **state)
{
    char byte;
    int fd = enter();
    (void)state;
    client_send(fd, GET("/pause"));
    assert_int_equal(recv(fd, &byte, 1, MSG_PEEK), 1);
    server_stop_accepting(server);
    seen.release = 1;
    client_expect(fd, 200, NULL);
    assert_true(client_ended(fd));
    close(fd);
    wait_for_connections(0);
}

/* Exchanges outlive the server: answers to them go nowhere. */
static void test_end_with_open_exchanges(void **state)
{
    int held = enter();
    int never = enter();
    int half = enter();
    int flood = enter();
    (void)state;
    client_send(held, GET("/held"));
    client_send(never, GET("/never"));
    client_send(half, "GET /hel");
    client_send(flood, GET("/flood"));
    wait_for(&seen.requests, 3);
    server = server_free(server);
    wait_for(&seen.gone, 3);
    assert_true(client_ended(never));
    seen.release = 1;
    wait_for(&seen.workers, 2);
    assert_int_equal(seen.closed, 2);
    close(held);
    close(never);
    close(half);
    close(flood);
}

static void test_port_that_is_taken(void **state)
{
    char problem[256] = "";
    char expected[128];
    struct server_options options = {
        .host = "127.0.0.1", .port = server_port(server), .request = on_request};
    (void)state;
    assert_null(server_start(&options, problem, sizeof problem));
    snprintf(expected, sizeof expected,
             "cannot listen on 127.0.0.1 port %u: ", (unsigned)server_port(server));
    assert_int_equal(strncmp(problem, expected, strlen(expected)), 0);
    options.host = "not an address";
    assert_null(server_start(&options, problem, sizeof problem));
    assert_int_equal(strncmp(problem, "cannot listen on not an address: ", 33), 0);
}

#define WITH(start_function, test) cmocka_unit_test_setup_teardown(test, start_function, end)

UNIT_TEST(server_life)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_limits),
        cmocka_unit_test(test_drops_do_not_extend_the_limits),
        WITH(start_impatient, test_work_is_not_hurried),
        WITH(start_impatient, test_client_that_does_not_read),
        WITH(start, test_unsent_bytes_are_bounded),
        WITH(start_writing_limit, test_quiet_stream),
        WITH(start_impatient, test_client_that_vanished),
        WITH(start, test_timers),
        WITH(start, test_leaving),
        WITH(start, test_request_and_fin_together),
        WITH(start_single, test_fin_after_the_answer),
        WITH(start_small, test_too_many_connections),
        WITH(start_small, test_let_in),
        WITH(start_small, test_silent_surplus),
        WITH(start_behind_a_proxy, test_idle_ones_make_room),
        WITH(start_short_idle, test_idle_time),
        WITH(start, test_no_descriptors_left),
        WITH(start, test_stop_accepting),
        WITH(start, test_stop_during_a_stream),
        WITH(start, test_end_with_open_exchanges),
        WITH(start, test_port_that_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
