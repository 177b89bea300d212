/* The messages of the browser: how they are cut, to whom they go, and what a page that leaves, or a
 * browser that does, leaves behind. */
#include "browser/protocol.h"

#include "browser/frames.h"
#include "core/limits.h"
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WRITTEN_BYTES KIB(8)

struct world {
    struct protocol *protocol;
    struct channel *channel;
    struct call *call;
    int pipe[2]; /* the browser's input */
};

static int make_world(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    struct call_options options = {.timeout_ms = 60000};
    assert_non_null(world);
    world->protocol = protocol_new();
    world->channel = channel_open(world->protocol);
    world->call = call_new(&options);
    assert_non_null(world->channel);
    assert_non_null(world->call);
    assert_int_equal(pipe2(world->pipe, O_CLOEXEC | O_NONBLOCK), 0);
    *state = world;
    return 0;
}

static int end_world(void **state)
{
    struct world *world = *state;
    assert_null(channel_close(world->channel));
    assert_null(protocol_free(world->protocol));
    call_free(world->call);
    close(world->pipe[0]);
    close(world->pipe[1]);
    free(world);
    return 0;
}

/* What the browser says; every message with its NUL. */
static void say(struct world *world, const char *text)
{
    protocol_take(world->protocol, text, strlen(text) + 1);
}

/* What the browser has read so far, each NUL as a line break. */
static const char *heard(struct world *world)
{
    static char text[WRITTEN_BYTES];
    assert_int_equal(protocol_write(world->protocol, world->pipe[1]), OK);
    ssize_t got = read(world->pipe[0], text, sizeof text - 1);
    got = got < 0 ? 0 : got;
    text[got] = '\0';
    for (ssize_t i = 0; i < got; i++) {
        text[i] = text[i] ? text[i] : '\n';
    }
    return text;
}

static void commands(void **state)
{
    struct world *world = *state;
    struct channel *channel = world->channel;
    assert_int_equal(channel_send(channel, TO_BROWSER, "A.b", NULL, false), OK);
    assert_string_equal(heard(world), "{\"id\":1,\"method\":\"A.b\",\"params\":{}}\n");
    assert_int_equal(channel_set_session(channel, "S1"), OK);
    assert_int_equal(channel_send(channel, TO_SESSION, "C.d", "{\"e\":1}", true), OK);
    assert_int_equal(channel_send(channel, TO_BROWSER, "F.g", "{}", false), OK);
    assert_string_equal(heard(world),
                        "{\"id\":2,\"method\":\"C.d\",\"params\":{\"e\":1},\"sessionId\":\"S1\"}\n"
                        "{\"id\":3,\"method\":\"F.g\",\"params\":{}}\n");
    assert_int_equal(channel_set_session(channel, "a\"b"), ERR_INVALID);
    assert_int_equal(channel_set_session(channel, ""), ERR_INVALID);
}

/* What arrives at the channel of session S1, which waits for the answer to command 1. */
static void routing(void **state)
{
    static const struct {
        const char *said;
        const char *method; /* NULL: an answer; empty: nothing arrives */
        const char *error;
    } CASES[] = {
        {"{\"method\":\"N.e\",\"params\":{\"v\":\"x\"},\"sessionId\":\"S1\"}", "N.e", NULL},
        {"{\"method\":\"N.e\",\"params\":{\"v\":\"x\"},\"sessionId\":\"S2\"}", "", NULL},
        {"{\"method\":\"N.e\",\"params\":{\"v\":\"x\"}}", "", NULL},
        {"{\"id\":1,\"result\":{\"v\":\"x\"}}", NULL, NULL},
        {"{\"id\":1,\"error\":{\"code\":-1,\"message\":\"no\"}}", NULL, "no"},
        {"{\"id\":1,\"error\":{}}", NULL, "the browser refused"},
        {"{\"id\":7,\"result\":{\"v\":\"x\"}}", "", NULL},
        {"{\"method\":\"N.e\",\"params\":{\"v\":\"\\ud800x\"},\"sessionId\":\"S1\"}", "N.e", NULL},
        {"{\"method\":", "", NULL},
        {"", "", NULL},
        {"[1]", "", NULL},
        {"{\"method\":\"N.f\",\"sessionId\":\"S1\"}", "N.f", NULL},
    };
    struct world *world = *state;
    channel_set_session(world->channel, "S1");
    channel_send(world->channel, TO_BROWSER, "A.b", NULL, true);
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct browser_message message;
        print_message("%s\n", CASES[i].said);
        say(world, CASES[i].said);
        assert_int_equal(channel_poll(world->channel, &message), OK);
        bool arrives = !CASES[i].method || *CASES[i].method;
        assert_int_equal(message.doc != NULL, arrives);
        if (arrives && CASES[i].method) {
            assert_string_equal(message.method, CASES[i].method);
        } else {
            assert_null(message.method);
        }
        if (CASES[i].error) {
            assert_string_equal(message.error, CASES[i].error);
        } else {
            assert_null(message.error);
        }
        message_free(&message);
    }
}

/* A page may say what is no text: halves of surrogate pairs are replaced, whole pairs stay. */
static void halves_of_characters(void **state)
{
    static const struct {
        const char *said;
        const char *text;
    } CASES[] = {
        {"\\ud800", "\xef\xbf\xbd"},
        {"a\\uDFFFb", "a\xef\xbf\xbd"
                      "b"},
        {"\\ud83d\\ude00\\ud83d", "\xf0\x9f\x98\x80\xef\xbf\xbd"},
        {"\\ude00\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"\\\\ud800\\ud800", "\\ud800\xef\xbf\xbd"},
        {"\\n\\ud800\\u00e9", "\n\xef\xbf\xbd\xc3\xa9"},
    };
    struct world *world = *state;
    channel_set_session(world->channel, "S");
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char said[256];
        struct browser_message message;
        snprintf(said, sizeof said,
                 "{\"method\":\"A\",\"params\":{\"v\":\"%s\"},"
                 "\"sessionId\":\"S\"}",
                 CASES[i].said);
        say(world, said);
        assert_int_equal(channel_poll(world->channel, &message), OK);
        assert_non_null(message.doc);
        assert_string_equal(json_string(message.contents, "v"), CASES[i].text);
        message_free(&message);
    }
}

/* Messages come in any pieces, and in order. */
static void pieces(void **state)
{
    static const char STREAM[] = "{\"method\":\"A\",\"sessionId\":\"S\"}\0"
                                 "{\"method\":\"B\",\"sessionId\":\"S\"}\0"
                                 "{\"method\":\"C\",\"sessionId\":\"S\"}";
    struct world *world = *state;
    channel_set_session(world->channel, "S");
    for (size_t size = 1; size <= sizeof STREAM; size += 7) {
        for (size_t at = 0; at < sizeof STREAM; at += size) {
            size_t left = sizeof STREAM - at;
            protocol_take(world->protocol, STREAM + at, left < size ? left : size);
        }
        for (const char *wanted = "ABC"; *wanted; wanted++) {
            struct browser_message message;
            assert_int_equal(channel_next(world->call, world->channel, 0, &message), OK);
            assert_non_null(message.doc);
            assert_int_equal(message.method[0], *wanted);
            message_free(&message);
        }
    }
}

/* A message beyond the ceiling is lost; the next one is not. */
static void message_that_is_too_long(void **state)
{
    struct world *world = *state;
    struct browser_message message;
    static char piece[MIB(1)];
    memset(piece, 'x', sizeof piece);
    channel_set_session(world->channel, "S");
    for (size_t sent = 0; sent <= LIMIT_BROWSER_MESSAGE_BYTES; sent += sizeof piece) {
        protocol_take(world->protocol, piece, sizeof piece);
    }
    say(world, "\"sessionId\":\"S\"}");
    say(world, "{\"method\":\"A\",\"sessionId\":\"S\"}");
    assert_int_equal(channel_poll(world->channel, &message), OK);
    assert_string_equal(message.method, "A");
    message_free(&message);
}

static void flood(void **state)
{
    struct world *world = *state;
    struct browser_message message;
    channel_set_session(world->channel, "S");
    for (int i = 0; i < LIMIT_BROWSER_EVENTS + 10; i++) {
        say(world, "{\"method\":\"A\",\"sessionId\":\"S\"}");
    }
    int status = OK;
    int taken = 0;
    while (status == OK) {
        status = channel_poll(world->channel, &message);
        taken += message.doc != NULL;
        message_free(&message);
    }
    assert_int_equal(status, ERR_LIMIT);
    assert_int_equal(taken, LIMIT_BROWSER_EVENTS);
}

/* A page that left while its context was being made: the context is thrown away when it comes. */
static void orphans(void **state)
{
    struct world *world = *state;
    struct channel *leaving = channel_open(world->protocol);
    channel_send(leaving, TO_BROWSER, "Target.createBrowserContext", "{}", true);
    heard(world);
    channel_close(leaving);
    say(world, "{\"id\":1,\"result\":{\"browserContextId\":\"C7\"}}");
    assert_string_equal(heard(world), "{\"id\":2,\"method\":\"Target.disposeBrowserContext\","
                                      "\"params\":{\"browserContextId\":\"C7\"}}\n");
    say(world, "{\"id\":2,\"result\":{}}");
    assert_string_equal(heard(world), "");
}

static void *close_soon(void *argument)
{
    struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    nanosleep(&pause, NULL);
    protocol_close(argument);
    return NULL;
}

static void browser_that_leaves(void **state)
{
    struct world *world = *state;
    struct browser_message message;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, close_soon, world->protocol), 0);
    assert_int_equal(channel_next(world->call, world->channel, -1, &message), ERR_CLOSED);
    pthread_join(thread, NULL);
    assert_int_equal(channel_send(world->channel, TO_BROWSER, "A.b", NULL, false), ERR_CLOSED);
}

static void cancelled_call(void **state)
{
    struct world *world = *state;
    struct browser_message message;
    channel_set_session(world->channel, "S");
    say(world, "{\"method\":\"A\",\"sessionId\":\"S\"}");
    call_cancel(world->call);
    assert_int_equal(channel_next(world->call, world->channel, -1, &message), ERR_CANCELLED);
    assert_null(message.doc);
}

/* Commands wait while the browser does not read, up to a ceiling. */
static void browser_that_does_not_read(void **state)
{
    struct world *world = *state;
    static char params[KIB(512)];
    memset(params, ' ', sizeof params - 1);
    params[0] = '{';
    params[sizeof params - 2] = '}';
    int status = OK;
    int sent = 0;
    while (status == OK && sent < 100) {
        status = channel_send(world->channel, TO_BROWSER, "A.b", params, false);
        sent++;
    }
    assert_int_equal(status, ERR_LIMIT);
    assert_int_equal(protocol_write(world->protocol, world->pipe[1]), ERR_BUSY);
    assert_int_equal(channel_send(world->channel, TO_BROWSER, "C.d", "{}", false), OK);
}

/* ---- a browser without a pipe ---- */

static void where_a_browser_listens(void **state)
{
    (void)state;
    static const struct {
        const char *errors;
        int port; /* 0: it has not said so */
        const char *path;
    } CASES[] = {
        {"\nDevTools listening on ws://127.0.0.1:4711/devtools/browser/a-b\n", 4711,
         "/devtools/browser/a-b"},
        {"Gtk: no display\nDevTools listening on ws://127.0.0.1:65535/x\r\nmore", 65535, "/x"},
        {"DevTools listening on ws://127.0.0.1:4711/devtools/bro", 0, NULL},
        {"DevTools listening on ws://127.0.0.1:0/x\n", 0, NULL},
        {"DevTools listening on ws://127.0.0.1:17\n", 0, NULL},
        {"DevTools listening on ws://192.0.2.1:17/x\n", 0, NULL},
        {"", 0, NULL},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct frames_address address = {0};
        assert_int_equal(frames_find_address(CASES[i].errors, &address), CASES[i].port != 0);
        if (CASES[i].port) {
            assert_int_equal(address.port, CASES[i].port);
            assert_string_equal(address.path, CASES[i].path);
        }
    }
}

/* A frame of the text as a browser takes it; its length has as few bytes as it needs. */
static void frames_of_every_length(void **state)
{
    (void)state;
    static const size_t LENGTHS[] = {0, 1, 125, 126, 127, 65535, 65536, 200000};
    static const size_t HEADS[] = {6, 6, 6, 8, 8, 8, 14, 14};
    static char text[200000];
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < COUNT(LENGTHS); i++) {
        struct buf out;
        buf_init(&out, MIB(1));
        assert_int_equal(buf_puts(&out, "before"), OK);
        assert_int_equal(buf_append(&out, text, LENGTHS[i]), OK);
        assert_int_equal(frames_wrap(&out, strlen("before")), OK);
        const unsigned char *frame = (const unsigned char *)out.data + strlen("before");
        size_t bytes = HEADS[i] - 6;
        size_t length = bytes ? 0 : frame[1] & 0x7F;
        for (size_t j = 0; j < bytes; j++) {
            length = length << 8 | frame[2 + j];
        }
        assert_int_equal(out.length, strlen("before") + HEADS[i] + LENGTHS[i]);
        assert_int_equal(frame[0], 0x81);
        assert_true(frame[1] & 0x80);
        assert_int_equal(length, LENGTHS[i]);
        assert_memory_equal(frame + HEADS[i] - 4, "\0\0\0\0", 4);
        assert_memory_equal(frame + HEADS[i], text, LENGTHS[i]);
        buf_done(&out);
    }
}

#define GOOD_ANSWER "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"

/* Frames come in any pieces: whole messages, one in two parts with a sign of life between, and a
 * long one. */
static void messages_in_frames(void **state)
{
    static const struct frames_address ADDRESS = {4711, "/devtools/browser/x"};
    struct world *world = *state;
    struct buf said;
    char padding[300];
    memset(padding, ' ', sizeof padding);
    buf_init(&said, KIB(8));
    buf_puts(&said, GOOD_ANSWER "\x81\x1E{\"method\":\"A\",\"sessionId\":\"S\"}");
    buf_puts(&said, "\x01\x0A{\"method\":\x89\x02hi\x80\x14\"B\",\"sessionId\":\"S\"}\x8A");
    buf_append(&said, "\0\x81\x7E\x01\x4A", 5);
    buf_append(&said, padding, sizeof padding);
    buf_puts(&said, "{\"method\":\"C\",\"sessionId\":\"S\"}");
    assert_int_equal(buf_error(&said), OK);
    assert_int_equal(protocol_use_frames(world->protocol, &ADDRESS), OK);
    assert_non_null(strstr(heard(world), "GET /devtools/browser/x HTTP/1.1\r\n"
                                         "Host: 127.0.0.1:4711\r\nUpgrade: websocket\r\n"));
    channel_set_session(world->channel, "S");
    for (size_t size = 1; size <= said.length; size += 5) {
        size_t skipped = size == 1 ? 0 : strlen(GOOD_ANSWER); /* it is said once */
        for (size_t at = skipped; at < said.length; at += size) {
            size_t left = said.length - at;
            assert_int_equal(
                protocol_take(world->protocol, said.data + at, left < size ? left : size), OK);
        }
        for (const char *wanted = "ABC"; *wanted; wanted++) {
            struct browser_message message;
            assert_int_equal(channel_poll(world->channel, &message), OK);
            assert_non_null(message.doc);
            assert_int_equal(message.method[0], *wanted);
            message_free(&message);
        }
    }
    buf_done(&said);
}

static void commands_in_frames(void **state)
{
    static const struct frames_address ADDRESS = {4711, "/x"};
    struct world *world = *state;
    assert_int_equal(protocol_use_frames(world->protocol, &ADDRESS), OK);
    heard(world);
    assert_false(protocol_is_open(world->protocol));
    assert_int_equal(protocol_take(world->protocol, GOOD_ANSWER, strlen(GOOD_ANSWER)), OK);
    assert_true(protocol_is_open(world->protocol));
    assert_int_equal(channel_send(world->channel, TO_BROWSER, "A.b", NULL, false), OK);
    /* As heard() has it, where the mask's zeros are line breaks; there is no NUL behind it. */
    assert_string_equal(heard(world),
                        "\x81\xA3\n\n\n\n{\"id\":1,\"method\":\"A.b\",\"params\":{}}");
}

static void what_ends_a_web_socket(void **state)
{
    (void)state;
    static const struct {
        const char *said;
        size_t length;
    } CASES[] = {
        {"HTTP/1.1 404 Not Found\r\n\r\n", 26},
        {"\r\n\r\n", 4},
        {GOOD_ANSWER "\x88\x00", sizeof GOOD_ANSWER - 1 + 2},
        {GOOD_ANSWER "\x81\x81\0\0\0\0x", sizeof GOOD_ANSWER - 1 + 7},
    };
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct frames frames = {0};
        struct slice data = {CASES[i].said, CASES[i].length};
        struct slice text;
        bool ends = false;
        assert_int_equal(frames_take(&frames, &data, &text, &ends), ERR_CLOSED);
    }
    static char endless[2000];
    struct frames frames = {0};
    struct slice data = {endless, sizeof endless};
    struct slice text;
    bool ends;
    memset(endless, 'x', sizeof endless);
    assert_int_equal(frames_take(&frames, &data, &text, &ends), ERR_CLOSED);
}

UNIT_TEST(browser_protocol)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, make_world, end_world)
    const struct CMUnitTest tests[] = {
        IN_WORLD(commands),
        IN_WORLD(routing),
        IN_WORLD(halves_of_characters),
        IN_WORLD(pieces),
        IN_WORLD(message_that_is_too_long),
        IN_WORLD(flood),
        IN_WORLD(orphans),
        IN_WORLD(browser_that_leaves),
        IN_WORLD(cancelled_call),
        IN_WORLD(browser_that_does_not_read),
        cmocka_unit_test(where_a_browser_listens),
        cmocka_unit_test(frames_of_every_length),
        IN_WORLD(messages_in_frames),
        IN_WORLD(commands_in_frames),
        cmocka_unit_test(what_ends_a_web_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
