/* Requests and answers of the HTTP server as a client sees them: a real server on a free port, and
 * plain sockets. */
#include "server_fixture.h"
#include "unit.h"

/* ---- requests and answers ---- */

static void test_keep_alive_and_headers(void **state)
{
    char first[128] = "";
    int fd = enter();
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct reply reply;
        char id[128];
        char value[128];
        client_send(fd, GET("/hello?you"));
        assert_true(client_read(fd, &reply, false));
        assert_string_equal(reply.body.data, "hello you");
        assert_non_null(reply_header(&reply, "X-Request-Id", id));
        assert_int_equal(strspn(id, "0123456789abcdef"), 16);
        assert_string_not_equal(id, first);
        memcpy(first, id, sizeof first);
        assert_int_equal(strlen(reply_header(&reply, "Date", value)),
                         strlen("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_string_equal(reply_header(&reply, "X-Content-Type-Options", value), "nosniff");
        assert_string_equal(reply_header(&reply, "Content-Type", value), "text/plain");
        assert_string_equal(reply_header(&reply, "Content-Length", value), "9");
        assert_null(reply_header(&reply, "Connection", value));
        buf_done(&reply.body);
    }
    assert_int_equal(seen.requests, 3);
    assert_int_equal(seen.heads, 3);
    assert_int_equal(seen.second_answer, ERR_INVALID);
    assert_int_equal(server_connections(server), 1);
    close(fd);
    wait_for_connections(0);
}

static void test_headers_and_peer(void **state)
{
    int fd = enter();
    (void)state;
    client_send(fd, "GET /about HTTP/1.1\r\nHost: a\r\nX-Thing: one\r\nx-thing: two\r\n\r\n");
    client_expect(fd, 200, "2 one 0 127.0.0.1");
    close(fd);
}

static void test_connection_header(void **state)
{
    static const struct {
        const char *request;
        const char *connection;
    } cases[] = {
        {"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "close"},
        {"GET /hello HTTP/1.0\r\n\r\n", "close"},
        {"GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct reply reply;
        char value[128];
        int fd = enter();
        client_send(fd, cases[i].request);
        assert_true(client_read(fd, &reply, false));
        assert_string_equal(reply_header(&reply, "Connection", value), cases[i].connection);
        buf_done(&reply.body);
        if (strcmp(cases[i].connection, "close") == 0) {
            assert_true(client_ended(fd));
        } else {
            client_send(fd, cases[i].request);
            client_expect(fd, 200, "hello ");
        }
        close(fd);
    }
}

static void test_pipelined_requests_are_answered_in_order(void **state)
{
    struct buf all;
    int fd = enter();
    (void)state;
    buf_init(&all, MIB(1));
    for (int i = 0; i < 100; i++) {
        buf_printf(&all, GET("/hello?%d"), i);
        buf_printf(&all, POST("/echo") "Content-Length: 3\r\n\r\n%03d", i);
        if (i % 10 == 0) {
            buf_puts(&all, GET("/later") POST("/echo") "Transfer-Encoding: chunked\r\n\r\n"
                                                       "2\r\nab\r\n0\r\n\r\n");
        }
    }
    client_send(fd, all.data);
    for (int i = 0; i < 100; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "hello %d", i);
        client_expect(fd, 200, expected);
        snprintf(expected, sizeof expected, "%03d", i);
        client_expect(fd, 200, expected);
        if (i % 10 == 0) {
            client_expect(fd, 200, "later");
            client_expect(fd, 200, "ab");
        }
    }
    wait_for(&seen.workers, 10);
    assert_int_equal(seen.gone, 0);
    buf_done(&all);
    close(fd);
}

static void test_head_requests_and_empty_answers(void **state)
{
    struct reply reply;
    char value[128];
    int fd = enter();
    (void)state;
    client_send(fd, "HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_true(client_read(fd, &reply, true));
    assert_string_equal(reply_header(&reply, "Content-Length", value), "6");
    client_send(fd, "HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_true(client_read(fd, &reply, true));
    wait_for(&seen.workers, 1);
    /* A stream without an end: there is nothing behind its head that HEAD would wait for. */
    client_send(fd, "HEAD /beat HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_true(client_read(fd, &reply, true));
    client_send(fd, GET("/empty"));
    assert_true(client_read(fd, &reply, false));
    assert_int_equal(reply.status, 204);
    assert_null(reply_header(&reply, "Content-Length", value));
    client_send(fd, GET("/hello"));
    client_expect(fd, 200, "hello ");
    close(fd);
}

/* ---- bodies ---- */

/* Sends `length` bytes in pieces. */
static void send_slowly(int fd, const char *text, size_t length, size_t piece)
{
    for (size_t at = 0; at < length; at += piece) {
        client_send_bytes(fd, text + at, length - at < piece ? length - at : piece);
        usleep(200);
    }
}

static void test_requests_in_pieces(void **state)
{
    static const char *const cases[] = {
        GET("/hello?abc"),
        POST("/echo") "Content-Length: 9\r\n\r\nhello abc",
        POST("/later") "Content-Length: 9\r\n\r\nhello abc",
        POST("/echo") "Transfer-Encoding: chunked\r\n\r\n4\r\nhell\r\n5;x=y\r\no abc\r\n0\r\nA: "
                      "b\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        int fd = enter();
        for (size_t piece = 1; piece < 40; piece += 1 + piece / 2) {
            send_slowly(fd, cases[i], strlen(cases[i]), piece);
            client_expect(fd, 200, "hello abc");
        }
        close(fd);
    }
}

static char *make_text(size_t length)
{
    char *text = malloc(length + 1);
    assert_non_null(text);
    for (size_t i = 0; i < length; i++) {
        text[i] = (char)('A' + i % 26);
    }
    text[length] = '\0';
    return text;
}

static void test_large_bodies(void **state)
{
    static const size_t sizes[] = {KIB(31), KIB(32), KIB(33), MIB(1), LIMIT_MESSAGE_BYTES};
    int fd = enter();
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char head[128];
        char *text = make_text(sizes[i]);
        snprintf(head, sizeof head, POST("/echo") "Content-Length: %zu\r\n\r\n", sizes[i]);
        client_send(fd, head);
        client_send(fd, text);
        client_expect(fd, 200, text);
        snprintf(head, sizeof head, POST("/echo") "Transfer-Encoding: chunked\r\n\r\n%zx\r\n",
                 sizes[i]);
        client_send(fd, head);
        client_send(fd, text);
        client_send(fd, "\r\n0\r\n\r\n" GET("/hello?next"));
        client_expect(fd, 200, text);
        client_expect(fd, 200, "hello next");
        free(text);
    }
    close(fd);
}

/* More requests come along with the end of a chunked body than one head may have bytes. */
static void test_requests_behind_a_chunked_body(void **state)
{
    struct buf all;
    int fd = enter();
    (void)state;
    buf_init(&all, MIB(1));
    buf_printf(&all, "1000\r\n%0*d\r\n0\r\n\r\n", 0x1000, 0);
    for (int i = 0; i < 2000; i++) {
        buf_printf(&all, GET("/hello?%d"), i);
    }
    client_send(fd, POST("/echo") "Transfer-Encoding: chunked\r\n\r\n");
    client_send(fd, all.data);
    client_expect(fd, 200, NULL);
    for (int i = 0; i < 2000; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "hello %d", i);
        client_expect(fd, 200, expected);
    }
    buf_done(&all);
    close(fd);
}

static void test_expect_continue(void **state)
{
    struct reply reply;
    int fd = enter();
    (void)state;
    client_send(fd, POST("/echo") "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    assert_true(client_read(fd, &reply, false));
    assert_int_equal(reply.status, 100);
    client_send(fd, "hello");
    client_expect(fd, 200, "hello");
    client_send(fd, POST("/echo") "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nworld");
    client_expect(fd, 200, "world");
    client_send(fd, POST("/echo") "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nfi");
    client_send(fd, "rst");
    client_expect(fd, 200, "first");
    client_send(fd, POST("/refused") "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
    client_expect(fd, 403, "refused");
    assert_true(client_ended(fd));
    close(fd);
}

/* ---- refusals ---- */

static void test_refusals(void **state)
{
    static const struct {
        const char *request;
        int status;
        const char *code;
    } cases[] = {
        {"GET / HTTP/1.1\r\n\r\n", 400, "VALIDATION"},
        {"\x16\x03\x01", 400, "VALIDATION"},
        {"GET / HTTP/3.0\r\n", 505, "VALIDATION"},
        {POST("/echo") "Transfer-Encoding: br\r\n\r\n", 501, "VALIDATION"},
        {POST("/echo") "Expect: tea\r\n\r\n", 417, "VALIDATION"},
        {POST("/echo") "Content-Length: 4194305\r\n\r\n", 413, "TOO_LARGE"},
        {POST("/echo") "Content-Length: 99999999999999999999\r\n\r\n", 413, "TOO_LARGE"},
        {POST("/echo") "Content-Length: 4194305\r\nExpect: 100-continue\r\n\r\n", 413, "TOO_LARGE"},
        {POST("/echo") "Transfer-Encoding: chunked\r\n\r\n400001\r\n", 413, "TOO_LARGE"},
        {POST("/echo") "Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "VALIDATION"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct reply reply;
        char id[128];
        char value[128];
        char expected[160];
        int fd = enter();
        client_send(fd, cases[i].request);
        assert_true(client_read(fd, &reply, false));
        assert_int_equal(reply.status, cases[i].status);
        assert_string_equal(reply_header(&reply, "Connection", value), "close");
        assert_string_equal(reply_header(&reply, "Content-Type", value), "application/json");
        snprintf(expected, sizeof expected, "{\"success\":false,\"error\":{\"code\":\"%s\",",
                 cases[i].code);
        assert_int_equal(strncmp(reply.body.data, expected, strlen(expected)), 0);
        snprintf(expected, sizeof expected, "\"request_id\":\"%s\"}}",
                 reply_header(&reply, "X-Request-Id", id));
        assert_non_null(strstr(reply.body.data, expected));
        assert_true(client_ended(fd));
        buf_done(&reply.body);
        close(fd);
    }
    assert_int_equal(seen.requests, 0);
}

static void test_too_long_heads(void **state)
{
    static const struct {
        const char *before;
        int status;
    } cases[] = {{"GET /", 414}, {"GET / HTTP/1.1\r\nHost: a\r\nX: ", 431}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = make_text(KIB(40));
        int fd = enter();
        client_send(fd, cases[i].before);
        client_send(fd, text);
        client_expect(fd, cases[i].status, NULL);
        assert_true(client_ended(fd));
        free(text);
        close(fd);
    }
}

static void test_refused_in_the_head(void **state)
{
    char *text = make_text(LIMIT_MESSAGE_BYTES);
    int fd = enter();
    (void)state;
    client_send(fd, GET("/refused") GET("/hello"));
    client_expect(fd, 403, "refused");
    client_expect(fd, 200, "hello ");
    /* The body is not read, and yet the client sees the answer. */
    client_send(fd, POST("/refused") "Content-Length: 4000000\r\n\r\n");
    assert_true(client_send(fd, text));
    client_expect(fd, 403, "refused");
    assert_true(client_ended(fd));
    assert_int_equal(seen.requests, 1);
    close(fd);
    fd = enter();
    client_send(fd, POST("/echo") "Content-Length: 8000000\r\n\r\n");
    assert_true(client_send(fd, text));
    client_expect(fd, 413, NULL);
    assert_true(client_ended(fd));
    free(text);
    close(fd);
}

/* ---- answers from elsewhere ---- */

static void test_answers_from_another_thread(void **state)
{
    int fd = enter();
    (void)state;
    for (int i = 0; i < 20; i++) {
        client_send(fd, POST("/later") "Content-Length: 4\r\n\r\nbody");
        client_expect(fd, 200, "body");
    }
    wait_for(&seen.workers, 20);
    close(fd);
}

/* Who keeps an exchange keeps its request, whatever the connection does next. */
static void test_kept_exchanges(void **state)
{
    struct reply reply;
    int fd = enter();
    (void)state;
    client_send(fd, POST("/kept") "Content-Length: 4\r\n\r\nmine" GET("/hello?another"));
    assert_true(client_read(fd, &reply, false));
    client_expect(fd, 200, "hello another");
    client_send(fd, POST("/echo") "Content-Length: 6\r\n\r\nothers");
    client_expect(fd, 200, "others");
    assert_string_equal(exchange_id(kept), reply.body.data);
    assert_memory_equal(exchange_request(kept)->path.data, "/kept", 5);
    assert_memory_equal(exchange_request(kept)->body.data, "mine", 4);
    assert_int_equal(exchange_respond(kept, 200, NULL, "", 0), ERR_CLOSED);
    kept = exchange_free(kept);
    buf_done(&reply.body);
    close(fd);
}

static void test_streams(void **state)
{
    static const char *const requests[] = {GET("/stream"), "GET /stream HTTP/1.0\r\n\r\n"};
    (void)state;
    for (size_t i = 0; i < COUNT(requests); i++) {
        int fd = enter();
        client_send(fd, requests[i]);
        client_expect(fd, 200, "event 0;event 1;event 2;event 3;event 4;");
        wait_for(&seen.workers, (int)i + 1);
        close(fd);
    }
    int fd = enter();
    client_send(fd, GET("/stream-here") GET("/hello"));
    client_expect(fd, 200, "one,two");
    client_expect(fd, 200, "hello ");
    close(fd);
}

static void test_big_answer_to_a_slow_reader(void **state)
{
    struct reply reply;
    int fd = enter();
    (void)state;
    client_send(fd, GET("/big") GET("/hello"));
    usleep(50000);
    assert_true(client_read(fd, &reply, false));
    assert_int_equal(reply.body.length, BIG_BYTES);
    for (size_t i = 0; i < BIG_BYTES; i++) {
        if (reply.body.data[i] != (char)('a' + i % 23)) {
            fail_msg("byte %zu is wrong", i);
        }
    }
    buf_done(&reply.body);
    client_expect(fd, 200, "hello ");
    close(fd);
}

UNIT_TEST(server)
{
    const struct CMUnitTest tests[] = {
        WITH(start, test_keep_alive_and_headers),
        WITH(start, test_headers_and_peer),
        WITH(start, test_connection_header),
        WITH(start, test_pipelined_requests_are_answered_in_order),
        WITH(start, test_head_requests_and_empty_answers),
        WITH(start, test_requests_in_pieces),
        WITH(start, test_large_bodies),
        WITH(start, test_requests_behind_a_chunked_body),
        WITH(start, test_expect_continue),
        WITH(start, test_refusals),
        WITH(start, test_too_long_heads),
        WITH(start, test_refused_in_the_head),
        WITH(start, test_answers_from_another_thread),
        WITH(start, test_kept_exchanges),
        WITH(start, test_streams),
        WITH(start, test_big_answer_to_a_slow_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
