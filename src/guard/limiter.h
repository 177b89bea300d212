/* How often a caller may do something: an operator's rules, and fixed windows in memory to count
 * calls in. A window starts with its first call. Limits that several processes share are counted in
 * the database (ops/records.h) by the same claims; the windows here are for quick tools, and for
 * the time when the database cannot be used. */
#ifndef FORAGE_GUARD_LIMITER_H
#define FORAGE_GUARD_LIMITER_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMIT_KEY_SIZE 160

/* A call's wish to take one of `calls` in a window of `window_ms`, or some where it does what
 * several calls would do. */
struct limit_claim {
    char key[LIMIT_KEY_SIZE]; /* who does what, in which window: "alice search_web 600000" */
    const char *tool;         /* of its rule; "*" for all together */
    unsigned calls;
    unsigned more; /* that it takes beyond the one */
    int64_t window_ms;
    bool for_all; /* the limit is for all callers together */
    /* Filled in by whoever decides. */
    unsigned left;          /* calls left in this window */
    int64_t retry_after_ms; /* until the next window, where this one has too few; 0: it has not */
};

/* One window's state, wherever it is stored, and the one place that decides. */
struct limit_window {
    int64_t ends_ms;
    int64_t used;
};

/* Begins a new window where the old one is over (or lies impossibly far ahead: the clock was set),
 * and fills in `left` and `retry_after_ms` as they are before anything is taken. */
void limit_look(struct limit_claim *claim, struct limit_window *window, int64_t now_ms);
/* Takes what is claimed of a window that has it. */
void limit_take(struct limit_claim *claim, struct limit_window *window);

struct limiter;

struct limiter *limiter_new(void);
struct limiter *limiter_free(struct limiter *limiter);
/* Takes what is claimed of every window, or nothing of any. OK, ERR_LIMIT when a window is used up,
 * or ERR_NOMEM. */
MUST_CHECK int limiter_take(struct limiter *limiter, struct limit_claim *claims, size_t count);

/* ---- rules ---- */

/* The limits that an operator sets: so many calls of a tool in so much time, for each caller and
 * for all together (FORAGE_LIMITS, FORAGE_LIMITS_TOTAL). Rules are made once and never change. */
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
/* Fills in what a call of the tool has to claim; how many claims, at most LIMIT_WINDOW_RULE_CLAIMS.
 */
size_t limit_rules_claims(const struct limit_rules *rules, const char *caller, const char *tool,
                          struct limit_claim *claims);

#endif
