/* The time of day as memories carry it: milliseconds since 1970, UTC. */
#ifndef FORAGE_MEMORY_WALL_H
#define FORAGE_MEMORY_WALL_H

#include <stdint.h>
#include <time.h>

static inline int64_t wall_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
