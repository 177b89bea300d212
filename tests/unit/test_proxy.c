/* The browser's filtering proxy: what it understands, what it hands on, and what it never connects
 * to, seen from the target's side. */
#include "browser/proxy.h"
#include "core/limits.h"
#include "core/status.h"
#include "fake_names.h"
#include "http_client.h"
#include "loopback.h"
#include "text/base64.h"
#include "unit.h"

#define BIG_BYTES MIB(8)

/* ---- heads ---- */

static void requests(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int verdict; /* 1: taken whole, 0: more is wanted, else minus a status */
        const char *host;
        int port;
        const char *path;
    } CASES[] = {
        {"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n", 1, "example.org", 443, ""},
        {"CONNECT EXAMPLE.org.:80 HTTP/1.0\r\n\r\n", 1, "example.org", 80, ""},
        {"CONNECT [::1]:443 HTTP/1.1\r\n\r\n", 1, "::1", 443, ""},
        {"CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n", 1, "127.0.0.1", 443, ""},
        {"GET http://example.org HTTP/1.1\r\n\r\n", 1, "example.org", 80, ""},
        {"GET http://example.org:81/a?b=c HTTP/1.1\r\n\r\n", 1, "example.org", 81, "/a?b=c"},
        {"GET HTTP://example.org?q HTTP/1.1\r\n\r\n", 1, "example.org", 80, "?q"},
        {"GET http://017700000001/ HTTP/1.1\r\n\r\n", 1, "127.0.0.1", 80, "/"},
        {"GET http://example.org/ HTTP/1.1\r\nHost: x\r\n", 0, NULL, 0, NULL},
        {"", 0, NULL, 0, NULL},
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", -400, NULL, 0, NULL},
        {"GET https://example.org/ HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"GET ftp://example.org/ HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"GET http://user:word@example.org/ HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"GET http:///x HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"CONNECT example.org HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"CONNECT example.org: HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"CONNECT example.org:0 HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"CONNECT example.org:65536 HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"CONNECT example.org:443x HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"CONNECT exa mple.org:443 HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"GET http://example.org/ HTTP/2.0\r\n\r\n", -400, NULL, 0, NULL},
        {"GET http://example.org/\r\n\r\n", -400, NULL, 0, NULL},
        {"G(T http://example.org/ HTTP/1.1\r\n\r\n", -400, NULL, 0, NULL},
        {"GET http://example.org/ HTTP/1.1\r\nno colon\r\n\r\n", -400, NULL, 0, NULL},
        {"GET http://example.org/ HTTP/1.1\r\nA: b\n: c\r\n\r\n", -400, NULL, 0, NULL},
        {"GET http://example.org/ HTTP/1.1\r\n folded\r\n\r\n", -400, NULL, 0, NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct proxy_request request;
        int taken = proxy_read_request(CASES[i].text, strlen(CASES[i].text), &request);
        print_message("%zu: %.40s\n", i, CASES[i].text);
        if (CASES[i].verdict != 1) {
            assert_int_equal(taken, CASES[i].verdict);
            continue;
        }
        assert_int_equal(taken, strlen(CASES[i].text));
        assert_string_equal(request.host, CASES[i].host);
        assert_int_equal(request.port, CASES[i].port);
        assert_int_equal(request.path.length, strlen(CASES[i].path));
        assert_memory_equal(request.path.data, CASES[i].path, request.path.length);
    }
}

static void heads_have_a_ceiling(void **state)
{
    (void)state;
    struct proxy_request request;
    struct buf text;
    buf_init(&text, MIB(1));
    buf_puts(&text, "GET http://example.org/ HTTP/1.1\r\nA: ");
    while (text.length <= LIMIT_HTTP_HEAD_BYTES) {
        buf_puts(&text, "xxxxxxxxxxxxxxxx");
    }
    assert_int_equal(proxy_read_request(text.data, text.length, &request), -431);
    buf_puts(&text, "\r\n\r\n");
    assert_int_equal(proxy_read_request(text.data, text.length, &request), -431);
    buf_done(&text);
}

static void request_for_the_server(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *written;
    } CASES[] = {
        {"GET http://a.test:81/p?q HTTP/1.1\r\nHost: b.test\r\nProxy-Authorization: Basic x\r\n"
         "Proxy-Connection: keep-alive\r\nCookie: c=d\r\nUpgrade: h2c\r\n\r\n",
         "GET /p?q HTTP/1.1\r\nHost: a.test:81\r\nCookie: c=d\r\nConnection: close\r\n\r\n"},
        {"POST http://a.test?q HTTP/1.0\r\nContent-Length: 1\r\nconnection: TE\r\n\r\nx",
         "POST /?q HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\nConnection: close\r\n\r\n"},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct proxy_request request;
        struct buf out;
        buf_init(&out, KIB(64));
        assert_true(proxy_read_request(CASES[i].text, strlen(CASES[i].text), &request) > 0);
        assert_int_equal(proxy_write_request(&out, &request), OK);
        assert_string_equal(out.data, CASES[i].written);
        buf_done(&out);
    }
}

static void answer_for_the_browser(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *written; /* NULL: not an answer; empty: more is wanted */
        bool is_interim;
    } CASES[] = {
        {"HTTP/1.1 200 OK\r\nKeep-Alive: 5\r\nConnection: keep-alive\r\nA: b\r\n\r\nbody",
         "HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n\r\n", false},
        {"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 2",
         "HTTP/1.1 103 Early\r\nLink: x\r\nConnection: close\r\n\r\n", true},
        {"HTTP/1.0 404\r\nstrange line\r\n\r\n",
         "HTTP/1.0 404\r\nstrange line\r\nConnection: close\r\n\r\n", false},
        {"HTTP/1.1 200 OK\r\nA: b\r\n", "", false},
        {"HT", "", false},
        {"<html>", NULL, false},
        {"HTTP/1.1\r\n\r\n", NULL, false},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        bool is_interim;
        struct buf out;
        buf_init(&out, KIB(64));
        int taken = proxy_write_answer(&out, CASES[i].text, strlen(CASES[i].text), &is_interim);
        if (!CASES[i].written) {
            assert_true(taken < 0);
        } else if (!*CASES[i].written) {
            assert_int_equal(taken, 0);
        } else {
            assert_true(taken > 0);
            assert_string_equal(out.data, CASES[i].written);
            assert_int_equal(is_interim, CASES[i].is_interim);
        }
        buf_done(&out);
    }
}

/* ---- the proxy and a target ---- */

static int allowed_port;

/* Opens one port of one address, and counts as closed everything else. */
static int allow(void *context, const char *host, const struct sockaddr *address)
{
    const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)address;
    (void)context;
    (void)host;
    return address->sa_family == AF_INET && ntohs(ipv4->sin_port) == allowed_port &&
                   ntohl(ipv4->sin_addr.s_addr) == INADDR_LOOPBACK
               ? OK
               : ERR_INVALID;
}

/* Answers a request of HTTP with what it got; echoes what is none. */
static void serve(struct loopback *server, int client)
{
    char data[4096];
    char head[128];
    (void)server;
    ssize_t got = recv(client, data, sizeof data, 0);
    if (got > 5 && memcmp(data, "GET /", 5) == 0) {
        snprintf(head, sizeof head,
                 "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nConnection: keep-alive\r\n"
                 "Content-Length: %zd\r\n\r\n",
                 got);
        loopback_say(client, head);
        loopback_send(client, data, (size_t)got);
        return;
    }
    while (got > 0 && loopback_send(client, data, (size_t)got)) {
        got = recv(client, data, sizeof data, 0);
    }
}

struct world {
    struct proxy *proxy;
    struct proxy_access access;
    struct loopback *target;
};

static int make_world(void **state)
{
    struct world *world = calloc(1, sizeof *world);

    char problem[200];
    assert_non_null(world);
    world->proxy = proxy_start(NULL, allow, NULL, problem, sizeof problem);
    assert_non_null(world->proxy);
    proxy_admit(world->proxy, &world->access);
    world->target = loopback_start("127.0.0.1", serve);
    allowed_port = world->target->port;
    *state = world;
    return 0;
}

static int end_world(void **state)
{
    struct world *world = *state;
    assert_null(proxy_free(world->proxy));
    loopback_stop(world->target);
    free(world);
    return 0;
}

static void credentials(const struct world *world, char *out, size_t size)
{
    struct arena *arena = arena_new(KIB(4));
    char pair[100];
    snprintf(pair, sizeof pair, "%s:%s", world->access.user, world->access.password);
    snprintf(out, size, "Proxy-Authorization: Basic %s\r\n",
             base64_encode(arena, pair, strlen(pair)));
    arena_free(arena);
}

/* Sends "LINE HTTP/1.1" with our credentials; the socket. */
static int ask(const struct world *world, const char *line)
{
    char authorization[200];
    char text[1024];
    credentials(world, authorization, sizeof authorization);
    int fd = client_connect(proxy_port(world->proxy));
    assert_true(fd >= 0);
    snprintf(text, sizeof text, "%s HTTP/1.1\r\nHost: x\r\n%s\r\n", line, authorization);
    assert_true(client_send_bytes(fd, text, strlen(text)));
    return fd;
}

/* All that comes until the connection ends. */
static void read_all(int fd, char *out, size_t size)
{
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length + 1 < size) {
        got = recv(fd, out + length, size - 1 - length, 0);
        length += got > 0 ? (size_t)got : 0;
    }
    out[length] = '\0';
    close(fd);
}

/* Reads the proxy's word that the tunnel stands, and no further. */
static void read_agreement(int fd)
{
    static const char WANTED[] = "HTTP/1.1 200 OK\r\n\r\n";
    char got[sizeof WANTED] = "";
    assert_int_equal(recv(fd, got, sizeof WANTED - 1, MSG_WAITALL), sizeof WANTED - 1);
    assert_string_equal(got, WANTED);
}

static void strangers_are_refused(void **state)
{
    static const char *const HEADERS[] = {"", "Proxy-Authorization: Basic Zm9yYWdlOng=\r\n",
                                          "Proxy-Authorization:\r\n",
                                          "Authorization: Basic Zm9yYWdlOng=\r\n"};
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(HEADERS); i++) {
        char text[512];
        char answer[1024];
        int fd = client_connect(proxy_port(world->proxy));
        snprintf(text, sizeof text, "GET http://127.0.0.1:%d/ HTTP/1.1\r\n%s\r\n", allowed_port,
                 HEADERS[i]);
        assert_true(client_send_bytes(fd, text, strlen(text)));
        read_all(fd, answer, sizeof answer);
        assert_non_null(strstr(answer, "HTTP/1.1 407 "));
        assert_non_null(strstr(answer, "Proxy-Authenticate: Basic"));
    }
    assert_int_equal(loopback_connections(world->target), 0);
}

static void refusals(void **state)
{
    static const struct {
        const char *line; /* %d: the port that is open at 127.0.0.1 */
        int status;
    } CASES[] = {
        {"GET http://127.0.0.1:1/", 403},
        {"GET http://127.0.0.2:%d/", 403},
        {"GET http://[::1]:%d/", 403},
        {"GET http://[::ffff:127.0.0.1]:%d/", 403},
        {"GET http://10.0.0.1:%d/", 403},
        {"GET http://169.254.169.254/latest/meta-data/", 403},
        {"GET http://x.at-10-0-0-1.test:%d/", 403},
        {"GET http://two.test:%d/", 403},
        {"GET http://mixed.test:%d/", 403},
        {"CONNECT 127.0.0.1:1", 403},
        {"CONNECT 127.0.0.2:%d", 403},
        {"CONNECT 0x7f000002:%d", 403},
        {"CONNECT [::1]:%d", 403},
        {"CONNECT x.at-192-168-0-1.test:%d", 403},
        {"CONNECT nothing.test:%d", 502},
        {"GET http://empty.test:%d/", 502},
        {"GET /", 400},
        {"GET https://127.0.0.1:%d/", 400},
        {"CONNECT 127.0.0.1", 400},
    };
    struct world *world = *state;
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char line[256];
        char answer[1024];
        char wanted[64];
        const char *number = strstr(CASES[i].line, "%d");
        size_t before = number ? (size_t)(number - CASES[i].line) : strlen(CASES[i].line);
        snprintf(line, sizeof line, "%.*s", (int)before, CASES[i].line);
        if (number) {
            snprintf(line + before, sizeof line - before, "%d%s", allowed_port, number + 2);
        }
        read_all(ask(world, line), answer, sizeof answer);
        snprintf(wanted, sizeof wanted, "HTTP/1.1 %d ", CASES[i].status);
        print_message("%s\n", line);
        assert_int_equal(strncmp(answer, wanted, strlen(wanted)), 0);
        assert_non_null(strstr(answer, world->access.mark));
    }
    assert_int_equal(loopback_connections(world->target), 0);
}

static void host_that_does_not_answer(void **state)
{
    struct world *world = *state;
    char line[128];
    char answer[1024];
    int port;
    int listener = loopback_listen("127.0.0.1", 1, &port);
    close(listener);
    allowed_port = port;
    snprintf(line, sizeof line, "CONNECT 127.0.0.1:%d", port);
    read_all(ask(world, line), answer, sizeof answer);
    assert_int_equal(strncmp(answer, "HTTP/1.1 502 ", 13), 0);
}

static void plain_requests(void **state)
{
    struct world *world = *state;
    char line[128];
    char answer[2048];
    snprintf(line, sizeof line, "GET http://x.at-127-0-0-1.test:%d/page?q", allowed_port);
    read_all(ask(world, line), answer, sizeof answer);
    assert_non_null(strstr(answer, "HTTP/1.1 103 Early\r\n"));
    assert_non_null(strstr(answer, "\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "));
    assert_null(strstr(answer, "keep-alive"));
    assert_non_null(strstr(answer, "GET /page?q HTTP/1.1\r\nHost: x.at-127-0-0-1.test:"));
    assert_null(strstr(answer, "Proxy-Authorization"));
}

/* A request that comes byte by byte is the same request. */
static void slow_requests(void **state)
{
    struct world *world = *state;
    char authorization[200];
    char text[512];
    credentials(world, authorization, sizeof authorization);
    snprintf(text, sizeof text, "CONNECT 127.0.0.1:%d HTTP/1.1\r\n%s\r\n", allowed_port,
             authorization);
    int fd = client_connect(proxy_port(world->proxy));
    for (size_t i = 0; text[i]; i++) {
        assert_true(client_send_bytes(fd, text + i, 1));
    }
    read_agreement(fd);
    close(fd);
}

static void *send_big(void *argument)
{
    int fd = *(int *)argument;
    char data[4096];
    for (size_t sent = 0; sent < BIG_BYTES; sent += sizeof data) {
        memset(data, (int)(sent / sizeof data % 251), sizeof data);
        client_send_bytes(fd, data, sizeof data);
    }
    return NULL;
}

static void tunnels_carry_everything(void **state)
{
    struct world *world = *state;
    char line[128];
    char data[4096];
    pthread_t thread;
    snprintf(line, sizeof line, "CONNECT 127.0.0.1:%d", allowed_port);
    int fd = ask(world, line);
    read_agreement(fd);
    assert_int_equal(pthread_create(&thread, NULL, send_big, &fd), 0);
    for (size_t got = 0; got < BIG_BYTES; got += sizeof data) {
        assert_int_equal(recv(fd, data, sizeof data, MSG_WAITALL), sizeof data);
        char wanted = (char)(got / sizeof data % 251);
        assert_true(data[0] == wanted && data[sizeof data - 1] == wanted);
    }
    pthread_join(thread, NULL);
    close(fd);
}

/* What was looked up is what is checked and connected to: one look-up for each tunnel. */
static void names_that_change(void **state)
{
    struct world *world = *state;
    char line[128];
    char answer[1024];
    snprintf(line, sizeof line, "CONNECT switch.test:%d", allowed_port);
    fake_names_switch("127.0.0.1");
    int before = fake_names_count();
    int fd = ask(world, line);
    read_agreement(fd);
    /* An echo: the target has counted the connection before the next one could come. */
    char echo = '.';
    client_send_bytes(fd, &echo, 1);
    assert_int_equal(recv(fd, &echo, 1, MSG_WAITALL), 1);
    close(fd);
    assert_int_equal(fake_names_count(), before + 1);
    int connections = loopback_connections(world->target);
    fake_names_switch("127.0.0.3");
    read_all(ask(world, line), answer, sizeof answer);
    assert_int_equal(strncmp(answer, "HTTP/1.1 403 ", 13), 0);
    assert_int_equal(loopback_connections(world->target), connections);
}

static void more_tunnels_than_are_served_at_once(void **state)
{
    struct world *world = *state;
    static int fds[LIMIT_PROXY_TUNNELS + 8];
    char line[128];
    snprintf(line, sizeof line, "GET http://nothing.test:%d/", allowed_port);
    for (size_t i = 0; i < LIMIT_PROXY_TUNNELS; i++) {
        fds[i] = client_connect(proxy_port(world->proxy));
        assert_true(fds[i] >= 0);
    }
    for (size_t i = LIMIT_PROXY_TUNNELS; i < COUNT(fds); i++) {
        fds[i] = ask(world, line);
    }
    for (size_t i = 0; i < LIMIT_PROXY_TUNNELS; i++) {
        close(fds[i]);
    }
    for (size_t i = LIMIT_PROXY_TUNNELS; i < COUNT(fds); i++) {
        char answer[1024];
        read_all(fds[i], answer, sizeof answer);
        assert_int_equal(strncmp(answer, "HTTP/1.1 502 ", 13), 0);
    }
}

static void ends_with_open_tunnels(void **state)
{
    struct world *world = *state;
    char line[128];
    char rest[16];
    snprintf(line, sizeof line, "CONNECT 127.0.0.1:%d", allowed_port);
    int open_tunnel = ask(world, line);
    read_agreement(open_tunnel);
    int stuck = ask(world, "CONNECT stuck.test:1");
    fake_names_await(1);
    world->proxy = proxy_free(world->proxy);
    assert_true(recv(open_tunnel, rest, sizeof rest, 0) <= 0);
    assert_true(recv(stuck, rest, sizeof rest, 0) <= 0);
    fake_names_release();
    close(open_tunnel);
    close(stuck);
}

UNIT_TEST(proxy)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests),
        cmocka_unit_test(heads_have_a_ceiling),
        cmocka_unit_test(request_for_the_server),
        cmocka_unit_test(answer_for_the_browser),
        IN_WORLD(strangers_are_refused),
        IN_WORLD(refusals),
        IN_WORLD(host_that_does_not_answer),
        IN_WORLD(plain_requests),
        IN_WORLD(slow_requests),
        IN_WORLD(tunnels_carry_everything),
        IN_WORLD(names_that_change),
        IN_WORLD(more_tunnels_than_are_served_at_once),
        IN_WORLD(ends_with_open_tunnels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
