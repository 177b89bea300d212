/* Every tool of forage. A new tool is a definition NAME.json, a handler in tools.c or memory.c, and
 * a row in the table there. */
#ifndef FORAGE_TOOLS_TOOLS_H
#define FORAGE_TOOLS_TOOLS_H

#include "registry/registry.h"

#define MEMORY_TOOL_COUNT 9

extern const struct tool MEMORY_TOOLS[MEMORY_TOOL_COUNT];

/* Registers all tools, in the order in which clients see them. A status. */
int tools_register(struct registry *registry) MUST_CHECK;

#endif
