/* What a topic may use, and each of its parts: searches, pages, tokens, money and time. What is
 * used up ends the research; what was used is told with the result. Pure. */
#ifndef FORAGE_RESEARCH_OWN_ALLOWANCE_H
#define FORAGE_RESEARCH_OWN_ALLOWANCE_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Money counts in billionths of a dollar, time in milliseconds. */
enum allowance_kind {
    ALLOWANCE_SEARCHES,
    ALLOWANCE_PAGES,
    ALLOWANCE_TOKENS,
    ALLOWANCE_MONEY,
    ALLOWANCE_TIME,
    ALLOWANCE_KINDS
};

/* The members of "budget", in the same order: "searches" ... "seconds". */
extern const char *const ALLOWANCE_WORDS[ALLOWANCE_KINDS];

#define ALLOWANCE_PARTS 8 /* that a plan may have */

struct allowance {
    int64_t used[ALLOWANCE_KINDS];
    int64_t limit[ALLOWANCE_KINDS]; /* 0: no limit */
};

/* Dollars as an operator writes them, "0.25", in billionths. Digits with one point alone: OK, or
 * ERR_INVALID. An amount above zero never becomes zero, which would be no limit. */
MUST_CHECK int allowance_read_usd(const char *text, int64_t *nano);
/* How much of it is left; INT64_MAX where there is no limit. */
int64_t allowance_left(const struct allowance *allowance, enum allowance_kind kind);
/* The share of each of `parts` equal parts: of what can be counted no part gets nothing. */
void allowance_share(const struct allowance *whole, size_t parts, struct allowance *share);

#endif
