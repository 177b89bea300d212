/* The table of tools, in the order in which clients see them. */
#include "tools/tools.h"

static const struct tool *const TOOLS[] = {
    &TOOL_WEB_SEARCH,  &TOOL_GET_CONTENT, &TOOL_SEARCH,
    &TOOL_DEEP_SEARCH, &TOOL_SEARCH_WEB,  &TOOL_FORAGE_STATUS,
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
