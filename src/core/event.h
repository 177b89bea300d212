/* Two descriptors for poll(): an event that any thread signals and that stays readable until it is
 * cleared, and the signals that end the program. And threads that take no signals. */
#ifndef FORAGE_CORE_EVENT_H
#define FORAGE_CORE_EVENT_H

#include "core/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* The descriptor to poll for POLLIN, close-on-exec; negative on failure. */
MUST_CHECK int event_open(void);
void event_signal(int event);
void event_clear(int event);
/* Accepts a negative number; returns -1. */
int event_close(int event);

/* Signals are blocked in every thread and taken where the main loop waits, so that no code runs in
 * a signal handler. */

/* Blocks SIGINT, SIGTERM and SIGHUP, ignores SIGPIPE and SIGXFSZ: a pipe that nobody reads, and a
 * file that may not grow, are failed writes. To be called before any thread is started. A
 * descriptor that becomes readable when one of them arrives, close-on-exec; negative on failure. */
MUST_CHECK int signals_open(void);
/* The signal that has arrived, or 0. */
MUST_CHECK int signals_take(int signals);
/* Starts a thread that is never interrupted by a signal. `stack_bytes` of 0: what the system gives;
 * a `thread` of NULL: nobody joins it. OK or ERR_NOMEM. */
MUST_CHECK int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *),
                            void *argument);
/* Whether this process has ever started one. */
bool threads_began(void);

#endif
