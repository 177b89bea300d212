/* What calls came to over the last hour, day or month, as JSON: a row for each step of time, and
 * sums by tool, provider and caller. Made of the sums of ops/tallies.h. */
#ifndef FORAGE_OPS_CALL_OVERVIEW_H
#define FORAGE_OPS_CALL_OVERVIEW_H

#include "core/arena.h"
#include "db/db.h"
#include "text/json.h"

/* Which calls; NULL: whatever it is. */
struct overview_wish {
    const char *span; /* "hour", "day" or "month" */
    const char *caller, *tool, *provider;
    int64_t now_ms; /* since 1970 */
};

/* Whether there is such a span. */
bool overview_has_span(const char *span);
/* {span, from, until, step_s, total: SUMS, series: [{at, SUMS}], tools: [{name, SUMS}], providers:
 * [...], callers: [...]}, where SUMS are calls, failures, cached, p50_ms, p95_ms, input_tokens,
 * output_tokens, usd. A status. */
MUST_CHECK int overview_make(struct db *db, struct arena *arena, const struct overview_wish *wish,
                             yyjson_mut_doc *doc, yyjson_mut_val **report);

#endif
