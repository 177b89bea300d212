/* The heap of a program that runs for long: what was freed goes back to the system. The C library
 * would keep most of it, and more with every hour in which small things that live on lie between
 * large ones that are gone. */
#ifndef FORAGE_CORE_HEAP_H
#define FORAGE_CORE_HEAP_H

#include <stddef.h>

/* At the start of a server: few heaps for all threads. */
void heap_begin(void);
/* When nothing is to be done: returns what is free. */
void heap_return(void);
/* After `bytes` were freed at once. */
void heap_freed(size_t bytes);
/* Between two jobs of a thread: returns what is free now and then. */
void heap_rest(void);

#endif
