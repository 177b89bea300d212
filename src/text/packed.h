/* Long texts made small for the store: zlib's format behind the length of the text. What is read
 * again is checked, since a store may be damaged. */
#ifndef FORAGE_TEXT_PACKED_H
#define FORAGE_TEXT_PACKED_H

#include "core/arena.h"

#include <stddef.h>

/* In the arena, with its size; NULL without memory. */
const void *packed_text(struct arena *arena, const char *text, size_t length, size_t *size);
/* The text again, in the arena; NULL where it is damaged, longer than `most`, or without memory. */
const char *unpacked_text(struct arena *arena, const void *packed, size_t size, size_t most,
                          size_t *length);

#endif
