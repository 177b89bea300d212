/* Lines on their way to stderr, for a program that must never wait for whoever reads them. A ring
 * of LIMIT_LOG_BYTES holds what cannot go out; what has no room there is dropped and counted. */
#ifndef FORAGE_CORE_LOG_RING_H
#define FORAGE_CORE_LOG_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Looks at stderr. To be called once, before other threads log. */
void log_ring_open(void);
bool log_ring_is_open(void);
/* While lines are being dropped: counts one more, without the work of making it, and is true. */
bool log_ring_drops(void);
/* Takes a line that ends in a newline, or drops it. */
void log_ring_put(const char *line, size_t length);
/* Lets what is in the ring go out, as long as somebody reads it. */
void log_ring_end(void);
/* How many lines were dropped since the start. */
uint64_t log_ring_dropped(void);

#endif
