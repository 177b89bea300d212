/* Tools that say something while they run: log lines and progress. */
#include "fixture.h"

#define PAUSE_MS 50

static int run_with_logging(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    static const char *const LINES[] = {
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    };
    (void)arguments;
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        int status = i ? call_sleep(call, PAUSE_MS) : OK;
        if (status != OK) {
            return status;
        }
        call_log(call, "info", "%s", LINES[i]);
    }
    return reply_text(call, reply, "Three log lines were sent, to whoever wanted them.");
}

static int run_with_progress(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    (void)arguments;
    for (int done = 0; done <= 100; done += 50) {
        int status = done ? call_sleep(call, PAUSE_MS) : OK;
        if (status != OK) {
            return status;
        }
        call_progress(call, done, 100, "%d of 100", done);
    }
    return reply_text(call, reply, "Progress was reported, to whoever wanted it.");
}

static const struct tool TOOLS[] = {
    {DEFINITION("test_tool_with_logging", "Sends log lines while it runs.", SLOW, NO_ARGUMENTS),
     run_with_logging, NULL},
    {DEFINITION("test_logging_tool", "Sends log lines while it runs.", SLOW, NO_ARGUMENTS),
     run_with_logging, NULL},
    {DEFINITION("test_tool_with_progress", "Reports progress while it runs.", SLOW, NO_ARGUMENTS),
     run_with_progress, NULL},
};

int add_speaking_tools(struct registry *registry)
{
    return add_tools(registry, TOOLS, sizeof TOOLS / sizeof *TOOLS);
}
