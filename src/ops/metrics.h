/* The numbers of /metrics, in Prometheus' text format. */
#ifndef FORAGE_OPS_METRICS_H
#define FORAGE_OPS_METRICS_H

#include "core/buf.h"
#include "ops/status.h"

void metrics_write(struct buf *out, const struct program_status *status, size_t connections);

#endif
