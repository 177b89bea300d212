/* The marks of Markdown that no reader of a page sees, and the words that are left without them. */
#ifndef FORAGE_EVIDENCE_MARKS_H
#define FORAGE_EVIDENCE_MARKS_H

#include "core/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Behind "](", where `at` is: where the address and its bracket end, or 0 when that is none. Before
 * `none_before` one was looked for in vain. */
size_t marks_target_end(const char *text, size_t length, size_t at, size_t *none_before);
/* "[^name]" at `at`: behind it; else 0. */
size_t marks_footnote_end(const char *text, size_t length, size_t at);
/* Whether what stands in the brackets behind a link's text looks like an address; words do not. */
bool marks_is_address(const char *target, size_t length);

/* A piece of a page as its reader sees it: in one line, without addresses, numbers of footnotes and
 * stars. NULL without memory. */
const char *marks_plain(struct arena *arena, const char *text, size_t length);

#endif
