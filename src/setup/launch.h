/* What a client has to start so that it gets this very program. */
#ifndef FORAGE_SETUP_LAUNCH_H
#define FORAGE_SETUP_LAUNCH_H

#include "core/arena.h"

#define LAUNCH_MOST_ARGUMENTS 8

struct launch {
    const char *command;
    const char *arguments[LAUNCH_MOST_ARGUMENTS];
    size_t count;
};

/* Chooses: "forage" where PATH finds this program under that name, otherwise its path; and where
 * it runs from a cache of npx or uvx, which may be gone tomorrow, what brings it again. `absolute`:
 * always a whole path. `given`, unless NULL, is taken as the command; `context`, unless NULL, is
 * told to the server. OK, or ERR_IO when the program's own path is not known. */
int launch_choose(struct arena *arena, const char *given, bool absolute, const char *context,
                  struct launch *launch);
/* Adds what makes forage an MCP server for a client. */
void launch_serve(struct launch *launch, const char *context);

#endif
