/* Excerpts: the part of a memory that shows why it was found, as plain text, or as HTML in which
 * hits are marked and everything else is escaped. */
#ifndef FORAGE_MEMORY_EXCERPT_H
#define FORAGE_MEMORY_EXCERPT_H

#include "core/arena.h"
#include "index/words.h"

/* What to look for in the texts. */
struct excerpt_terms {
    const char *const *terms;
    size_t term_count;
    const char *const *prefixes; /* folded */
    size_t prefix_count;
};

/* From whichever text holds most of the terms, the first one when none does. The first text tells
 * the language. `marked`: as HTML. In the arena; NULL without memory. */
const char *excerpt_make(struct arena *arena, struct word_reader *reader, const char *const *texts,
                         size_t text_count, const struct excerpt_terms *wanted, bool marked);

#endif
