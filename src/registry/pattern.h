/* Regular expressions for the `pattern` of a schema: a small part of what JSON Schema allows, with
 * the meaning that it has there (code points, not anchored unless the pattern says so).
 *
 *   literals, .            any code point but a line end
 *   ^ $                    beginning and end of the text
 *   [abc] [^a-z]           classes and ranges
 *   \d \w \s               digits, word characters (both ASCII), blanks; also inside a class
 *   \n \r \t \. \\ ...     escapes of line ends, tab and ASCII punctuation
 *   ? * + {m} {m,} {m,n}   how often, always greedy
 *   (a|b) (?:a|b)          groups; nothing is captured
 *
 * Anything else is refused by pattern_check. Matching follows all possibilities at once instead of
 * trying one after the other, so that its time grows with text times pattern and no text can make
 * it run away; a ceiling on the steps holds on top of that. Nothing allocates. */
#ifndef FORAGE_REGISTRY_PATTERN_H
#define FORAGE_REGISTRY_PATTERN_H

#include "core/status.h"

#include <stddef.h>

#define PATTERN_MOST_STATES 512     /* of one pattern, its repetitions written out */
#define PATTERN_MOST_RANGES 256     /* in all its classes */
#define PATTERN_MOST_GROUPS 16      /* nested */
#define PATTERN_MOST_STEPS  4000000 /* of one match */

/* OK, or ERR_INVALID with what is wrong, and where, in `problem`. */
MUST_CHECK int pattern_check(const char *pattern, size_t length, char *problem, size_t size);
/* 1 when some part of `text` matches, 0 when none does, ERR_LIMIT when the steps ran out and
 * ERR_INVALID for a pattern that pattern_check refuses. */
MUST_CHECK int pattern_match(const char *pattern, size_t length, const char *text,
                             size_t text_length);

#endif
