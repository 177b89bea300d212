/* memory_list: what there is, newest first. */
#include "embedded.h"
#include "text/text.h"
#include "tools/memory_common.h"
#include "tools/tools.h"

#include <string.h>

static void add_memory(struct call *call, struct memory_results *results,
                       const struct memory *memory)
{
    yyjson_mut_val *item = yyjson_mut_obj(results->doc);
    fields_write(results->doc, item, call_arena(call), memory);
    yyjson_mut_obj_add_uint(results->doc, item, "chars",
                            text_count(memory->text, strlen(memory->text)));
    memory_results_add(results, item,
                       strlen(memory->key) + strlen(memory->summary) +
                           (memory->metadata ? strlen(memory->metadata) : 0));
}

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    struct memory_filter filter;
    struct memory_page page;
    int status = memory_common_space(call, arguments, &space);
    if (status == OK) {
        status = memory_common_filter(call, arguments, &filter);
    }
    if (status == OK) {
        status = memory_list(call, &space, &filter, memory_common_size(arguments, "limit"),
                             memory_common_size(arguments, "offset"), &page);
    }
    if (status != OK) {
        return status;
    }
    struct memory_results results;
    yyjson_mut_val *data = memory_common_data(reply);
    memory_results_start(&results, reply, data);
    for (size_t i = 0; i < page.count && !results.full; i++) {
        add_memory(call, &results, &page.items[i]);
    }
    memory_results_pagination(&results, data, arguments, page.total, page.total_is_lower_bound);
    return data ? OK : ERR_NOMEM;
}

const struct tool TOOL_MEMORY_LIST = {
    .definition = definition_memory_list,
    .run = run,
    .ready = memory_common_ready,
};
