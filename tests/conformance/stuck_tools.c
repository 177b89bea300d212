/* Tools that are slow, large or stuck in every way there is, for the tests of cancellation and
 * limits. */
#include "call/errors.h"
#include "fixture.h"
#include "net/fetch.h"
#include "proc/proc.h"

#include <string.h>

static int run_echo(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)call;
    reply->structured = yyjson_mut_obj(reply->doc);
    json_add_string(reply->doc, reply->structured, "text", json_string(arguments, "text"));
    return OK;
}

static int run_big(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    size_t count = (size_t)yyjson_get_uint(yyjson_obj_get(arguments, "chars"));
    char *text = arena_alloc(call_arena(call), count + 1);
    if (!text) {
        return ERR_NOMEM;
    }
    memset(text, 'x', count);
    text[count] = '\0';
    reply_block(reply, text_block(reply->doc, text));
    return OK;
}

static int run_sleep(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    int status = call_sleep(call, yyjson_get_sint(yyjson_obj_get(arguments, "ms")));
    return status == OK ? reply_text(call, reply, "Slept well.") : status;
}

static int run_progress(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    int64_t steps = yyjson_get_sint(yyjson_obj_get(arguments, "steps"));
    int64_t pause_ms = yyjson_get_sint(yyjson_obj_get(arguments, "ms"));
    for (int64_t step = 1; step <= steps; step++) {
        int status = call_sleep(call, pause_ms);
        if (status != OK) {
            return status;
        }
        call_progress(call, (double)step, (double)steps, "step %d", (int)step);
    }
    return reply_text(call, reply, "Done with %d steps.", (int)steps);
}

static int run_fetch(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct url url;
    struct fetch_request request = {.url = &url};
    struct fetch_response response;
    int status = fetch_parse(call, json_string(arguments, "url"), &url, &response);
    if (status == OK) {
        status = fetch_run(call, &request, &response);
    }
    if (status == ERR_FAILED) {
        return call_fail(call, CODE_PROVIDER, "%s", response.error);
    }
    return status == OK ? reply_text(call, reply, "HTTP %d, %zu bytes", response.status,
                                     response.body_length)
                        : status;
}

#define MOST_CHILD_ARGUMENTS 16

static int run_child(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    static const char *const ENVIRONMENT[] = {"PATH=/usr/bin:/bin", NULL};
    const char *words[MOST_CHILD_ARGUMENTS + 2] = {json_string(arguments, "command")};
    size_t index, max;
    yyjson_val *word;
    yyjson_arr_foreach(yyjson_obj_get(arguments, "args"), index, max, word)
    {
        if (index < MOST_CHILD_ARGUMENTS) {
            words[index + 1] = yyjson_get_str(word);
        }
    }
    struct proc_options options = {.arguments = words, .environment = ENVIRONMENT};
    struct proc_result result;
    int status = proc_run(call, &options, &result);
    return status == OK ? reply_text(call, reply, "exit %d, signal %d, %s", result.exit.code,
                                     result.exit.signal, result.output)
                        : status;
}

static const struct tool TOOLS[] = {
    {DEFINITION("test_echo", "Gives back a text.", QUICK,
                ARGUMENTS(TEXT_ARGUMENT("text"), "\"text\"")),
     run_echo, NULL},
    {DEFINITION("test_big", "Answers with many characters.", QUICK,
                ARGUMENTS(NUMBER_ARGUMENT("chars", "16000000"), "\"chars\"")),
     run_big, NULL},
    {DEFINITION("test_sleep", "Sleeps.", SLOW,
                ARGUMENTS(NUMBER_ARGUMENT("ms", "600000"), "\"ms\"")),
     run_sleep, NULL},
    {DEFINITION("test_progress", "Reports its steps, with a pause before each.", SLOW,
                ARGUMENTS(NUMBER_ARGUMENT("steps", "100000") "," NUMBER_ARGUMENT("ms", "600000"),
                          "\"steps\",\"ms\"")),
     run_progress, NULL},
    {DEFINITION("test_fetch", "Fetches a page, wherever it is.", SLOW,
                ARGUMENTS(TEXT_ARGUMENT("url"), "\"url\"")),
     run_fetch, NULL},
    {DEFINITION(
         "test_child", "Runs a program to its end.", SLOW,
         ARGUMENTS(TEXT_ARGUMENT("command") "," TEXTS_ARGUMENT("args", "16"), "\"command\"")),
     run_child, NULL},
};

int add_stuck_tools(struct registry *registry)
{
    return add_tools(registry, TOOLS, sizeof TOOLS / sizeof *TOOLS);
}
