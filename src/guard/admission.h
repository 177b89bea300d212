/* The gate in front of every tool: what a caller may do, how often, and for how much money. It
 * decides and words the refusal; ops/ stores the counts that processes share. */
#ifndef FORAGE_GUARD_ADMISSION_H
#define FORAGE_GUARD_ADMISSION_H

#include "guard/limiter.h"

#include <stdbool.h>
#include <stdint.h>

struct call;
struct limit_rules;

#define NANO_PER_USD INT64_C(1000000000)

/* What was spent on the present day (UTC), in billionths of a dollar. */
struct spending {
    int64_t caller_nano;
    int64_t total_nano;
};

/* Counts that several processes share. */
struct shared_counts {
    void *context;
    /* Takes what is claimed of every window, or nothing of any, and reports what was spent today,
     * where `spent` is not NULL. OK; ERR_LIMIT when a window is used up; ERR_CANCELLED or
     * ERR_DEADLINE of the call; any other status when nobody can say now. */
    int (*take)(void *context, struct call *call, struct limit_claim *claims, size_t count,
                struct spending *spent);
};

struct admission_rules {
    struct limiter *limiter; /* of this process */
    const struct limit_rules *limits;
    struct shared_counts shared;
    int64_t calls_per_minute;  /* of one caller, over all tools; 0: no limit */
    int64_t budget_nano;       /* of one caller, for a day; 0: no limit */
    int64_t total_budget_nano; /* of all callers */
};

/* What the gate has to know of a tool. */
struct admission_tool {
    const char *name;
    bool quick;    /* never waits: its limits are counted in this process alone */
    bool paid;     /* the budget holds for it */
    unsigned more; /* calls that this one counts for beyond the one */
};

/* OK, ERR_FAILED with RATE_LIMIT and when to come back, or a status of the call. Where the shared
 * counts cannot be had, this process counts by itself. */
MUST_CHECK int admission_check(const struct admission_rules *rules, struct call *call,
                               const struct admission_tool *tool);

bool admission_has_budget(const struct admission_rules *rules);
/* OK while of both budgets something is left; else ERR_FAILED with that code, and when to come
 * back. `what` is what was asked for. */
MUST_CHECK int admission_check_budget(const struct admission_rules *rules, struct call *call,
                                      const char *code, const char *what,
                                      const struct spending *spent);
/* The same with CODE_BUDGET, of what was spent by now; or a status of the call. */
MUST_CHECK int admission_afford(const struct admission_rules *rules, struct call *call,
                                const char *what);

/* The day in which milliseconds since 1970 lie, as "2026-11-15" (UTC). */
#define ADMISSION_DAY_SIZE 11
void admission_day(int64_t now_ms, char day[ADMISSION_DAY_SIZE]);

#endif
