/* memory_delete: forgets memories, for good. */
#include "embedded.h"
#include "tools/memory_common.h"
#include "tools/tools.h"

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    const char **keys;
    size_t count;
    int status = memory_common_space(call, arguments, &space);
    if (status == OK) {
        status = memory_common_keys(call, arguments, &keys, &count);
    }
    if (status != OK) {
        return status;
    }
    bool *gone = arena_zalloc(call_arena(call), count);
    status = gone ? memory_delete(call, &space, keys, count, gone) : ERR_NOMEM;
    if (status != OK) {
        return status;
    }
    yyjson_mut_val *data = memory_common_data(reply);
    yyjson_mut_val *deleted = yyjson_mut_arr(reply->doc);
    yyjson_mut_val *missing = yyjson_mut_arr(reply->doc);
    for (size_t i = 0; i < count; i++) {
        yyjson_mut_arr_add_str(reply->doc, gone[i] ? deleted : missing, keys[i]);
    }
    yyjson_mut_obj_add_val(reply->doc, data, "deleted", deleted);
    yyjson_mut_obj_add_val(reply->doc, data, "missing", missing);
    return data ? OK : ERR_NOMEM;
}

const struct tool TOOL_MEMORY_DELETE = {
    .definition = definition_memory_delete,
    .run = run,
    .ready = memory_common_ready,
};
