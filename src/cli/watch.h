/* What a command needs that runs one call and waits for it: Ctrl-C cancels the call, and progress
 * is shown where a person can see it. */
#ifndef FORAGE_CLI_WATCH_H
#define FORAGE_CLI_WATCH_H

#include "app/app.h"
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
/* The whole of such a command: opens the program, makes the call, lets `body` do the work, and ends
 * everything. The configuration must be loaded. An exit code. */
int watch_run(const struct call_options *options,
              int (*body)(struct app *app, struct call *call, int signals, void *context),
              void *context);

#endif
