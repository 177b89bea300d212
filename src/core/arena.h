/* An arena: memory that is taken piece by piece and given back all at once. Each call owns one;
 * what builds the call's result comes from it and goes with it.
 *
 * An allocation that fails (no memory, or the ceiling) returns NULL and marks the arena, so that
 * code which builds something large may check once at the end with arena_failed(). Memory is
 * aligned for any type and not cleared, but for arena_zalloc. Not safe to share between threads.
 *
 * Built with FORAGE_ARENA_MALLOC each piece is its own malloc, so that sanitizers see every
 * overrun. */
#ifndef FORAGE_CORE_ARENA_H
#define FORAGE_CORE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(size_t ceiling);
void *arena_alloc(struct arena *arena, size_t size);
void *arena_zalloc(struct arena *arena, size_t size);
/* Grows the piece at `old`; in place when it is the newest one. */
void *arena_realloc(struct arena *arena, void *old, size_t old_size, size_t size);
/* An array of `count` items of `item` bytes with room for one more, twice as large where it was
 * full. NULL without memory. */
void *arena_grow(struct arena *arena, void *items, size_t count, size_t *capacity, size_t item);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
bool arena_failed(const struct arena *arena);
size_t arena_used(const struct arena *arena);
/* What the ceiling still leaves. */
size_t arena_left(const struct arena *arena);
/* Forgets every piece and keeps the first block, ready for the next call. */
void arena_reset(struct arena *arena);
struct arena *arena_free(struct arena *arena);

#endif
