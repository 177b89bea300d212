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
    const struct ledger *ledger;
    struct stocks *stocks; /* core/stock.h: what callers share; NULL: unknown */
    struct turns *turns;   /* call/line.h: where they wait for their turn; NULL: unknown */
    /* Adds what a part has to tell that this room does not know; NULL: nothing. */
    void (*add)(void *part, yyjson_mut_doc *doc, yyjson_mut_val *body);
    void *part;
};

/* Adds "waiting" to `body`, where calls wait for something longer than they should, such as a
 * database that does not answer. It never waits itself. */
void status_add_waits(const struct program_status *status, yyjson_mut_doc *doc,
                      yyjson_mut_val *body);

double status_uptime_s(const struct program_status *status);
/* An object that belongs to `doc`. NULL without memory, or when there is no tool of the name `only`
 * (NULL: all). */
yyjson_mut_val *status_describe(const struct program_status *status, yyjson_mut_doc *doc,
                                const char *only);

#endif
