/* forage_status: what this server can do right now. */
#include "call/errors.h"
#include "embedded.h"
#include "ops/status.h"
#include "tools/tools.h"

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    const char *only = json_string(arguments, "tool");
    reply->structured = status_describe(reply->doc, only);
    if (!reply->structured) {
        return only ? call_fail(call, CODE_VALIDATION,
                                "tool: there is no tool \"%s\" here; leave it out to see all", only)
                    : ERR_NOMEM;
    }
    return OK;
}

const struct tool TOOL_FORAGE_STATUS = {
    .definition = definition_forage_status,
    .run = run,
};
