/* What a caller may still do and spend, as JSON: limits of calls, and budgets of the day. */
#ifndef FORAGE_OPS_ALLOWANCES_H
#define FORAGE_OPS_ALLOWANCES_H

#include "ops/ledger.h"

/* Adds "limits": [{tool, calls, window_s, left, resets_at?, for_all}] and "budgets": [{for_all,
 * usd, spent_usd, resets_at}] to `body`. `caller` NULL: only what holds for all of them together. A
 * status. */
MUST_CHECK int allowances_describe(const struct admission_rules *rules,
                                   const struct registry *registry, struct db *db,
                                   const char *caller, yyjson_mut_doc *doc, yyjson_mut_val *body);

#endif
