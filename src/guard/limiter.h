/* How often a caller may do something: fixed windows, kept in memory. A key is a caller and what it
 * does
 * ("alice search_web"); a window starts with its first call. */
#ifndef FORAGE_GUARD_LIMITER_H
#define FORAGE_GUARD_LIMITER_H

#include <stdint.h>

struct limiter;

struct limit_state {
    unsigned left;          /* calls left in this window */
    int64_t retry_after_ms; /* until the next window; 0 when the call was let through */
};

struct limiter *limiter_new(void);
struct limiter *limiter_free(struct limiter *limiter);
/* Takes one of `calls` per `window_ms` for the key. OK or ERR_BUSY; `state` is always filled. */
int limiter_take(struct limiter *limiter, const char *caller, const char *action, unsigned calls,
                 int64_t window_ms, struct limit_state *state);

#endif
