/* The meter: what stands around every tool that the registry runs. It asks the gate before a call,
 * gives a cached answer where there is one, and records afterwards what the call used.
 *
 * A call of a tool that is not quick is recorded before its answer goes out: when a client has the
 * answer, its usage (and history, where that is on) is on the disk. Quick tools are counted in
 * /metrics only: they cost nothing outside, and a disk would be most of what they cost here. */
#ifndef FORAGE_OPS_METER_H
#define FORAGE_OPS_METER_H

#include "config/places.h"
#include "guard/pace.h"
#include "registry/registry.h"

#include <stddef.h>

struct meter;

/* From the configuration. NULL with the reason in `problem`. Nothing is opened yet. */
struct meter *meter_new(const struct places *places, char *problem, size_t size);
/* Writes what is left to be written. No call may run any more. */
struct meter *meter_free(struct meter *meter);
/* The same within `time_ms`, before meter_free(). False where the records are stuck: then the meter
 * must stay. */
MUST_CHECK bool meter_stop(struct meter *meter, int64_t time_ms);
/* Forgets the answers of a caller, who wiped what it asked. */
void meter_forget(struct meter *meter, const char *caller);
/* Appends what besides the arguments decides the answers that are cached. */
typedef void (*meter_settings)(struct buf *out);

/* Stands around the registry's tools from now on (`settings` may be NULL); says in the log which
 * limits name no tool. */
void meter_attach(struct meter *meter, struct registry *registry, meter_settings settings);
/* Where turns at sources are stored, as long as the meter is there. */
struct pace_store meter_turns(struct meter *meter);
/* What the records wait for and since when, as of keeper_waits_since(). */
const char *meter_waits_since(const struct meter *meter, int64_t *since_ms);

#endif
