/* An allocator that fails when a test wants it, through the linker's --wrap: one of malloc, calloc
 * and realloc returns NULL, the one that comes after `fail_after` others. */
#ifndef FORAGE_TESTS_FAILING_ALLOCATIONS_H
#define FORAGE_TESTS_FAILING_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>

extern long fail_after; /* negative: never */
extern bool failed;     /* one has; the test takes it back */
extern size_t failures; /* how many have; as above */

#endif
