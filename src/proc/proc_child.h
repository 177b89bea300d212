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

/* As proc_start; `confinement` is what of PROC_CONFINED_ALL holds. */
MUST_CHECK int child_start(struct call *call, const struct proc_options *options,
                           struct child **child, struct child_pipes *pipes, unsigned *confinement);
/* Readable when the child has ended. */
int child_end_fd(const struct child *child);
/* Whether it has ended, and how. */
bool child_has_ended(struct child *child, struct proc_exit *exit);
void child_signal(struct child *child, int number);
/* Ends it and all that came of it, without waiting. */
struct child *child_release(struct child *child);

#endif
