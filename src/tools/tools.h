/* Every tool of forage. A new tool is a definition NAME.json, a handler in tools.c or memory.c, and
 * a row in the table there; the tools of ChatGPT's contract are in chatgpt.c. */
#ifndef FORAGE_TOOLS_TOOLS_H
#define FORAGE_TOOLS_TOOLS_H

#include "registry/registry.h"

#define MEMORY_TOOL_COUNT  10
#define CHATGPT_TOOL_COUNT 2

extern const struct tool MEMORY_TOOLS[MEMORY_TOOL_COUNT];
extern const struct tool CHATGPT_TOOLS[CHATGPT_TOOL_COUNT];

/* Registers all tools, in the order in which clients see them. A status. */
int tools_register(struct registry *registry) MUST_CHECK;
/* Adds those of a profile (config/profile.h) to what is selected, and lets clients of MCP see no
 * others; NULL: there is none. A status. */
int tools_register_profile(struct registry *registry, const char *profile) MUST_CHECK;

#endif
