/* An allocator that fails when a test wants it, through the linker's --wrap: one of malloc, calloc
 * and realloc returns NULL, the one that comes after `fail_after` others. For one file of a
 * program. */
#ifndef FORAGE_TESTS_FAILING_ALLOCATIONS_H
#define FORAGE_TESTS_FAILING_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

static long fail_after = -1; /* negative: never */
static bool failed;          /* one has; the test takes it back */
static size_t failures;      /* how many have; as above */

static bool should_fail(void)
{
    if (fail_after < 0 || fail_after-- > 0) {
        return false;
    }
    failed = true;
    failures++;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return should_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return should_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return should_fail() ? NULL : __real_realloc(old, size);
}

#endif
