/* The head parser and the chunked decoder: tables of good and bad input, each also cut at every
 * place. */
#include "core/buf.h"
#include "core/status.h"
#include "server/http_parse.h"

#include "unit.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOST "Host: a\r\n"
#define END  "\r\n"
static void assert_slice(struct slice slice, const char *expected)
{
    assert_int_equal(slice.length, strlen(expected));
    assert_memory_equal(slice.data, expected, slice.length);
}

/* Parses a copy of exactly that length, so that AddressSanitizer sees a read beyond it. */
static int parse_exact(const char *text, size_t length, struct http_head *head)
{
    char *copy = malloc(length ? length : 1);
    const char *problem = NULL;
    assert_non_null(copy);
    memcpy(copy, text, length);
    int result = http_parse_head(copy, length, head, &problem);
    assert_true((result < 0) == (problem != NULL));
    free(copy);
    return result;
}

/* ---- good heads ---- */

static const struct good {
    const char *text;
    const char *method;
    const char *path;
    const char *query;
    int64_t content_length;
    size_t headers;
    int minor;
    bool keep_alive;
    bool expects;
} GOOD[] = {
    {"GET / HTTP/1.1\r\n" HOST END, "GET", "/", "", 0, 1, 1, true, false},
    {"\r\nGET / HTTP/1.1\r\n" HOST END, "GET", "/", "", 0, 1, 1, true, false},
    {"GET / HTTP/1.0\r\n" END, "GET", "/", "", 0, 0, 0, false, false},
    {"GET / HTTP/1.0\r\n" HOST END, "GET", "/", "", 0, 1, 0, false, false},
    {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n" END, "GET", "/", "", 0, 1, 0, true, false},
    {"GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n" END, "GET", "/", "", 0, 1, 0, false,
     false},
    {"GET /a?b=c&d HTTP/1.1\r\n" HOST END, "GET", "/a", "b=c&d", 0, 1, 1, true, false},
    {"GET /a?b?c HTTP/1.1\r\n" HOST END, "GET", "/a", "b?c", 0, 1, 1, true, false},
    {"GET /? HTTP/1.1\r\n" HOST END, "GET", "/", "", 0, 1, 1, true, false},
    {"GET //x/%00%zz HTTP/1.1\r\n" HOST END, "GET", "//x/%00%zz", "", 0, 1, 1, true, false},
    {"GET /{a}|^`\"<>\\ HTTP/1.1\r\n" HOST END, "GET", "/{a}|^`\"<>\\", "", 0, 1, 1, true, false},
    {"get / HTTP/1.1\r\n" HOST END, "get", "/", "", 0, 1, 1, true, false},
    {"M-SEARCH / HTTP/1.1\r\n" HOST END, "M-SEARCH", "/", "", 0, 1, 1, true, false},
    {"POST /x HTTP/1.1\r\n" HOST "Content-Length: 12\r\n" END, "POST", "/x", "", 12, 2, 1, true,
     false},
    {"POST /x HTTP/1.1\r\n" HOST "content-LENGTH:\t 0012 \t\r\n" END, "POST", "/x", "", 12, 2, 1,
     true, false},
    {"POST /x HTTP/1.1\r\n" HOST "Content-Length: 0\r\n" END, "POST", "/x", "", 0, 2, 1, true,
     false},
    {"POST /x HTTP/1.1\r\n" HOST "Content-Length: 999999999999999999\r\n" END, "POST", "/x", "",
     999999999999999999, 2, 1, true, false},
    {"POST /x HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999999\r\n" END, "POST", "/x",
     "", INT64_MAX, 2, 1, true, false},
    {"POST /x HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n" END, "POST", "/x", "", -1, 2, 1,
     true, false},
    {"POST /x HTTP/1.1\r\n" HOST "transfer-encoding:Chunked\r\n" END, "POST", "/x", "", -1, 2, 1,
     true, false},
    {"POST /x HTTP/1.1\r\n" HOST "Content-Length: 5\r\nExpect: 100-Continue\r\n" END, "POST", "/x",
     "", 5, 3, 1, true, true},
    {"POST /x HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n" END, "POST", "/x", "", 5,
     2, 0, false, false},
    {"GET / HTTP/1.1\r\n" HOST "Connection: close\r\n" END, "GET", "/", "", 0, 2, 1, false, false},
    {"GET / HTTP/1.1\r\n" HOST "Connection: x,\tClose ,y\r\n" END, "GET", "/", "", 0, 2, 1, false,
     false},
    {"GET / HTTP/1.1\r\n" HOST "Connection: closed\r\n" END, "GET", "/", "", 0, 2, 1, true, false},
    {"GET / HTTP/1.1\r\n" HOST "Connection:\r\nConnection: ,,close\r\n" END, "GET", "/", "", 0, 3,
     1, false, false},
    {"GET / HTTP/1.1\r\n" HOST "X:\r\nX: \xc3\xa9 b\t\r\n" END, "GET", "/", "", 0, 3, 1, true,
     false},
    {"GET / HTTP/1.1\r\nHost: [::1]:3000\r\n" END, "GET", "/", "", 0, 1, 1, true, false},
    {"GET / HTTP/1.1\r\nHost: ex-am_ple.org:80\r\n" END, "GET", "/", "", 0, 1, 1, true, false},
    {"GET / HTTP/1.1\r\n" HOST "Upgrade: h2c\r\nConnection: Upgrade\r\n" END, "GET", "/", "", 0, 3,
     1, true, false},
};

static void test_good_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(GOOD); i++) {
        const struct good *good = &GOOD[i];
        struct http_head head;
        const char *problem = "unset";
        size_t length = strlen(good->text);
        assert_int_equal(http_parse_head(good->text, length, &head, &problem), length);
        assert_null(problem);
        assert_slice(head.request.method, good->method);
        assert_slice(head.request.path, good->path);
        assert_slice(head.request.query, good->query);
        assert_int_equal(head.request.content_length, good->content_length);
        assert_int_equal(head.request.header_count, good->headers);
        assert_ptr_equal(head.request.headers, head.headers);
        assert_int_equal(head.request.body.length, 0);
        assert_int_equal(head.minor_version, good->minor);
        assert_int_equal(head.keep_alive, good->keep_alive);
        assert_int_equal(head.expect_continue, good->expects);
    }
}

static void test_good_heads_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(GOOD); i++) {
        struct http_head head;
        size_t length = strlen(GOOD[i].text);
        for (size_t cut = 0; cut < length; cut++) {
            assert_int_equal(parse_exact(GOOD[i].text, cut, &head), 0);
        }
    }
}

static void test_bytes_after_the_head_are_left(void **state)
{
    static const char more[] = "\x00\xff\r\n\r\nGET";
    (void)state;
    for (size_t i = 0; i < COUNT(GOOD); i++) {
        struct http_head head;
        struct buf text;
        buf_init(&text, KIB(4));
        buf_puts(&text, GOOD[i].text);
        buf_append(&text, more, sizeof more);
        assert_int_equal(parse_exact(text.data, text.length, &head), strlen(GOOD[i].text));
        buf_done(&text);
    }
}

static void test_values_are_trimmed(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost:a\r\nOne: \t x y \t\r\nTwo:\r\n\r\n";
    struct http_head head;
    const char *problem;
    (void)state;
    assert_int_equal(http_parse_head(text, sizeof text - 1, &head, &problem), sizeof text - 1);
    assert_slice(head.headers[0].name, "Host");
    assert_slice(head.headers[0].value, "a");
    assert_slice(head.headers[1].name, "One");
    assert_slice(head.headers[1].value, "x y");
    assert_slice(head.headers[2].name, "Two");
    assert_slice(head.headers[2].value, "");
}

/* ---- bad heads ---- */

static const struct bad {
    const char *text;
    int status;
} BAD[] = {
    /* the request line */
    {" GET / HTTP/1.1\r\n" HOST END, 400},
    {"\r\n\r\nGET / HTTP/1.1\r\n" HOST END, 400},
    {"\nGET / HTTP/1.1\r\n" HOST END, 400},
    {"\rGET / HTTP/1.1\r\n" HOST END, 400},
    {"GET\t/ HTTP/1.1\r\n" HOST END, 400},
    {"GET  / HTTP/1.1\r\n" HOST END, 400},
    {"GET /  HTTP/1.1\r\n" HOST END, 400},
    {"GET / HTTP/1.1 \r\n" HOST END, 400},
    {"G(T / HTTP/1.1\r\n" HOST END, 400},
    {"GET\r\n" HOST END, 400},
    {"GET /\r\n" HOST END, 400},
    {"GET / \r\n" HOST END, 400},
    {"GET / HTTP/1.1\n" HOST END, 400},
    {"GET / HTTP/1.1\r" HOST END, 400},
    {"GET / http/1.1\r\n" HOST END, 400},
    {"GET / HTTP/1,1\r\n" HOST END, 400},
    {"GET / HTTP/11\r\n" HOST END, 400},
    {"GET / HTTP/1.10\r\n" HOST END, 400},
    {"GET / HTTPS/1.1\r\n" HOST END, 400},
    {"GET / HTTP/1.2\r\n" HOST END, 505},
    {"GET / HTTP/0.9\r\n" HOST END, 505},
    {"GET / HTTP/2.0\r\n" HOST END, 505},
    {"GET a HTTP/1.1\r\n" HOST END, 400},
    {"GET /a#b HTTP/1.1\r\n" HOST END, 400},
    {"GET /\xc3\xa9 HTTP/1.1\r\n" HOST END, 400},
    {"GET http://a/ HTTP/1.1\r\n" HOST END, 400},
    {"CONNECT a:443 HTTP/1.1\r\n" HOST END, 400},
    {"OPTIONS * HTTP/1.1\r\n" HOST END, 400},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
    {"\x16\x03\x01\x02", 400},
    {"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA / HTTP/1.1\r\n" HOST END, 501},
    /* the shape of header lines */
    {"GET / HTTP/1.1\r\nHost: a\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "X: ab\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a\r\n\n", 400},
    {"GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n" END, 400},
    {"GET / HTTP/1.1\r\n Host: a\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost : a\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST ": a\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "X\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "X Y: a\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "X\xc3\xa9: a\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "X: a\r\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "X: a\x01\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST "X: a\x7f\r\n" END, 400},
    /* Host */
    {"GET / HTTP/1.1\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHosts: a\r\n" END, 400},
    {"GET / HTTP/1.1\r\n" HOST HOST END, 400},
    {"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n" END, 400},
    {"GET / HTTP/1.0\r\n" HOST HOST END, 400},
    {"GET / HTTP/1.1\r\nHost:\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a b\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a, b\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: a/b\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: u@a\r\n" END, 400},
    {"GET / HTTP/1.1\r\nHost: \xc3\xa9\r\n" END, 400},
    /* framing */
    {"POST / HTTP/1.1\r\n" HOST "Content-Length:\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: +1\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1 2\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 5, 5\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 0x5\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 5.0\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 2\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nContent-Length: 1\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END,
     400},
    {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n" END, 400},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n" END, 501},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n" END, 501},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, chunked\r\n" END, 501},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked;q=1\r\n" END, 501},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: \"chunked\"\r\n" END, 501},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: identity\r\n" END, 501},
    {"POST / HTTP/1.1\r\n" HOST "Transfer-Encoding:\r\n" END, 501},
    {"POST / HTTP/1.1\r\n" HOST "Expect: magic\r\n" END, 417},
    {"POST / HTTP/1.1\r\n" HOST "Expect: 100-continue, magic\r\n" END, 417},
};

static void test_bad_heads_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(BAD); i++) {
        struct http_head head;
        size_t length = strlen(BAD[i].text);
        int result = parse_exact(BAD[i].text, length, &head);
        if (result != -BAD[i].status) {
            print_error("%d and not %d: %s\n", result, -BAD[i].status, BAD[i].text);
        }
        assert_int_equal(result, -BAD[i].status);
        for (size_t cut = 0; cut < length; cut++) {
            result = parse_exact(BAD[i].text, cut, &head);
            assert_true(result == 0 || result == -BAD[i].status);
        }
    }
}

/* Puts every byte into a place of a head; those not in `allowed` must be refused there. */
static void try_every_byte(const char *before, const char *after, bool (*allowed)(int byte))
{
    for (int byte = 0; byte < 256; byte++) {
        struct http_head head;
        struct buf text;
        buf_init(&text, KIB(4));
        buf_puts(&text, before);
        buf_putc(&text, (char)byte);
        buf_puts(&text, after);
        int result = parse_exact(text.data, text.length, &head);
        if ((result == (int)text.length) != allowed(byte)) {
            print_error("byte %d after %s: %d\n", byte, before, result);
        }
        assert_int_equal(result == (int)text.length, allowed(byte));
        assert_true(result > 0 || result == -400);
        buf_done(&text);
    }
}

static bool in_token(int byte)
{
    return byte > ' ' && byte < 0x7f && !strchr("\"(),/:;<=>?@[\\]{}", byte);
}

/* The first colon ends the name, wherever it stands. */
static bool in_name(int byte)
{
    return in_token(byte) || byte == ':';
}

static bool in_target(int byte)
{
    return byte > ' ' && byte < 0x7f && byte != '#';
}

static bool in_value(int byte)
{
    return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

static bool in_host(int byte)
{
    return byte > ' ' && byte < 0x7f && !strchr("\"#,/<>?@\\^`{|}", byte);
}

static void test_every_byte_everywhere(void **state)
{
    (void)state;
    try_every_byte("G", "T / HTTP/1.1\r\n" HOST END, in_token);
    try_every_byte("GET /a", "b HTTP/1.1\r\n" HOST END, in_target);
    try_every_byte("GET / HTTP/1.1\r\n" HOST "X", "Y: a\r\n" END, in_name);
    try_every_byte("GET / HTTP/1.1\r\n" HOST "X: a", "b\r\n" END, in_value);
    try_every_byte("GET / HTTP/1.1\r\nHost: a", "b\r\n" END, in_host);
}

/* ---- ceilings ---- */

/* A head with a target of `target` bytes, `headers` headers besides Host, each with a value of
 * `value` bytes. */
static void make_head(struct buf *text, size_t target, size_t headers, size_t value)
{
    buf_init(text, MIB(1));
    buf_puts(text, "GET /");
    for (size_t i = 1; i < target; i++) {
        buf_putc(text, 'a');
    }
    buf_puts(text, " HTTP/1.1\r\n" HOST);
    for (size_t i = 0; i < headers; i++) {
        buf_puts(text, "X: ");
        for (size_t j = 0; j < value; j++) {
            buf_putc(text, 'v');
        }
        buf_puts(text, "\r\n");
    }
    buf_puts(text, "\r\n");
    assert_int_equal(buf_error(text), OK);
}

static void check_head(size_t target, size_t headers, size_t value, int expected)
{
    struct buf text;
    struct http_head head;
    make_head(&text, target, headers, value);
    int result = parse_exact(text.data, text.length, &head);
    assert_int_equal(result, expected ? expected : (int)text.length);
    for (size_t cut = 0; cut < text.length; cut += 97) {
        int early = parse_exact(text.data, cut, &head);
        assert_true(early == 0 || early == expected);
    }
    buf_done(&text);
}

static void test_ceilings(void **state)
{
    /* What the lines of make_head take beside the target and one value. */
    const size_t frame = strlen("GET  HTTP/1.1\r\n" HOST "X: \r\n\r\n") + 1;
    (void)state;
    check_head(LIMIT_HTTP_TARGET_BYTES, 0, 0, 0);
    check_head(LIMIT_HTTP_TARGET_BYTES + 1, 0, 0, -414);
    check_head(KIB(64), 0, 0, -414);
    check_head(1, LIMIT_HTTP_HEADERS - 1, 1, 0);
    check_head(1, LIMIT_HTTP_HEADERS, 1, -431);
    check_head(1, 1, LIMIT_HTTP_HEAD_BYTES - frame, 0);
    check_head(1, 1, LIMIT_HTTP_HEAD_BYTES - frame + 1, -431);
    check_head(1, 1, KIB(64), -431);
    check_head(1, 60, KIB(1), -431);
}

/* ---- chunked bodies ---- */

static const struct chunked {
    const char *text;
    const char *body; /* of a good one */
    int result;
    size_t rest; /* bytes after the body */
} CHUNKED[] = {
    {"0\r\n\r\n", "", 1, 0},
    {"5\r\nhello\r\n0\r\n\r\n", "hello", 1, 0},
    {"5\r\nhello\r\n0\r\n\r\nGET /", "hello", 1, 5},
    {"5\r\nhello\r\n6\r\n world\r\n000\r\n\r\n", "hello world", 1, 0},
    {"00000005\r\nhello\r\n0\r\n\r\n", "hello", 1, 0},
    {"a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789", 1, 0},
    {"2\r\n\r\n\r\n0\r\n\r\n", "\r\n", 1, 0},
    {"5;name=value;x=\"y z\"\r\nhello\r\n0;last\r\n\r\n", "hello", 1, 0},
    {"5;\r\nhello\r\n0\r\n\r\n", "hello", 1, 0},
    {"1\r\nx\r\n0\r\nTrailer: a b\r\nOther:\r\n\r\n", "x", 1, 0},
    {"64\r\n012345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
     "7"
     "890123456789\r\n0\r\n\r\n",
     "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012"
     "3"
     "456789",
     1, 0},
    {"", "", 0, 0},
    {"5\r\nhel", "hel", 0, 0},
    {"5\r\nhello\r\n0\r\n", "hello", 0, 0},
    {"\r\n", NULL, -400, 0},
    {"x\r\n", NULL, -400, 0},
    {"-1\r\n", NULL, -400, 0},
    {" 5\r\nhello\r\n", NULL, -400, 0},
    {"5 \r\nhello\r\n", NULL, -400, 0},
    {"5 ;x\r\nhello\r\n", NULL, -400, 0},
    {"0x5\r\nhello\r\n", NULL, -400, 0},
    {"5\nhello\r\n", NULL, -400, 0},
    {"5\rhello\r\n", NULL, -400, 0},
    {"5;a\nb\r\nhello\r\n", NULL, -400, 0},
    {"5;a\x01\r\nhello\r\n", NULL, -400, 0},
    {"5\r\nhello\n0\r\n\r\n", NULL, -400, 0},
    {"5\r\nhello\r0\r\n\r\n", NULL, -400, 0},
    {"5\r\nhello!\r\n0\r\n\r\n", NULL, -400, 0},
    {"5\r\nhell\r\n0\r\n\r\n", NULL, -400, 0},
    {"0\r\n\n", NULL, -400, 0},
    {"0\r\n\rx", NULL, -400, 0},
    {"0\r\n folded\r\n\r\n", NULL, -400, 0},
    {"0\r\nX: a\n\r\n", NULL, -400, 0},
    {"0\r\nX: a\x7f\r\n\r\n", NULL, -400, 0},
    {"65\r\n", NULL, -413, 0},
    {"ffffffffffffffffffffffff\r\n", NULL, -413, 0},
    {"64\r\n012345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
     "7"
     "890123456789\r\n1\r\nx\r\n0\r\n\r\n",
     NULL, -413, 0},
};

/* The ceiling of the cases above. */
#define CHUNKED_CEILING 100

struct decoded {
    struct buf body;
    size_t used;
    int result;
};

/* Decodes `length` bytes in pieces of `first` and then `step` bytes. */
static struct decoded decode(const char *text, size_t length, size_t first, size_t step)
{
    struct http_chunks chunks = {0};
    struct decoded decoded = {.result = 0};
    size_t piece = first;
    buf_init(&decoded.body, KIB(64));
    while (decoded.used < length && decoded.result == 0) {
        size_t left = length - decoded.used;
        size_t size = piece < left ? piece : left;
        size_t used = 0;
        char *copy = malloc(size ? size : 1);
        assert_non_null(copy);
        memcpy(copy, text + decoded.used, size);
        size_t decoded_length = size;
        decoded.result = http_read_chunks(&chunks, copy, &decoded_length, &used, CHUNKED_CEILING);
        assert_true(used <= size);
        assert_true(decoded_length <= used);
        assert_true(decoded.result != 0 || used == size);
        buf_append(&decoded.body, copy, decoded_length);
        decoded.used += used;
        free(copy);
        piece = step;
    }
    return decoded;
}

static void check_decoded(const struct chunked *chunked, size_t first, size_t step)
{
    size_t length = strlen(chunked->text);
    struct decoded decoded = decode(chunked->text, length, first, step);
    if (decoded.result != chunked->result) {
        print_error("%d and not %d: %s\n", decoded.result, chunked->result, chunked->text);
    }
    assert_int_equal(decoded.result, chunked->result);
    if (chunked->body) {
        assert_int_equal(decoded.used, length - chunked->rest);
        assert_int_equal(decoded.body.length, strlen(chunked->body));
        assert_memory_equal(decoded.body.data ? decoded.body.data : "", chunked->body,
                            decoded.body.length);
    }
    buf_done(&decoded.body);
}

static void test_chunked_bodies_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(CHUNKED); i++) {
        size_t length = strlen(CHUNKED[i].text);
        check_decoded(&CHUNKED[i], length, 1);
        for (size_t cut = 0; cut <= length; cut++) {
            check_decoded(&CHUNKED[i], cut, length ? length : 1);
        }
        for (size_t step = 1; step < 8; step++) {
            check_decoded(&CHUNKED[i], step, step);
        }
    }
}

/* Lines that never end are cut short. */
static void test_chunked_ceilings(void **state)
{
    static const struct {
        const char *before;
        char filler;
        int result;
    } cases[] = {
        {"", '0', -400},
        {"5;", 'x', -400},
        {"0\r\n", 'x', -431},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf text;
        buf_init(&text, MIB(1));
        buf_puts(&text, cases[i].before);
        for (size_t j = 0; j < KIB(16); j++) {
            buf_putc(&text, cases[i].filler);
        }
        struct decoded decoded = decode(text.data, text.length, 1000, 1000);
        assert_int_equal(decoded.result, cases[i].result);
        buf_done(&decoded.body);
        buf_done(&text);
    }
}

static void test_nothing_is_read_after_the_end(void **state)
{
    struct http_chunks chunks = {0};
    char text[] = "0\r\n\r\n5\r\n";
    size_t length = sizeof text - 1;
    size_t used;
    (void)state;
    assert_int_equal(http_read_chunks(&chunks, text, &length, &used, 10), 1);
    assert_int_equal(used, 5);
    length = 3;
    assert_int_equal(http_read_chunks(&chunks, text + 5, &length, &used, 10), 1);
    assert_int_equal(used, 0);
    assert_int_equal(length, 0);
}

static void test_names(void **state)
{
    static const struct {
        const char *a;
        const char *b;
        bool same;
    } cases[] = {
        {"Host", "hOST", true}, {"", "", true},    {"a", "", false},     {"a-B", "A-b", true},
        {"@", "`", false},      {"[", "{", false}, {"ab", "abc", false}, {"ab", "ac", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct slice a = {cases[i].a, strlen(cases[i].a)};
        struct slice b = {cases[i].b, strlen(cases[i].b)};
        assert_int_equal(slice_same_any_case(a, b), cases[i].same);
    }
}

UNIT_TEST(http_parse)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_heads),
        cmocka_unit_test(test_good_heads_cut_anywhere),
        cmocka_unit_test(test_bytes_after_the_head_are_left),
        cmocka_unit_test(test_values_are_trimmed),
        cmocka_unit_test(test_bad_heads_cut_anywhere),
        cmocka_unit_test(test_every_byte_everywhere),
        cmocka_unit_test(test_ceilings),
        cmocka_unit_test(test_chunked_bodies_cut_anywhere),
        cmocka_unit_test(test_chunked_ceilings),
        cmocka_unit_test(test_nothing_is_read_after_the_end),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
