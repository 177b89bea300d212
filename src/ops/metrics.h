/* The numbers of /metrics, in Prometheus' text format. */
#ifndef FORAGE_OPS_METRICS_H
#define FORAGE_OPS_METRICS_H

#include "core/buf.h"
#include "ops/status.h"

/* What only the caller knows. */
struct metrics_extra {
    size_t connections;
    size_t workers_running;
    size_t workers_limit;
};

void metrics_write(struct buf *out, const struct program_status *status,
                   const struct metrics_extra *extra);

#endif
