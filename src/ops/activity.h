/* What the program does at this moment, as JSON: for /health?full and for those who watch. Nothing
 * of it waits for anybody. */
#ifndef FORAGE_OPS_ACTIVITY_H
#define FORAGE_OPS_ACTIVITY_H

#include "ops/status.h"

struct upstreams;

/* Adds "troubles": what does not work, and for how long. */
void activity_add_troubles(yyjson_mut_doc *doc, yyjson_mut_val *body);
/* Adds "stocks": what callers share, and how much of it is in use. */
void activity_add_stocks(const struct program_status *status, yyjson_mut_doc *doc,
                         yyjson_mut_val *body);
/* {running: [{tool, calls}], lines: [{name, inside, waiting, limit}], upstreams: [{kind, name,
 * state, until?, failures, answered_at?, trouble?, trouble_at?}], stocks, troubles, waiting?,
 * unrecorded}; an object that belongs to `doc`. `upstreams` may be NULL. */
yyjson_mut_val *activity_describe(const struct program_status *status, struct upstreams *upstreams,
                                  yyjson_mut_doc *doc);
/* Grows with each call of a tool that is recorded: whoever has seen it knows whether there is
 * something new. */
uint64_t activity_calls(const struct program_status *status);

#endif
