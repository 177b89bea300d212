/* The ledger: what stands around every tool that the registry runs. It asks the gate before a call,
 * gives a cached answer where there is one, and records the call afterwards. What the call spends
 * is in its books before (guard/charge.h).
 *
 * A call of a tool that is not quick is recorded before its answer goes out: when a client has the
 * answer, its usage (and history, where that is on) is on the disk. Quick tools are counted in
 * /metrics only: they cost nothing outside, and a disk would be most of what they cost here. */
#ifndef FORAGE_OPS_LEDGER_H
#define FORAGE_OPS_LEDGER_H

#include "config/places.h"
#include "guard/charge.h"
#include "guard/pace.h"
#include "ops/records.h"
#include "ops/trials.h"
#include "registry/registry.h"

#include <stddef.h>

struct ledger;

/* From the configuration. NULL with the reason in `problem`. Nothing is opened yet. */
struct ledger *ledger_new(const struct places *places, char *problem, size_t size);
/* Writes what is left to be written. No call may run any more. */
struct ledger *ledger_free(struct ledger *ledger);
/* The same within `time_ms`, before ledger_free(). False where the records are stuck: then the
 * ledger must stay. */
MUST_CHECK bool ledger_stop(struct ledger *ledger, int64_t time_ms);
/* For a program that serves: calls of tools that ask nobody outside are recorded too, for those who
 * look; nobody waits for it. */
void ledger_note_all(struct ledger *ledger);
/* Forgets the answers of a caller, who wiped what it asked. */
void ledger_forget(struct ledger *ledger, const char *caller);
/* Appends what besides the arguments decides the answers that are cached. */
typedef void (*ledger_settings)(struct buf *out);

/* Stands around the registry's tools from now on (`settings` may be NULL); says in the log which
 * limits name no tool. */
void ledger_attach(struct ledger *ledger, struct registry *registry, ledger_settings settings);
/* ---- for calls that are kept (jobs/), which write their records themselves ---- */

/* The record of a call that ended. */
void ledger_make_record(const struct ledger *ledger, struct call *call, const struct entry *entry,
                        const struct outcome *outcome, struct record *record);
/* Writes a record that nobody else writes. */
void ledger_record(const struct ledger *ledger, struct call *call, const struct record *record);

/* How many calls could not be recorded for those who look, since the program started. */
uint64_t ledger_unnoted(const struct ledger *ledger);
/* What callers may do and spend. */
const struct admission_rules *ledger_rules(const struct ledger *ledger);
/* Writes a trial of a call, for which nobody waits. */
void ledger_try(const struct ledger *ledger, struct call *call, const struct trial *trial);

/* The books of what costs money, as long as the ledger is there. */
const struct charges *ledger_charges(const struct ledger *ledger);
/* Where turns at sources are stored, as long as the ledger is there. */
struct pace_store ledger_turns(struct ledger *ledger);
/* What the records wait for and since when, as of keeper_waits_since(). */
const char *ledger_waits_since(const struct ledger *ledger, int64_t *since_ms);

#endif
