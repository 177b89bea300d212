/* The numbers of /metrics, in Prometheus' text format. */
#ifndef FORAGE_OPS_METRICS_H
#define FORAGE_OPS_METRICS_H

#include "core/buf.h"
#include "registry/registry.h"

/* What only the caller knows. */
struct metrics_extra {
    size_t connections;
    size_t workers_running;
    size_t workers_limit;
};

void metrics_write(struct buf *out, const struct registry *registry,
                   const struct metrics_extra *extra);

#endif
