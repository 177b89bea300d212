/* The Gemini CLI, headless: the prompt on stdin, events as lines of JSON on stdout.
 *
 * What its events are is not its documentation's word alone; tests run the real program. */
#include "research/worker.h"
#include "text/json.h"

#include <string.h>

/* Without the first it refuses to work in a folder that nobody has declared trusted; without the
 * second it starts itself again, and the outer one of the two does not heed SIGTERM. */
static const char *const SETTINGS[] = {"GEMINI_CLI_TRUST_WORKSPACE=true",
                                       "GEMINI_CLI_NO_RELAUNCH=true", "NO_COLOR=1", NULL};
static const char *const OWN_VARIABLES[] = {"GEMINI_", "GOOGLE_", NULL};

static const char *const ARGUMENTS[] = {
    "--model",
    WORKER_MODEL,
    "--output-format",
    "stream-json",
    "--policy",
    ".gemini/policy.toml", /* seen from its folder: it would split a path at commas */
    "--allowed-mcp-server-names",
    WORKER_SERVERS,
    NULL,
};

/* ---- events ---- */

static bool read_message(yyjson_val *line, struct worker_event *event)
{
    event->kind = WORKER_SAYS;
    worker_set_text(event, yyjson_obj_get(line, "content"));
    return yyjson_equals_str(yyjson_obj_get(line, "role"), "assistant");
}

static bool read_tool_use(yyjson_val *line, struct worker_event *event)
{
    return worker_set_use(event, json_string(line, "tool_name"), json_string(line, "tool_id"),
                          yyjson_obj_get(line, "parameters"));
}

static bool read_tool_result(yyjson_val *line, struct worker_event *event)
{
    event->kind = WORKER_GOT;
    event->id = json_string(line, "tool_id");
    event->ok = yyjson_equals_str(yyjson_obj_get(line, "status"), "success");
    worker_set_text(event, yyjson_obj_get(line, "output"));
    return event->id != NULL;
}

static bool read_error(yyjson_val *line, struct worker_event *event)
{
    event->kind = WORKER_WARNS;
    worker_set_text(event, yyjson_obj_get(line, "message"));
    return true;
}

static bool read_result(yyjson_val *line, struct worker_event *event)
{
    bool done = yyjson_equals_str(yyjson_obj_get(line, "status"), "success");
    event->kind = done ? WORKER_IS_DONE : WORKER_FAILS;
    worker_set_text(event, yyjson_obj_get(yyjson_obj_get(line, "error"), "message"));
    return true;
}

static const struct worker_reader READERS[] = {
    {"message", read_message}, {"tool_use", read_tool_use}, {"tool_result", read_tool_result},
    {"error", read_error},     {"result", read_result},     {NULL, NULL},
};

static int read_line(yyjson_val *line, const char *type, const struct worker_sink *sink)
{
    struct worker_event event;
    return worker_read(READERS, type, line, &event) ? sink->take(sink->context, &event) : OK;
}

/* "[USER] Policy file error in policy.toml:". Which server it is that does not start it does not
 * say. */
static enum worker_trouble trouble(const char *line)
{
    static const char NO_SERVER[] = "MCP issues detected";
    static const char NO_POLICY[] = "] Policy file error in ";
    if (strncmp(line, NO_SERVER, sizeof NO_SERVER - 1) == 0) {
        return WORKER_LOST_SERVER;
    }
    const char *tier_end = *line == '[' ? strchr(line, ']') : NULL;
    return tier_end && strncmp(tier_end, NO_POLICY, sizeof NO_POLICY - 1) == 0 ? WORKER_LOST_POLICY
                                                                               : WORKER_NO_TROUBLE;
}

const struct worker WORKER_GEMINI = {
    .name = "gemini",
    .title = "the Gemini CLI",
    .program = "gemini",
    .path_variable = "FORAGE_GEMINI_PATH",
    .model_variable = "FORAGE_GEMINI_MODEL",
    .install = "install it with `npm install -g @google/gemini-cli` (it needs Node.js 20 or newer)",
    .sign_in = "set GEMINI_API_KEY, or run `gemini` once and sign in",
    .arguments = ARGUMENTS,
    .own_variables = OWN_VARIABLES,
    .settings = SETTINGS,
    .read = read_line,
    .trouble = trouble,
};
