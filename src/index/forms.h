/* Forms: what else a word of a question may be written as in a text. Words of one family
 * ("allergy", "allergic"), words that stand for the same ("k8s", "kubernetes"), and what was meant
 * where a word is misspelt ("dentst"). Each is offered as a term, with what it counts against the
 * word itself; whether a text holds it is the taker's business. Knows no index. */
#ifndef FORAGE_INDEX_FORMS_H
#define FORAGE_INDEX_FORMS_H

#include "core/arena.h"
#include "index/words.h"

/* A status other than OK ends the offering. */
typedef int (*form_take)(void *context, const char *term, size_t length, float weight);

/* Of an English stem. */
int forms_family(const char *stem, form_take take, void *context);
/* From the table of words that stand for the same (data/alike-words.txt). */
int forms_alike(struct word_reader *reader, const char *folded, form_take take, void *context);
/* What the word is one slip away from: a letter too many, too few, another one, or two in the wrong
 * order. Nothing for words of less than four letters, or with digits. OK, ERR_NOMEM, or what `take`
 * returned. */
int forms_slips(struct word_reader *reader, struct arena *arena, const char *folded,
                enum language language, form_take take, void *context);
/* Whether a word may be misspelt twice: it has eight letters or more. */
bool forms_long(const char *folded);
/* Whether two such words are at most two slips apart, and what the other counts then: 0, no. For
 * who has a list of terms to go through. */
float forms_near(const char *word, size_t length, const char *term, size_t term_length);

#endif
