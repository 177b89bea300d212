/* A stretch of bytes that somebody else owns: the one type for "from here, so many". It is not
 * NUL-terminated; `data` is NULL where there is nothing, as opposed to an empty stretch. */
#ifndef FORAGE_TEXT_SLICE_H
#define FORAGE_TEXT_SLICE_H

#include "core/arena.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct slice {
    const char *data;
    size_t length;
};

static inline bool slice_is(struct slice slice, const char *text)
{
    return slice.length == strlen(text) && memcmp(slice.data, text, slice.length) == 0;
}

static inline bool slice_same_any_case(struct slice a, struct slice b)
{
    enum { CASE = 0x20 }; /* all that may differ in a letter */
    return a.length == b.length && (a.length == 0 || (((*a.data ^ *b.data) & ~CASE) == 0 &&
                                                      strncasecmp(a.data, b.data, a.length) == 0));
}

static inline bool slice_is_any_case(struct slice slice, const char *text)
{
    return slice_same_any_case(slice, (struct slice){text, strlen(text)});
}

/* Without the blanks and tabs around it. */
static inline struct slice slice_trim(struct slice slice)
{
    while (slice.length && (*slice.data == ' ' || *slice.data == '\t')) {
        slice.data++;
        slice.length--;
    }
    while (slice.length &&
           (slice.data[slice.length - 1] == ' ' || slice.data[slice.length - 1] == '\t')) {
        slice.length--;
    }
    return slice;
}

/* A NUL-terminated copy in the arena; NULL where there is nothing, or no memory. */
static inline char *slice_copy(struct arena *arena, struct slice slice)
{
    return slice.data ? arena_strndup(arena, slice.data, slice.length) : NULL;
}

#endif
