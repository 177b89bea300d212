/* Clocks: monotonic time for deadlines, UTC for records, and the times that services name. */
#include "core/clock.h"

#include "core/limits.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int64_t clock_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_now_ms(void)
{
    return clock_now_us() / 1000;
}

int64_t clock_wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t since_boot_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void clock_trust_begin(struct clock_trust *trust)
{
    *trust = (struct clock_trust){.wall_ms = clock_wall_ms(), .at_ms = since_boot_ms()};
}

int64_t clock_trusted_ms(struct clock_trust *trust)
{
    int64_t wall = clock_wall_ms();
    int64_t at = since_boot_ms();
    int64_t expected = trust->wall_ms + (at - trust->at_ms);
    bool jumped = wall > expected + TIME_CLOCK_SLACK_MS;
    if (jumped && trust->doubts_since_ms == 0) {
        trust->doubts_since_ms = at;
    }
    if (jumped && at - trust->doubts_since_ms < TIME_CLOCK_DOUBT_MS) {
        return expected;
    }
    *trust = (struct clock_trust){.wall_ms = wall, .at_ms = at};
    return wall;
}

char *clock_stamp_of(int64_t wall_ms, char out[CLOCK_STAMP_SIZE])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    size_t length = strftime(out, CLOCK_STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out + length, CLOCK_STAMP_SIZE - length, ".%03dZ", (int)(wall_ms % 1000));
    return out;
}

char *clock_stamp(char out[CLOCK_STAMP_SIZE])
{
    return clock_stamp_of(clock_wall_ms(), out);
}

/* A number that is not negative; -1 for anything else. */
static double read_number(const char *text)
{
    char *end;
    double number = text ? strtod(text, &end) : -1;
    return text && end != text && isfinite(number) && number >= 0 ? number : -1;
}

int64_t clock_retry_after_ms(const char *ms, const char *retry_after, int64_t now)
{
    struct tm parts = {0};
    double wait = read_number(ms);
    if (wait < 0) {
        wait = read_number(retry_after) * 1000;
    }
    if (wait < 0 && retry_after && strptime(retry_after, "%a, %d %b %Y %H:%M:%S GMT", &parts)) {
        wait = fmax((double)(timegm(&parts) - now) * 1000, 0);
    }
    return wait < 0 ? -1 : wait > 1e12 ? (int64_t)1e12 : (int64_t)wait;
}
