/* The turnstile: at most so many workers at once. Whoever comes when all are busy waits in line,
 * first come first served, tells its caller so, and leaves the line when its call is cancelled. */
#ifndef FORAGE_RESEARCH_TURNSTILE_H
#define FORAGE_RESEARCH_TURNSTILE_H

#include "call/call.h"

#include <stddef.h>

/* One who waits or is inside; it lives where its call's function does. */
struct turnstile_visit {
    struct turnstile_visit *next;
    struct call *call;
    int event;
    bool inside;
};

/* OK when a worker may be started: turnstile_leave() must follow. ERR_CANCELLED, ERR_DEADLINE,
 * ERR_IO. */
int turnstile_enter(struct turnstile_visit *visit, struct call *call, size_t most);
void turnstile_leave(struct turnstile_visit *visit);
/* Cancels every call that waits or is inside; for the end of the program. */
void turnstile_cancel_all(void);

#endif
