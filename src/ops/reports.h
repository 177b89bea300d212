/* What the records say, as JSON: for REST and for the command line. */
#ifndef FORAGE_OPS_REPORTS_H
#define FORAGE_OPS_REPORTS_H

#include "core/limits.h"
#include "ops/calls.h"
#include "ops/records.h"
#include "text/json.h"

#define REPORT_MOST_DAYS    LIMIT_USAGE_DAYS
#define REPORT_MOST_HISTORY 1000 /* calls at a time */

/* The usage of the last `days` days, today included: {from, days, rows: [{day, caller, tool, calls,
 * failures, cached, input_tokens, output_tokens, usd, unpriced}], total: {...}}. `caller` NULL: of
 * all. A status. */
int report_usage(struct db *db, const char *caller, int64_t days, yyjson_mut_doc *doc,
                 yyjson_mut_val **report);
/* The newest calls of the history that fit: {calls: [{id, at, caller, tool, arguments, error?, ms,
 * input_tokens, output_tokens, usd, has_result}], next?}; `next` is what to give as `before` for
 * older ones. Their arguments are read into the arena. A status. */
int report_history(struct db *db, struct arena *arena, const struct record_filter *filter,
                   yyjson_mut_doc *doc, yyjson_mut_val **report);
/* One call of it, with its `result` where that was stored. ERR_NOTFOUND: there is none with that id
 * of that caller (NULL: of any). */
int report_past_call(struct db *db, struct arena *arena, const char *caller, int64_t id,
                     yyjson_mut_doc *doc, yyjson_mut_val **report);
/* The newest records of single calls that fit: {calls: [{id, at, caller, tool, provider, ms,
 * error?, cached, input_tokens, output_tokens, usd}], next?}. A status. */
int report_calls(struct db *db, const struct call_filter *filter, yyjson_mut_doc *doc,
                 yyjson_mut_val **report);

#endif
