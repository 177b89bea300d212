/* Asks glibc to give memory back; other C libraries do so by themselves. */
#include "core/heap.h"

#include "core/clock.h"
#include "core/limits.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define MOST_HEAPS  4      /* a thread would get one of its own otherwise */
#define KEPT_BYTES  MIB(1) /* free at the end of a heap */
#define WORTH_BYTES MIB(4) /* freed at once, a look at all heaps */
#define REST_MS     10000

static _Atomic int64_t next_ms;

void heap_begin(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, MOST_HEAPS);
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
#endif
}

void heap_return(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void heap_freed(size_t bytes)
{
    if (bytes >= WORTH_BYTES) {
        heap_return();
    }
}

void heap_rest(void)
{
    int64_t now_ms = clock_now_ms();
    int64_t due_ms = atomic_load_explicit(&next_ms, memory_order_relaxed);
    bool first = due_ms == 0;
    if (now_ms >= due_ms && atomic_compare_exchange_strong(&next_ms, &due_ms, now_ms + REST_MS) &&
        !first) {
        heap_return();
    }
}
