/* The embedder: makes the vectors of memories in the background, after their writers have heard
 * that they are kept. Its thread starts with the first need; several processes and machines may
 * share a store, and take turns by a lease. While the model cannot be reached it tries again, less
 * and less often, and the server's status says so. Computing happens at the lowest priority,
 * writing does not, since others wait for whoever writes. */
#ifndef FORAGE_MEMORY_EMBEDDER_H
#define FORAGE_MEMORY_EMBEDDER_H

#include "call/parts.h"

struct embedder;

/* Does nothing yet. `parts` outlive it. NULL without memory. */
struct embedder *embedder_new(const struct parts *parts);
/* Ends at once what it does. */
struct embedder *embedder_free(struct embedder *embedder);
/* Something was written, or may have been. Any thread; costs nothing. NULL is accepted: a program
 * that makes no vectors. */
void embedder_wake(struct embedder *embedder);

#endif
