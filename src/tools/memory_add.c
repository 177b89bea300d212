/* memory_add: keeps a text. */
#include "embedded.h"
#include "tools/memory_common.h"
#include "tools/tools.h"

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    struct memory_change change;
    struct memory_result result;
    int status = memory_common_space(call, arguments, &space);
    if (status == OK) {
        status = fields_read(call, call_arena(call), arguments, &change);
    }
    if (status == OK) {
        status = memory_add(call, &space, &change, &result);
    }
    return status == OK ? memory_common_changed(reply, &space, &result) : status;
}

const struct tool TOOL_MEMORY_ADD = {
    .definition = definition_memory_add,
    .run = run,
    .ready = memory_common_ready,
};
