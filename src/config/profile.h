/* The contract that clients of MCP are served by: forage's own tools, or those that some client
 * wants by its own names and in its own form (FORAGE_PROFILE). */
#ifndef FORAGE_CONFIG_PROFILE_H
#define FORAGE_CONFIG_PROFILE_H

/* The profile's name, a constant; NULL: forage's own tools. */
const char *profile_name(void);

#endif
