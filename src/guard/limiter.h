/* How often a caller may do something: fixed windows, kept in memory. A window starts with its
 * first call. Limits that several processes share are counted in the store (ops/records.h) by the
 * same claims; this is for quick tools, and for the time when the store cannot be used. */
#ifndef FORAGE_GUARD_LIMITER_H
#define FORAGE_GUARD_LIMITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIMIT_KEY_SIZE 160

/* A call's wish to take one of `calls` in a window of `window_ms`. */
struct limit_claim {
    char key[LIMIT_KEY_SIZE]; /* who does what, in which window: "alice search_web 600000" */
    unsigned calls;
    int64_t window_ms;
    bool for_all; /* the limit is for all callers together */
    /* Filled in by whoever decides. */
    unsigned left;          /* calls left in this window */
    int64_t retry_after_ms; /* until the next window, where this one is used up; 0: it is not */
};

/* One window's state, wherever it is stored, and the one place that decides. */
struct limit_window {
    int64_t ends_ms;
    int64_t used;
};

/* Begins a new window where the old one is over (or lies impossibly far ahead: the clock was set),
 * and fills in `left` and `retry_after_ms` as they are before anything is taken. */
void limit_look(struct limit_claim *claim, struct limit_window *window, int64_t now_ms);

struct limiter;

struct limiter *limiter_new(void);
struct limiter *limiter_free(struct limiter *limiter);
/* Takes one of every claim's window, or none of any. OK, ERR_LIMIT when a window is used up, or
 * ERR_NOMEM. */
int limiter_take(struct limiter *limiter, struct limit_claim *claims, size_t count);

#endif
