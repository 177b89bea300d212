/* What the tests of fetching share: a web server on loopback with pages of every kind, a call, and
 * short ways to fetch. */
#ifndef FORAGE_TESTS_FETCH_FIXTURE_H
#define FORAGE_TESTS_FETCH_FIXTURE_H

#include "unit.h"

#include "call/parts.h"
#include "core/limits.h"
#include "fake_names.h"
#include "guard/policy.h"
#include "loopback.h"
#include "net/fetch.h"
#include "net/lanes.h"
#include "text/url.h"

#include <netinet/tcp.h>

/* Hosts that no page may lead to, in every spelling that a resolver or a parser takes. */
static const char *const PRIVATE_HOSTS[] = {
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "2130706433",
    "017700000001",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "0.0.0.0",
    "0",
    "[::]",
    "a.at-127-0-0-1.test",
    "a.at-10-0-0-1.test",
    "a.at-169-254-169-254.test",
    "two.test",
    "169.254.169.254",
};

/* ---- the server ---- */

#define GZIPPED_TEXT "hello, compressed world\n" /* twenty times */
static const char GZIPPED[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\xd7\x51\x48\xce\xcf\x2d\x28\x4a"
    "\x2d\x2e\x4e\x4d\x51\x28\xcf\x2f\xca\x49\xe1\xca\x18\x15\x1f\x16\xe2\x00\x80\x62\x1a\x94\xe0"
    "\x01\x00\x00";

static const struct {
    const char *path;
    const char *answer;
    bool closes;
} ANSWERS[] = {
    {"/plain",
     "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nX-Twice: one\r\n"
     "x-twice: two\r\nX-Padded: \t padded \t\r\nX-Empty:\r\nContent-Length: 5\r\n\r\nhello",
     false},
    {"/empty", "HTTP/1.1 204 No Content\r\n\r\n", false},
    {"/missing", "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", false},
    {"/continued",
     "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
     false},
    {"/chunked",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n"
     "X-Trailer: last\r\n\r\n",
     false},
    {"/until-close", "HTTP/1.1 200 OK\r\n\r\nall of it", true},
    {"/old", "HTTP/1.0 200 OK\r\n\r\nold", true},
    {"/set-cookie",
     "HTTP/1.1 302 Found\r\nSet-Cookie: taste=sweet; Path=/\r\nLocation: /echo\r\n"
     "Content-Length: 0\r\n\r\n",
     false},
    {"/loop", "HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 3\r\n\r\nxyz", false},
    {"/no-location", "HTTP/1.1 302 Found\r\nContent-Length: 3\r\n\r\nxyz", false},
    {"/ten", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", false},
    {"/ten-chunked",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n\r\n", false},
    {"/huge-said", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n0123456789", false},
    {"/nothing", "", true},
    {"/cut", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this", true},
    {"/cut-chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nonly this", true},
    {"/garbage", "\x16\x03\x01 what is this?\r\n\r\n", true},
    {"/bad-gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip!",
     false},
    {"/utf-8", "HTTP/1.1 200 OK\r\nContent-Encoding: UTF-8, none\r\nContent-Length: 5\r\n\r\nplain",
     false},
    {"/brotli", "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 5\r\n\r\n\v\x02\x80hi",
     false},
    {"/part",
     "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/100\r\nContent-Length: 5\r\n\r\n"
     "only ",
     false},
    {"/bad-status", "HTTP/1.1 banana\r\n\r\n", true},
};

/* The rest of the path, percent-decoded, is the target: /redirect/302/http%3A... */
static inline void answer_redirect(int client, const char *path)
{
    char target[1024];
    char head[2048];
    int status;
    if (sscanf(path, "/redirect/%d/%1023s", &status, target) != 2) {
        return;
    }
    struct arena *arena = arena_new(KIB(64));
    snprintf(head, sizeof head,
             "HTTP/1.1 %d Elsewhere\r\nLocation: %s\r\nContent-Length: 4\r\n\r\nmove", status,
             url_decode(arena, target, strlen(target), NULL));
    loopback_say(client, head);
    arena_free(arena);
}

static inline void answer_echo(int client, const char *request)
{
    char head[128];
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", strlen(request));
    loopback_say(client, head);
    loopback_say(client, request);
}

/* "/gzip"; "/gzip/cut/N" lacks the last N bytes, "/gzip/twice" is two streams, and "/gzip/tail" has
 * something else behind it. Each is all that its Content-Length announces. */
static inline void answer_gzip(int client, const char *path)
{
    static const char TAIL[] = "\0\0padding";
    char head[128];
    size_t cut = 0;
    size_t length = sizeof GZIPPED - 1;
    bool twice = strcmp(path, "/gzip/twice") == 0;
    bool tail = strcmp(path, "/gzip/tail") == 0;
    if (sscanf(path, "/gzip/cut/%zu", &cut) == 1 && cut <= length) {
        length -= cut;
    }
    snprintf(head, sizeof head,
             "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %zu\r\n\r\n",
             length + (twice ? length : 0) + (tail ? sizeof TAIL - 1 : 0));
    loopback_say(client, head);
    loopback_send(client, GZIPPED, length);
    loopback_send(client, twice ? GZIPPED : TAIL, twice ? length : tail ? sizeof TAIL - 1 : 0);
}

/* A deflate stream without end: one literal, then "258 bytes from one byte back" again and again,
 * 13 bits each in the fixed code. */
static inline void answer_bomb(int client)
{
    static const char HEAD[] = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
                               "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03";
    /* 13 bytes hold 8 repetitions; the first bytes hold the block's head (3 bits), the literal 0x30
     * + 0 (8 bits) and 13 bits once, 24 in all. */
    static const char START[] = {0x63, 0x18, 0x05};
    static const unsigned char CODE[13] = {1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0};
    unsigned char period[13] = {0};
    for (size_t bit = 0; bit < 104; bit++) {
        period[bit / 8] = (unsigned char)(period[bit / 8] | CODE[bit % 13] << (bit % 8));
    }
    char block[13 * 512];
    for (size_t i = 0; i < 512; i++) {
        memcpy(block + 13 * i, period, 13);
    }
    loopback_send(client, HEAD, sizeof HEAD - 1);
    loopback_send(client, START, sizeof START);
    for (int i = 0; i < 200; i++) {
        loopback_send(client, block, sizeof block);
    }
}

/* Says the same until the client leaves. */
static inline void repeat(int client, const char *start, const char *text)
{
    loopback_send(client, start, strlen(start));
    while (loopback_send(client, text, strlen(text))) {
    }
}

#define FILLER "X-Filler: 0123456789012345678901234567890123456789\r\n"

static inline void answer_endless_head(int client)
{
    repeat(client, "HTTP/1.1 200 OK\r\n", FILLER);
}

static inline void answer_endless(int client)
{
    repeat(client, "HTTP/1.1 200 OK\r\n\r\n", FILLER FILLER FILLER FILLER FILLER FILLER);
}

static inline void answer_redirect_with_endless_body(int client)
{
    repeat(client, "HTTP/1.1 301 Moved\r\nLocation: /plain\r\n\r\n", FILLER);
}

/* Disconnecting this way sends a reset. */
static inline void answer_reset(int client)
{
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    loopback_say(client, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly");
    connect(client, &nobody, sizeof nobody);
}

/* False when the connection ends with this answer. */
static inline bool answer(int client, const char *path, const char *request)
{
    static const struct {
        const char *path;
        void (*answer)(int client);
    } SPECIAL[] = {
        {"/bomb", answer_bomb},
        {"/endless-head", answer_endless_head},
        {"/endless", answer_endless},
        {"/reset", answer_reset},
        {"/redirect-endless", answer_redirect_with_endless_body},
    };
    for (size_t i = 0; i < COUNT(ANSWERS); i++) {
        if (strcmp(path, ANSWERS[i].path) == 0) {
            loopback_say(client, ANSWERS[i].answer);
            return !ANSWERS[i].closes;
        }
    }
    for (size_t i = 0; i < COUNT(SPECIAL); i++) {
        if (strcmp(path, SPECIAL[i].path) == 0) {
            SPECIAL[i].answer(client);
            return false;
        }
    }
    if (strncmp(path, "/gzip", 5) == 0) {
        answer_gzip(client, path);
    } else if (strncmp(path, "/redirect/", 10) == 0) {
        answer_redirect(client, path);
    } else {
        answer_echo(client, request);
    }
    return true;
}

/* A server is a proxy, too, that makes every tunnel and answers from inside it. This is where the
 * last one was to lead. */
static char last_tunnel[200];

static inline void serve(struct loopback *server, int client)
{
    static const int ON = 1;
    char request[16384];
    char path[2048];
    (void)server;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &ON, sizeof ON);
    bool more = true;
    while (more && loopback_read(client, request, sizeof request)) {
        if (sscanf(request, "CONNECT %199s", last_tunnel) == 1) {
            loopback_say(client, "HTTP/1.1 200 OK\r\n\r\n");
            continue;
        }
        more = sscanf(request, "%*s %2047s", path) == 1 && answer(client, path, request);
    }
}

/* ---- the fixture ---- */

struct fixture {
    struct loopback *open;   /* on 127.0.0.1 */
    struct loopback *closed; /* on 127.0.0.66, which the test's policy forbids */
    struct parts parts;
    struct call *call;
};

static inline int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    if (!fixture) {
        return -1;
    }
    fixture->open = loopback_start("127.0.0.1", serve);
    fixture->closed = loopback_start("127.0.0.66", serve);
    fixture->parts.net = net_new(false);
    fixture->call = call_new(&(struct call_options){.timeout_ms = 60000, .parts = &fixture->parts});
    assert_non_null(fixture->parts.net);
    assert_non_null(fixture->call);
    *state = fixture;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *fixture = *state;
    call_free(fixture->call);
    net_free(fixture->parts.net);
    policy_free(fixture->parts.policy);
    loopback_stop(fixture->open);
    loopback_stop(fixture->closed);
    free(fixture);
    return 0;
}

static inline const char *url_to(struct fixture *fixture, const char *host, const char *path)
{
    return arena_printf(call_arena(fixture->call), "http://%s:%d%s", host, fixture->open->port,
                        path);
}

/* Closes the idle connections. */
static inline void forget_connections(struct fixture *fixture)
{
    net_free(fixture->parts.net);
    fixture->parts.net = net_new(false);
    assert_non_null(fixture->parts.net);
}

static inline struct fetch_response run(struct fixture *fixture, struct fetch_request request,
                                        const char *text)
{
    struct fetch_response response;
    struct url url;
    int status = fetch_parse(fixture->call, text, &url, &response);
    if (status == OK) {
        request.url = &url;
        status = fetch_run(fixture->call, &request, &response);
    }
    assert_int_equal(status, response.failure == FETCH_OK ? OK : ERR_FAILED);
    assert_int_equal(response.error == NULL, response.failure == FETCH_OK);
    return response;
}

static inline struct fetch_response get(struct fixture *fixture, struct fetch_request request,
                                        const char *path)
{
    return run(fixture, request, url_to(fixture, "127.0.0.1", path));
}

static inline void assert_failure(struct fetch_response response, enum fetch_failure failure)
{
    if (response.failure != failure) {
        fail_msg("%s: failure %d (%s), not %d", response.url, response.failure,
                 response.error ? response.error : "", failure);
    }
}

static inline const char *redirect_to(struct fixture *fixture, int status, const char *target)
{
    struct buf encoded;
    buf_init(&encoded, KIB(8));
    url_encode(&encoded, target, strlen(target));
    const char *url =
        url_to(fixture, "a.at-127-0-0-1.test",
               arena_printf(call_arena(fixture->call), "/redirect/%d/%s", status, encoded.data));
    buf_done(&encoded);
    return url;
}

/* The environment of whoever runs the tests must not matter. */
static inline void forget_proxies(void)
{
    static const char *const VARIABLES[] = {"http_proxy", "https_proxy", "HTTPS_PROXY",
                                            "all_proxy",  "ALL_PROXY",   "no_proxy",
                                            "NO_PROXY",   "HTTP_PROXY"};
    for (size_t i = 0; i < COUNT(VARIABLES); i++) {
        unsetenv(VARIABLES[i]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
