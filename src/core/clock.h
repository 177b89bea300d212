/* Clocks and dates: monotonic time for deadlines and durations, UTC for records and for what a
 * person reads. */
#ifndef FORAGE_CORE_CLOCK_H
#define FORAGE_CORE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define CLOCK_STAMP_SIZE 32

int64_t clock_now_ms(void);  /* monotonic */
int64_t clock_now_us(void);  /* monotonic */
int64_t clock_wall_ms(void); /* since 1970, UTC: for what is stored */

/* The wall clock for whoever deletes what is old: somebody may set it to a wrong time, and what was
 * deleted then would not come back with the right one. A jump forward counts only once it has
 * lasted for TIME_CLOCK_DOUBT_MS; until then time goes on from where it was. */
struct clock_trust {
    int64_t wall_ms;         /* what was believed last, */
    int64_t at_ms;           /* and when, since the system started (it may have slept) */
    int64_t doubts_since_ms; /* 0: it does not */
};
void clock_trust_begin(struct clock_trust *trust);
/* For one thread at a time. */
int64_t clock_trusted_ms(struct clock_trust *trust);

/* "2026-11-15T10:10:30.123Z"; returns `out`. */
char *clock_stamp(char out[CLOCK_STAMP_SIZE]);
/* The same of a moment, in milliseconds since 1970. */
char *clock_stamp_of(int64_t wall_ms, char out[CLOCK_STAMP_SIZE]);
/* How long a service asks to wait, in milliseconds: `ms` is a number of them, `retry_after` a
 * number of seconds or a date of HTTP; either may be NULL, the first that can be read counts.
 * Negative when it does not say. `now` is in seconds since 1970. */
int64_t clock_retry_after_ms(const char *ms, const char *retry_after, int64_t now);

#endif
