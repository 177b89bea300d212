/* The allocator of the unit tests. It fails where failing_allocations.h was told to. */
#include "failing_allocations.h"

long fail_after = -1;
bool failed;
size_t failures;

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
