/* What the program knows of itself: for the tool forage_status, the resource forage://status,
 * /health and /metrics. */
#ifndef FORAGE_OPS_STATUS_H
#define FORAGE_OPS_STATUS_H

#include "core/buf.h"
#include "registry/registry.h"

/* A part of the program (call/parts.h). */
struct program_status {
    const struct registry *registry;
    int64_t started_ms; /* by the monotonic clock */
    struct pool *pool;  /* where calls run; NULL: none do */
    const struct meter *meter;
    struct stocks *stocks; /* core/stock.h: what callers share; NULL: unknown */
};

/* What calls wait for longer than they should, such as a database that does not answer. */
struct status_wait {
    const char *what;
    unsigned calls;
    int64_t longest_ms;
};

#define STATUS_WAITS 8

/* How many there are. It never waits itself. */
size_t status_waits(const struct program_status *status, struct status_wait waits[STATUS_WAITS]);

double status_uptime_s(const struct program_status *status);
/* An object that belongs to `doc`. NULL without memory, or when there is no tool of the name `only`
 * (NULL: all). */
yyjson_mut_val *status_describe(const struct program_status *status, yyjson_mut_doc *doc,
                                const char *only);

#endif
