/* memory_update: changes parts of a memory. */
#include "call/errors.h"
#include "embedded.h"
#include "tools/memory_common.h"
#include "tools/tools.h"

static bool changes_something(const struct memory_change *change)
{
    return change->text || change->summary || change->set_tags || change->metadata ||
           change->session || change->place >= 0 || change->role || change->created_ms != 0 ||
           change->expires_ms != 0;
}

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    struct memory_change change;
    struct memory_result result;
    int status = memory_common_space(call, arguments, &space);
    if (status == OK) {
        status = fields_read(call, call_arena(call), arguments, &change);
    }
    if (status == OK && !changes_something(&change)) {
        status = call_fail(call, CODE_VALIDATION,
                           "there is nothing to change: give text, summary, tags, metadata, "
                           "session, place, role, created_at or expires_at");
    }
    if (status == OK) {
        status = memory_update(call, &space, &change, &result);
    }
    return status == OK ? memory_common_changed(reply, &space, &result) : status;
}

const struct tool TOOL_MEMORY_UPDATE = {
    .definition = definition_memory_update,
    .run = run,
    .ready = memory_common_ready,
};
