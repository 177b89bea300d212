/* The gate in front of every tool: what a caller may do, and how often. Limits that later tools
 * bring (calls per tool, money per day) are more rows here; the registry asks only this. */
#ifndef FORAGE_GUARD_GATE_H
#define FORAGE_GUARD_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct limiter;
struct call;

/* OK, or ERR_FAILED with RATE_LIMIT and when to come back. `calls_per_minute` 0: no limit. */
int gate_admit(struct limiter *limiter, struct call *call, const char *tool,
               int64_t calls_per_minute);

#endif
