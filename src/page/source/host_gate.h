/* Politeness: at most so many transfers at once to one host and port, over all calls of the
 * process. Whoever finds the host busy waits in line, first come first served, and leaves the line
 * at once when its call is cancelled. */
#ifndef FORAGE_PAGE_SOURCE_HOST_GATE_H
#define FORAGE_PAGE_SOURCE_HOST_GATE_H

#include "call/call.h"

#include <stddef.h>
#include <stdint.h>

struct host_gate;

/* NULL without memory. */
struct host_gate *host_gate_new(size_t most_at_once);
/* Nobody may be inside or in line. */
struct host_gate *host_gate_free(struct host_gate *gate);

/* OK when the transfer may begin: host_gate_leave() must follow. ERR_BUSY when `patience_ms` passed
 * first, ERR_CANCELLED, ERR_DEADLINE, ERR_NOMEM, ERR_IO. */
int host_gate_enter(struct host_gate *gate, struct call *call, const char *host, int port,
                    int64_t patience_ms);
void host_gate_leave(struct host_gate *gate, const char *host, int port);

#endif
