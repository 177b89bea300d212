/* memory_add: keeps a text. */
#include "embedded.h"
#include "tools/memory_common.h"
#include "tools/tools.h"

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    return memory_common_change(call, arguments, reply, memory_add);
}

const struct tool TOOL_MEMORY_ADD = {
    .definition = definition_memory_add,
    .run = run,
    .ready = memory_common_ready,
};
