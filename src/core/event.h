/* An event that poll() can wait for: signalled by any thread, it stays readable until cleared. */
#ifndef FORAGE_CORE_EVENT_H
#define FORAGE_CORE_EVENT_H

/* The descriptor to poll for POLLIN, close-on-exec; negative on failure. */
int event_open(void);
void event_signal(int event);
void event_clear(int event);
/* Accepts a negative number; returns -1. */
int event_close(int event);

#endif
