/* Fuzzes the protocol from the bytes of a message to the bytes of its answer, over both transports.
 *
 * An input that begins with "H" is an HTTP request as the protocol sees it: four lines (version,
 * method and name headers and a session label; an empty one is absent) and the body. Any other
 * input is what a stdio client sends, a message per line, in one session. Whatever comes: nothing
 * crashes, every answer is JSON-RPC, and over HTTP it has a status that the specification knows. */
#include "../tests/unit/protocol_server.h"
#include "config/config.h"
#include "core/limits.h"
#include "core/log.h"
#include "fuzz.h"
#include "guard/callers.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_message: %s\n", what);
        abort();
    }
}

static void check_one(yyjson_val *answer)
{
    const char *version = json_string(answer, "jsonrpc");
    require(version && strcmp(version, "2.0") == 0, "an answer is not JSON-RPC 2.0");
    bool result = yyjson_is_obj(yyjson_obj_get(answer, "result"));
    bool error = yyjson_is_obj(yyjson_obj_get(answer, "error"));
    require(result != error, "an answer has not one of result and error");
    require(yyjson_obj_get(answer, "id") != NULL, "an answer has no id");
}

static void check_answer(const char *answer)
{
    struct arena *arena = arena_new(MIB(64));
    require(arena != NULL, "out of memory");
    yyjson_val *root = yyjson_doc_get_root(json_parse(arena, answer, strlen(answer), NULL));
    require(root != NULL, "an answer is not JSON");
    if (yyjson_is_arr(root)) {
        size_t index, max;
        yyjson_val *one;
        require(yyjson_arr_size(root) > 0, "an answer to a batch is empty");
        yyjson_arr_foreach(root, index, max, one)
        {
            check_one(one);
        }
    } else {
        check_one(root);
    }
    arena_free(arena);
}

static void send(struct test_server *server, const struct mcp_peer *peer, const char *text,
                 size_t length)
{
    static const int STATUSES[] = {200, 202, 400, 404};
    int status;
    char *answer = test_server_send(server, peer, text, length, &status);
    bool known = false;
    for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++) {
        known = known || status == STATUSES[i];
    }
    require(known, "an answer has a status that the specification does not know");
    require((answer == NULL) == (status == 202), "an answer and its status disagree");
    if (answer) {
        check_answer(answer);
    }
    free(answer);
}

/* The next line as text of its own, or NULL when it is empty; moves `*text` behind it. */
static char *take_line(const char **text, const char *end)
{
    const char *newline = memchr(*text, '\n', (size_t)(end - *text));
    size_t length = (size_t)((newline ? newline : end) - *text);
    char *line = length ? strndup(*text, length) : NULL;
    *text = newline ? newline + 1 : end;
    return line;
}

static void fuzz_http(struct test_server *server, const char *text, const char *end)
{
    char *version = take_line(&text, end);
    char *method = take_line(&text, end);
    char *name = take_line(&text, end);
    char *label = take_line(&text, end);
    struct mcp_headers headers = {.protocol_version = version, .method = method, .name = name};
    struct mcp_peer peer = {.headers = &headers, .label = label, .caller = caller_local()};
    send(server, &peer, text, (size_t)(end - text));
    free(version);
    free(method);
    free(name);
    free(label);
}

static void fuzz_stdio(struct test_server *server, const char *text, const char *end)
{
    struct mcp_peer peer = {.client = server->client, .caller = caller_local()};
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        send(server, &peer, text, (size_t)(stop - text));
        text = newline ? newline + 1 : end;
    }
}

static void load_config(void)
{
    static bool loaded;
    if (!loaded) {
        char *nothing[] = {NULL};
        struct buf problem;
        buf_init(&problem, 10000);
        log_set_level(LOG_LEVEL_ERROR);
        require(config_load(nothing, NULL, &problem) == OK, "the configuration does not load");
        buf_done(&problem);
        loaded = true;
    }
}

FUZZ_TARGET(message)
{
    struct test_server server;
    const char *text = (const char *)data;
    load_config();
    require(test_server_open(&server), "the server does not open");
    if (size && text[0] == 'H') {
        fuzz_http(&server, text + 1, text + size);
    } else {
        fuzz_stdio(&server, text, text + size);
    }
    test_server_close(&server);
    return 0;
}
