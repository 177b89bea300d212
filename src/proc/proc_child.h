/* Starting children and seeing to their end. For proc.c, which reads and writes their pipes, and
 * for the browser, whose thread waits for more than these. */
#ifndef FORAGE_PROC_PROC_CHILD_H
#define FORAGE_PROC_PROC_CHILD_H

#include "proc/proc.h"

struct child;

/* Our ends of its pipes, not blocking; -1 where there is none. */
struct child_pipes {
    int input;
    int output;
    int errors;
};

/* As proc_start. */
MUST_CHECK int child_start(const struct proc_options *options, struct child **child,
                           struct child_pipes *pipes);
/* Readable when the child has ended; -1 where the system cannot say. */
int child_end_fd(const struct child *child);
/* Whether it has ended, and how. It stays in the process table until it is released. */
bool child_has_ended(struct child *child, struct proc_exit *exit);
void child_signal(struct child *child, int number);
/* Ends what is left of it and its group, without waiting. */
struct child *child_release(struct child *child);

#endif
