/* What the process knows of itself: for the tool forage_status, the resource forage://status,
 * /health and /metrics. */
#ifndef FORAGE_OPS_STATUS_H
#define FORAGE_OPS_STATUS_H

#include "core/buf.h"
#include "registry/registry.h"

/* Once, when the program is ready to serve. */
void status_start(const struct registry *registry);
double status_uptime_s(void);
/* An object that belongs to `doc`. NULL without memory, or when there is no tool of the name `only`
 * (NULL: all). */
yyjson_mut_val *status_describe(yyjson_mut_doc *doc, const char *only);

#endif
