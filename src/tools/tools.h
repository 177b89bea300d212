/* Every tool of forage, for the table in tools.c. A new tool is a definition NAME.json, a handler
 * NAME.c and a line here and there. */
#ifndef FORAGE_TOOLS_TOOLS_H
#define FORAGE_TOOLS_TOOLS_H

#include "registry/registry.h"

extern const struct tool TOOL_DEEP_SEARCH;
extern const struct tool TOOL_FORAGE_STATUS;
extern const struct tool TOOL_GET_CONTENT;
extern const struct tool TOOL_SEARCH;
extern const struct tool TOOL_SEARCH_WEB;
extern const struct tool TOOL_WEB_SEARCH;
extern const struct tool TOOL_MEMORY_ADD;
extern const struct tool TOOL_MEMORY_GET;
extern const struct tool TOOL_MEMORY_UPDATE;
extern const struct tool TOOL_MEMORY_RENAME;
extern const struct tool TOOL_MEMORY_DELETE;
extern const struct tool TOOL_MEMORY_LIST;
extern const struct tool TOOL_MEMORY_SEARCH;
extern const struct tool TOOL_MEMORY_FULLTEXT_SEARCH;
extern const struct tool TOOL_MEMORY_STATS;

/* Registers them all. A status. */
int tools_register(struct registry *registry);

#endif
