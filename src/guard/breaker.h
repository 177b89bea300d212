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
struct upstreams; /* all breakers of one program, for those who look */

enum breaker_result {
    BREAKER_ANSWERED, /* whatever the answer was: the upstream is there */
    BREAKER_FAILED,
    BREAKER_UNKNOWN, /* the call ended before anything could be said */
};

/* `kind` is what its upstreams are for, "search"; they stand among those of the program
 * (`upstreams`, which outlives them; may be NULL). `now_ms` is a monotonic clock, NULL for the real
 * one. NULL without memory. */
struct breakers *breakers_new(struct upstreams *upstreams, const char *kind, unsigned failures,
                              int64_t pause_ms, int64_t (*now_ms)(void));
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
/* Remembers what went wrong with it last, in words for an operator. */
void breaker_complain(struct breakers *breakers, const char *upstream, const char *words);

/* ---- for those who look ---- */

struct upstreams *upstreams_new(void);
struct upstreams *upstreams_free(struct upstreams *upstreams);

/* An upstream that was asked since the program started. */
struct upstream {
    const char *kind, *name;
    int64_t rests_ms;    /* until it is tried again; 0: it may be asked */
    unsigned failures;   /* in a row */
    int64_t answered_ms; /* when it last did, since 1970; 0: never */
    const char *trouble; /* what went wrong last; "" where nothing did */
    int64_t trouble_ms;  /* and when */
};
void upstreams_look(struct upstreams *upstreams,
                    void (*show)(void *context, const struct upstream *upstream), void *context);

#endif
