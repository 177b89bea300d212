/* Time. */
#include "core/clock.h"

#include <stdio.h>
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

char *clock_stamp(char out[CLOCK_STAMP_SIZE])
{
    struct timespec now;
    struct tm parts;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    size_t length = strftime(out, CLOCK_STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(out + length, CLOCK_STAMP_SIZE - length, ".%03dZ",
             (int)(now.tv_nsec / 1000000 % 1000));
    return out;
}
