/* memory_search: memories by what they are about. */
#include "embedded.h"
#include "tools/memory_common.h"
#include "tools/tools.h"

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    struct memory_filter filter;
    struct memory_hits hits;
    int status = memory_common_space(call, arguments, &space);
    if (status == OK) {
        status = memory_common_filter(call, arguments, &filter);
    }
    if (status == OK) {
        status = memory_search(call, &space, json_string(arguments, "query"), &filter,
                               memory_common_size(arguments, "limit"),
                               memory_common_size(arguments, "offset"), &hits);
    }
    return status == OK ? memory_common_hits(reply, arguments, &hits) : status;
}

const struct tool TOOL_MEMORY_SEARCH = {
    .definition = definition_memory_search,
    .run = run,
    .ready = memory_common_ready,
};
