/* An arena for tests: the functions that make and free it. */
#ifndef FORAGE_TESTS_UNIT_ARENA_FIXTURE_H
#define FORAGE_TESTS_UNIT_ARENA_FIXTURE_H

#include "core/arena.h"
#include "core/limits.h"

static struct arena *arena;

static int make_arena(void **state)
{
    (void)state;
    arena = arena_new(MIB(64));
    return arena ? 0 : -1;
}

static int free_arena(void **state)
{
    (void)state;
    arena = arena_free(arena);
    return 0;
}

#endif
