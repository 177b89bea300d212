/* Positions in a text, in whatever unit somebody counts: Unicode code points, units of UTF-16 (as
 * JavaScript does) or bytes of UTF-8. A ruler is laid along a text once; after that any position is
 * found in a few steps, and none ever falls inside a character.
 *
 * Pure. The text must be valid UTF-8 and outlive the ruler, which lives in the arena. */
#ifndef FORAGE_ANSWER_RULER_H
#define FORAGE_ANSWER_RULER_H

#include "core/arena.h"

#include <stddef.h>
#include <stdint.h>

enum ruler_unit { RULER_POINTS, RULER_UTF16, RULER_BYTES, RULER_UNITS };

#define RULER_NONE SIZE_MAX

struct ruler;

/* NULL without memory. */
struct ruler *ruler_new(struct arena *arena, const char *text, size_t length);
/* The offset in bytes of a position; RULER_NONE when it is beyond the end or inside a character. */
size_t ruler_byte(const struct ruler *ruler, enum ruler_unit unit, size_t position);
/* The same, but never RULER_NONE: moved back to the beginning of its character, or to the end of
 * the text. */
size_t ruler_byte_near(const struct ruler *ruler, enum ruler_unit unit, size_t position);
/* The opposite, for code points. `byte` is moved back to the beginning of its character. */
size_t ruler_point(const struct ruler *ruler, size_t byte);

#endif
