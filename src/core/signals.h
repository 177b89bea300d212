/* The signals that end the program, as something to poll for. They are blocked in every thread and
 * taken where the main loop waits, so that no code runs in a signal handler. */
#ifndef FORAGE_CORE_SIGNALS_H
#define FORAGE_CORE_SIGNALS_H

/* Blocks SIGINT, SIGTERM and SIGHUP, ignores SIGPIPE. To be called before any thread is started. A
 * descriptor that becomes readable when one of them arrives, close-on-exec; negative on failure. */
int signals_open(void);
/* The signal that has arrived, or 0. */
int signals_take(int signals);

#endif
