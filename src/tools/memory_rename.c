/* memory_rename: gives a memory another key. */
#include "embedded.h"
#include "tools/memory_common.h"
#include "tools/tools.h"

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    return memory_common_change(call, arguments, reply, memory_rename);
}

const struct tool TOOL_MEMORY_RENAME = {
    .definition = definition_memory_rename,
    .run = run,
    .ready = memory_common_ready,
};
