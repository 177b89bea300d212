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

static int update(struct call *call, const struct memory_space *space,
                  const struct memory_change *change, struct memory_result *result)
{
    return changes_something(change)
               ? memory_update(call, space, change, result)
               : call_fail(call, CODE_VALIDATION,
                           "there is nothing to change: give text, summary, tags, metadata, "
                           "session, place, role, created_at or expires_at");
}

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    return memory_common_change(call, arguments, reply, update);
}

const struct tool TOOL_MEMORY_UPDATE = {
    .definition = definition_memory_update,
    .run = run,
    .ready = memory_common_ready,
};
