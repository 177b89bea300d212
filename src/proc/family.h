/* The descendants of this process, as /proc shows them: all that came of one child, whatever
 * sessions and groups they made for themselves. */
#ifndef FORAGE_PROC_FAMILY_H
#define FORAGE_PROC_FAMILY_H

#include <stddef.h>
#include <sys/types.h>

/* Sends a signal to every living descendant, once. */
void family_signal(int number);

/* What the descendants hold of memory and swap that is theirs alone or shared between them; files
 * that are mapped do not count. `largest` is the one with most of it, 0 where there is none. */
size_t family_memory(pid_t *largest);

#endif
