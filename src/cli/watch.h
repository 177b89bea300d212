/* What a command needs that runs one call and waits for it: Ctrl-C cancels the call, and progress
 * is shown where a person can see it. */
#ifndef FORAGE_CLI_WATCH_H
#define FORAGE_CLI_WATCH_H

#include "call/call.h"

#include <pthread.h>

struct watch {
    struct call *call;
    int signals; /* of signals_open() */
    int done;
    pthread_t thread;
};

/* Options for a call of this command: who asks, and where progress goes. */
struct call_options watch_options(void);
/* Begins to watch for signals. A status; negative after saying that it is not possible. */
int watch_start(struct watch *watch, struct call *call, int signals);
/* Ends it, and takes the last line of progress away. */
void watch_stop(struct watch *watch);

#endif
