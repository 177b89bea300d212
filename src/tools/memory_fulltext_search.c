/* memory_fulltext_search: memories by the words that they hold. */
#include "embedded.h"
#include "tools/memory_common.h"
#include "tools/tools.h"

#include <string.h>

static int run(struct call *call, yyjson_val *arguments, struct reply *reply)
{
    struct memory_space space;
    struct memory_filter filter;
    struct memory_hits hits;
    const char **keywords;
    size_t count;
    bool all = strcmp(json_string(arguments, "operator"), "AND") == 0;
    int status = memory_common_space(call, arguments, &space);
    if (status == OK) {
        status = memory_common_filter(call, arguments, &filter);
    }
    if (status == OK) {
        status = fields_list(call, call_arena(call), "keywords",
                             yyjson_obj_get(arguments, "keywords"), true, &keywords, &count);
    }
    if (status == OK) {
        status = memory_fulltext(call, &space, keywords, count, all ? MEMORY_AND : MEMORY_OR,
                                 &filter, memory_common_size(arguments, "limit"),
                                 memory_common_size(arguments, "offset"), &hits);
    }
    return status == OK ? memory_common_hits(reply, arguments, &hits) : status;
}

const struct tool TOOL_MEMORY_FULLTEXT_SEARCH = {
    .definition = definition_memory_fulltext_search,
    .run = run,
    .ready = memory_common_ready,
};
