/* The table of tools, in the order in which clients see them. */
#include "tools/tools.h"

static const struct tool *const TOOLS[] = {
    &TOOL_WEB_SEARCH,
    &TOOL_GET_CONTENT,
    &TOOL_SEARCH,
    &TOOL_DEEP_SEARCH,
    &TOOL_SEARCH_WEB,
    &TOOL_MEMORY_SEARCH,
    &TOOL_MEMORY_FULLTEXT_SEARCH,
    &TOOL_MEMORY_GET,
    &TOOL_MEMORY_LIST,
    &TOOL_MEMORY_ADD,
    &TOOL_MEMORY_UPDATE,
    &TOOL_MEMORY_RENAME,
    &TOOL_MEMORY_DELETE,
    &TOOL_MEMORY_STATS,
    &TOOL_FORAGE_STATUS,
};

int tools_register(struct registry *registry)
{
    for (size_t i = 0; i < sizeof TOOLS / sizeof *TOOLS; i++) {
        int status = registry_add_tool(registry, TOOLS[i]);
        if (status != OK) {
            return status;
        }
    }
    return OK;
}
