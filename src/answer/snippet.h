/* The sentence that a citation supports. Markers stand behind the claim ("It rains. ([a](u))" or
 * "It rains ([a](u))."), several may follow each other, and in lists of sources the claim stands
 * behind the marker instead.
 *
 * Pure. The text must be valid UTF-8. */
#ifndef FORAGE_ANSWER_SNIPPET_H
#define FORAGE_ANSWER_SNIPPET_H

#include "answer/markers.h"

/* The sentence for spans[which], without the markers in it, white space collapsed, at most
 * LIMIT_SNIPPET_CHARS; "" when there is none. `spans` are in order and apart from each other. NULL
 * without memory. */
const char *snippet_for(struct arena *arena, const char *text, size_t length,
                        const struct span *spans, size_t count, size_t which);

#endif
