/* A full-text question: keywords, each a word, several words, a "phrase", a prefix* or -excluded.
 * The index finds candidates (index_fulltext) and says which terms each word may be; whether a text
 * really holds a prefix is seen in the text (fulltext_matches). */
#ifndef FORAGE_INDEX_FULLTEXT_H
#define FORAGE_INDEX_FULLTEXT_H

#include "core/arena.h"
#include "index/words.h"

struct fulltext_word {
    const char **terms; /* any of them */
    size_t term_count;
    const char *prefix; /* or a word that begins like this, folded; NULL: not asked for */
    unsigned int position;
    enum word_kind kind;
};

struct fulltext_clause {
    const char *text; /* the keyword without its marks */
    bool phrase;
    bool prefix;
    bool excluded;
    struct fulltext_word *words; /* filled by index_fulltext */
    size_t word_count;
};

struct fulltext {
    struct fulltext_clause *clauses;
    size_t count;
    bool all;         /* every clause; otherwise any of them. No excluded one in any case. */
    bool in_the_text; /* candidates must be checked with fulltext_matches */
};

/* OK, ERR_NOMEM; ERR_INVALID when nothing is left to look for. */
int fulltext_read(struct fulltext *question, struct arena *arena, const char *const *keywords,
                  size_t count, bool all);
/* Whether words of this kind must follow each other in a phrase. */
bool fulltext_in_phrase(enum word_kind kind);
/* Whether a memory of these texts is what was asked for. OK or ERR_NOMEM. */
int fulltext_matches(const struct fulltext *question, struct word_reader *reader,
                     struct arena *arena, const char *const *texts, size_t text_count,
                     bool *matches);

#endif
