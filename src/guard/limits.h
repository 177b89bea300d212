/* The limits that an operator sets: so many calls of a tool in so much time, for each caller and
 * for all together (FORAGE_LIMITS, FORAGE_LIMITS_TOTAL). Rules are made once and never change. */
#ifndef FORAGE_GUARD_LIMITS_H
#define FORAGE_GUARD_LIMITS_H

#include "guard/limiter.h"

#include <stddef.h>

struct limit_rules;

/* Items such as "search_web=20/10m", "*=1000/24h" or "search_web=0", ended by a NULL; either may be
 * NULL. A tool that `own` does not name keeps DEFAULT_LIMITS. NULL with the reason in `problem`. */
struct limit_rules *limit_rules_new(const char *const *own, const char *const *total, char *problem,
                                    size_t size);
struct limit_rules *limit_rules_free(struct limit_rules *rules);
/* The tools that the rules name ("*" too), by number; NULL at the end. */
const char *limit_rules_tool(const struct limit_rules *rules, size_t index);
/* Whether there is a limit for that tool. */
bool limit_rules_hold(const struct limit_rules *rules, const char *tool);
/* Fills in what a call of the tool has to claim; how many claims, at most LIMIT_WINDOW_CLAIMS. */
size_t limit_rules_claims(const struct limit_rules *rules, const char *caller, const char *tool,
                          struct limit_claim *claims);

#endif
