/* Time. Deadlines and durations use the monotonic clock; only what a person reads uses the
 * calendar. */
#ifndef FORAGE_CORE_CLOCK_H
#define FORAGE_CORE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define CLOCK_STAMP_SIZE 32

int64_t clock_now_ms(void);  /* monotonic */
int64_t clock_now_us(void);  /* monotonic */
int64_t clock_wall_ms(void); /* since 1970, UTC: for what is kept */
/* "2026-11-15T10:10:30.123Z"; returns `out`. */
char *clock_stamp(char out[CLOCK_STAMP_SIZE]);

#endif
