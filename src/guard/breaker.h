/* Circuit breakers: an upstream that failed several times in a row is left alone for a while, then
 * one call tries it again, and what comes of that decides. One set of breakers serves any number of
 * upstreams, each by its name. Safe to use from many threads. */
#ifndef FORAGE_GUARD_BREAKER_H
#define FORAGE_GUARD_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#define BREAKER_FAILURES 5     /* in a row, and it opens */
#define BREAKER_PAUSE_MS 30000 /* and it half-opens */

struct breakers;

enum breaker_result {
    BREAKER_ANSWERED, /* whatever the answer was: the upstream is there */
    BREAKER_FAILED,
    BREAKER_UNKNOWN, /* the call ended before anything could be said */
};

/* `now_ms` is a monotonic clock, NULL for the real one. NULL without memory. */
struct breakers *breakers_new(unsigned failures, int64_t pause_ms, int64_t (*now_ms)(void));
struct breakers *breakers_free(struct breakers *breakers);
/* Whether the upstream may be tried now: then breaker_report() must follow. While half-open, one
 * caller at a time gets true. Beyond LIMIT_BREAKERS upstreams, always. */
bool breaker_admit(struct breakers *breakers, const char *upstream);
void breaker_report(struct breakers *breakers, const char *upstream, enum breaker_result result);
/* Leaves an upstream alone for so long from now on, however often it failed before; then one caller
 * tries it, as above. Comes after breaker_report(). */
void breaker_rest(struct breakers *breakers, const char *upstream, int64_t rest_ms);
/* Milliseconds until an open one half-opens; 0 when it is not open. */
int64_t breaker_wait_ms(struct breakers *breakers, const char *upstream);

#endif
