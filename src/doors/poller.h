/* Waiting for many sockets at once. The only place that knows which system call does it, so that
 * another system needs another poller.c and nothing else. Level-triggered: what is not dealt with
 * is told again. */
#ifndef FORAGE_DOORS_POLLER_H
#define FORAGE_DOORS_POLLER_H

#include <stddef.h>
#include <stdint.h>

enum poller_what {
    POLLER_READ = 1,
    POLLER_WRITE = 2,
    POLLER_LEFT = 4,   /* the other side sends no more */
    POLLER_BROKEN = 8, /* the connection is dead; always told */
};

struct poller_event {
    void *owner;
    unsigned what;
};

/* The poller's descriptor, close-on-exec; negative on failure. */
int poller_open(void);
/* A status. */
int poller_add(int poller, int fd, unsigned what, void *owner);
int poller_change(int poller, int fd, unsigned what, void *owner);
void poller_remove(int poller, int fd);
/* Waits at most `timeout_ms` (negative: for ever). The number of events, 0 also when interrupted.
 */
size_t poller_wait(int poller, struct poller_event *events, size_t count, int64_t timeout_ms);

#endif
