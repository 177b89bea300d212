/* What is tried with calls: an experiment gives some of them other parameters, and looks at what
 * came of it. The registry and jobs know this much of it; experiment/ does it.
 *
 * What is tried with a call is a text (call_tried()) whose first word names experiment and arm for
 * people, and whose second one tells this version of both from others; the rest is for whoever
 * tries. It outlives a process with the call, where that is kept. */
#ifndef FORAGE_REGISTRY_TRYING_H
#define FORAGE_REGISTRY_TRYING_H

#include "call/call.h"
#include "core/status.h"
#include "text/json.h"

#include <stddef.h>

struct entry;
struct outcome;

/* Who tries, behind the registry. */
struct trying {
    void *context;
    /* Before the arguments of a call are checked: decides whether something is tried with it. Then
     * call_try() was done, and `arguments` (which may be NULL) may be others. OK or ERR_NOMEM. */
    int (*begin)(void *context, struct call *call, const struct entry *entry,
                 yyjson_val **arguments);
    /* After a call with which something was tried, maybe by another process, and maybe something
     * that nobody knows any more. Does not wait. */
    void (*end)(void *context, struct call *call, const struct entry *entry,
                const struct outcome *outcome);
};

/* How long the first words of what is tried are. */
size_t tried_length(const char *tried, unsigned words);

#endif
