/* A question as it stands: whether a text holds all of its words, one behind the other. */
#ifndef FORAGE_MEMORY_PHRASE_H
#define FORAGE_MEMORY_PHRASE_H

#include "core/arena.h"
#include "index/words.h"

struct phrase {
    const char *words; /* folded, a blank before and behind each; NULL: it is not more than one */
};

/* In the arena. OK or ERR_NOMEM. */
int phrase_read(struct phrase *phrase, struct word_reader *reader, struct arena *arena,
                const char *text);
/* Whether the text holds it, or with `whole` is it. OK or ERR_NOMEM. */
int phrase_find(const struct phrase *phrase, struct word_reader *reader, const char *text,
                bool whole, bool *found);

#endif
