/* Claude Code, headless: the prompt on stdin, events as lines of JSON on stdout. */
#include "research/worker.h"
#include "text/json.h"

#include <string.h>

static const char *const SETTINGS[] = {
    "NO_COLOR=1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
    "DISABLE_AUTOUPDATER=1",
    "DISABLE_TELEMETRY=1",
    "MCP_CONNECTION_NONBLOCKING=false", /* else it may begin before its reader of pages is there */
    "ENABLE_TOOL_SEARCH=false",         /* else it has to look for that reader first */
    NULL,
};
static const char *const OWN_VARIABLES[] = {"ANTHROPIC_", "CLAUDE_", NULL};

#define READING "mcp__forage__get_content"

static const char *const ARGUMENTS[] = {
    "--print",
    "--output-format",
    "stream-json",
    "--verbose",
    "--model",
    WORKER_MODEL,
    "--mcp-config=.claude/mcp.json", /* and no server of the user's own */
    "--strict-mcp-config",
    "--setting-sources=", /* nor their settings, with what those allow */
    "--disable-slash-commands",
    "--no-session-persistence",
    "--tools=WebSearch,WebFetch", /* of those that it has itself: no files, no commands */
    "--allowedTools=WebSearch,WebFetch," READING,
    NULL,
};

/* ---- events ---- */

/* The text of a result: a string, or the first text block of an array. */
static void set_content(struct worker_event *event, yyjson_val *content)
{
    if (yyjson_is_arr(content)) {
        content = yyjson_obj_get(yyjson_arr_get_first(content), "text");
    }
    worker_set_text(event, content);
}

static bool read_text(yyjson_val *block, struct worker_event *event)
{
    event->kind = WORKER_SAYS;
    set_content(event, yyjson_obj_get(block, "text"));
    return true;
}

static bool read_tool_use(yyjson_val *block, struct worker_event *event)
{
    return worker_set_use(event, json_string(block, "name"), json_string(block, "id"),
                          yyjson_obj_get(block, "input"));
}

static bool read_tool_result(yyjson_val *block, struct worker_event *event)
{
    event->kind = WORKER_GOT;
    event->id = json_string(block, "tool_use_id");
    event->ok = !yyjson_get_bool(yyjson_obj_get(block, "is_error"));
    set_content(event, yyjson_obj_get(block, "content"));
    return event->id != NULL;
}

static const struct worker_reader READERS[] = {
    {"text", read_text},
    {"tool_use", read_tool_use},
    {"tool_result", read_tool_result},
    {NULL, NULL},
};

static int read_message(yyjson_val *line, bool own, const struct worker_sink *sink)
{
    yyjson_val *content = yyjson_obj_get(yyjson_obj_get(line, "message"), "content");
    yyjson_arr_iter each = yyjson_arr_iter_with(content);
    yyjson_val *block;
    int status = OK;
    while (status == OK && (block = yyjson_arr_iter_next(&each)) != NULL) {
        struct worker_event event;
        const char *type = json_string(block, "type");
        if (type && worker_read(READERS, type, block, &event) &&
            own == (event.kind != WORKER_GOT)) {
            status = sink->take(sink->context, &event);
        }
    }
    return status;
}

static int read_result(yyjson_val *line, const struct worker_sink *sink)
{
    bool failed = yyjson_get_bool(yyjson_obj_get(line, "is_error")) ||
                  !yyjson_equals_str(yyjson_obj_get(line, "subtype"), "success");
    struct worker_event event = {.kind = failed ? WORKER_FAILS : WORKER_IS_DONE, .text = ""};
    set_content(&event, yyjson_obj_get(line, "result"));
    event.http_status = yyjson_get_int(yyjson_obj_get(line, "api_error_status"));
    if (failed && !event.length) {
        set_content(&event, yyjson_obj_get(line, "subtype"));
    }
    return sink->take(sink->context, &event);
}

static int read_line(yyjson_val *line, const char *type, const struct worker_sink *sink)
{
    if (strcmp(type, "assistant") == 0) {
        return read_message(line, true, sink);
    }
    if (strcmp(type, "user") == 0) {
        return read_message(line, false, sink);
    }
    return strcmp(type, "result") == 0 ? read_result(line, sink) : OK;
}

const struct worker WORKER_CLAUDE = {
    .name = "claude",
    .title = "Claude Code",
    .program = "claude",
    .path_variable = "FORAGE_CLAUDE_PATH",
    .model_variable = "ANTHROPIC_MODEL",
    .install = "install it with `npm install -g @anthropic-ai/claude-code`",
    .sign_in = "set ANTHROPIC_API_KEY, or run `claude` once and sign in",
    .arguments = ARGUMENTS,
    .own_variables = OWN_VARIABLES,
    .settings = SETTINGS,
    .read = read_line, /* its limits are arguments, which it refuses when they are wrong */
};
