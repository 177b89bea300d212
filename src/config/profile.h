/* The contract that clients of MCP are served by: forage's own tools, or those that some client
 * wants by its own names and in its own form (FORAGE_PROFILE). */
#ifndef FORAGE_CONFIG_PROFILE_H
#define FORAGE_CONFIG_PROFILE_H

#include <stdbool.h>

/* The profile that has tools of its own, a constant; NULL: clients see forage's tools. */
const char *profile_tools(void);
/* Whether results are JSON whichever client the context names. */
bool profile_promises_json(void);

#endif
