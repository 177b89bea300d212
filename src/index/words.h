/* Words: a text taken apart into the terms that an index holds and a question asks for. The same
 * text gives the same terms everywhere, so everything that must agree on what a word is asks here.
 *
 * - Words of spaced scripts are folded (case, width, accents) and stemmed in the text's language.
 * - Chinese, Japanese, Korean and Thai have no reliable spaces: each pair of neighbouring
 * characters is a term, and each character by itself.
 * - An identifier (camelCase, snake_case) gives its parts and the whole written together, so that
 *   either spelling finds the other.
 *
 * A reader belongs to one thread at a time. */
#ifndef FORAGE_INDEX_WORDS_H
#define FORAGE_INDEX_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum language {
    LANGUAGE_ENGLISH, /* also what nothing is known of */
    LANGUAGE_GERMAN,
    LANGUAGE_FRENCH,
    LANGUAGE_SPANISH,
    LANGUAGE_ITALIAN,
    LANGUAGE_PORTUGUESE,
    LANGUAGE_DUTCH,
    LANGUAGE_SWEDISH,
    LANGUAGE_RUSSIAN,
    LANGUAGE_ARABIC,
    LANGUAGE_GREEK,
    LANGUAGE_COUNT
};
#define LANGUAGE_BIT(NAME) (UINT32_C(1) << LANGUAGE_##NAME) /* of the table of stop words */

enum word_kind {
    WORD_PLAIN,  /* a word, or a part of an identifier */
    WORD_WHOLE,  /* an identifier, its parts written together; stands where its first part does */
    WORD_PAIR,   /* two neighbouring characters of a script without spaces, or one that is alone */
    WORD_SINGLE, /* one character of such a script, which is also part of a pair */
};

struct word {
    const char *term; /* folded and stemmed, ends in a NUL; valid until the next word */
    size_t length;
    const char *folded; /* the same before stemming */
    size_t folded_length;
    size_t start, end;     /* its bytes in the text */
    unsigned int position; /* counts words and characters; phrases are neighbouring positions */
    enum word_kind kind;
    bool stop; /* a word that hardly carries meaning in this language */
    /* A number that the taker may keep with the term, to know it again: 0 at first, and lost at any
     * time. NULL: there is no place for one. */
    uint32_t *note;
};

struct word_reader;

/* NULL without memory. */
struct word_reader *words_new(void);
struct word_reader *words_free(struct word_reader *reader);
/* Gives back what makes a long run fast, for a reader that is kept for later. */
void words_rest(struct word_reader *reader);
/* The language that a text is written in, by its script and its commonest words. */
enum language words_guess(struct word_reader *reader, const char *text, size_t length);
/* Whether words of this language are written together ("Krankenversicherung"). */
bool words_compound(enum language language);
/* Gives every word of the text to `take`, in order. OK, ERR_NOMEM, or what `take` returned if that
 * was not OK, which ends it. */
int words_each(struct word_reader *reader, const char *text, size_t length, enum language language,
               int (*take)(void *context, const struct word *word), void *context);

#endif
