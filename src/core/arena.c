/* The arena: blocks from malloc, each at least as large as the one before up to a bound, and a bump
 * pointer in the newest. */
#include "core/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT     16u
#define FIRST_BLOCK   ((size_t)8 * 1024)
#define LARGEST_BLOCK ((size_t)256 * 1024)

struct block {
    struct block *previous;
    size_t size; /* of the bytes after this header */
    size_t used;
    char bytes[] __attribute__((aligned(ALIGNMENT)));
};

struct arena {
    struct block *newest;
    size_t ceiling;
    size_t taken; /* bytes handed out */
    bool failed;
};

#ifndef FORAGE_ARENA_MALLOC
static size_t align_up(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}
#endif

struct arena *arena_new(size_t ceiling)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena) {
        arena->ceiling = ceiling;
    }
    return arena;
}

static struct block *add_block(struct arena *arena, size_t wanted)
{
#ifdef FORAGE_ARENA_MALLOC
    size_t size = wanted;
#else
    size_t size = arena->newest ? arena->newest->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK) {
        size = LARGEST_BLOCK;
    }
    if (size < wanted) {
        size = wanted;
    }
#endif
    struct block *block = malloc(sizeof *block + size);
    if (!block) {
        return NULL;
    }
    block->size = size;
    block->used = 0;
    block->previous = arena->newest;
    arena->newest = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > arena->ceiling || arena->taken > arena->ceiling - size) {
        arena->failed = true;
        return NULL;
    }
#ifdef FORAGE_ARENA_MALLOC
    size_t wanted = size; /* exact, so that a sanitizer sees a single byte too many */
    struct block *block = NULL;
#else
    size_t wanted = align_up(size ? size : 1);
    struct block *block = arena->newest;
#endif
    if (!block || block->size - block->used < wanted) {
        block = add_block(arena, wanted);
        if (!block) {
            arena->failed = true;
            return NULL;
        }
    }
    void *piece = block->bytes + block->used;
    block->used += wanted;
    arena->taken += size;
    return piece;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    void *piece = arena_alloc(arena, size);
    if (piece) {
        memset(piece, 0, size);
    }
    return piece;
}

void *arena_realloc(struct arena *arena, void *old, size_t old_size, size_t size)
{
    if (old && size <= old_size) {
        return old;
    }
#ifndef FORAGE_ARENA_MALLOC
    struct block *block = arena->newest;
    size_t old_room = align_up(old_size ? old_size : 1);
    if (old && block && (char *)old + old_room == block->bytes + block->used) {
        size_t more = align_up(size) - old_room;
        bool allowed = arena->taken + (size - old_size) <= arena->ceiling;
        if (allowed && block->size - block->used >= more) {
            block->used += more;
            arena->taken += size - old_size;
            return old;
        }
    }
#endif
    void *piece = arena_alloc(arena, size);
    if (piece && old) {
        memcpy(piece, old, old_size);
    }
    return piece;
}

void *arena_grow(struct arena *arena, void *items, size_t count, size_t *capacity, size_t item)
{
    if (count < *capacity) {
        return items;
    }
    size_t grown = *capacity ? *capacity * 2 : 8;
    void *more = arena_realloc(arena, items, *capacity * item, grown * item);
    *capacity = more ? grown : *capacity;
    return more;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (copy) {
        if (length) {
            memcpy(copy, text, length);
        }
        copy[length] = '\0';
    }
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    char few[256]; /* as most texts are */
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(few, sizeof few, format, again);
    va_end(again);
    if (length < 0) {
        arena->failed = true;
        return NULL;
    }
    char *text = arena_alloc(arena, (size_t)length + 1);
    if (text && (size_t)length < sizeof few) {
        memcpy(text, few, (size_t)length + 1);
    } else if (text) {
        vsnprintf(text, (size_t)length + 1, format, args);
    }
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

bool arena_failed(const struct arena *arena)
{
    return arena->failed;
}

size_t arena_used(const struct arena *arena)
{
    return arena->taken;
}

size_t arena_left(const struct arena *arena)
{
    return arena->ceiling - arena->taken;
}

static void free_blocks(struct arena *arena, struct block *keep)
{
    struct block *block = arena->newest;
    while (block && block != keep) {
        struct block *previous = block->previous;
        free(block);
        block = previous;
    }
    arena->newest = block;
}

void arena_reset(struct arena *arena)
{
    struct block *first = arena->newest;
    while (first && first->previous) {
        first = first->previous;
    }
#ifdef FORAGE_ARENA_MALLOC
    first = NULL;
#endif
    free_blocks(arena, first);
    if (first) {
        first->used = 0;
    }
    arena->taken = 0;
    arena->failed = false;
}

struct arena *arena_free(struct arena *arena)
{
    if (arena) {
        free_blocks(arena, NULL);
        free(arena);
    }
    return NULL;
}
