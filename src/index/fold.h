/* Folding: the forms of a word that a reader takes for the same are made the same. Works in memory
 * of the caller; a word longer than FOLD_BYTES is cut, between characters. */
#ifndef FORAGE_INDEX_FOLD_H
#define FORAGE_INDEX_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLD_BYTES 192

enum fold_class {
    FOLD_GAP,      /* between words */
    FOLD_WORD,     /* letters, digits and their marks */
    FOLD_UNSPACED, /* of a script that does not separate words */
};

enum fold_class fold_class(uint32_t point);
bool fold_is_apostrophe(uint32_t point);

struct fold_text {
    char data[FOLD_BYTES]; /* ends in a NUL */
    size_t length;
};

/* One case, one width, composed: what a stemmer wants. */
void fold_case(struct fold_text *out, const char *text, size_t length);
/* Without accents, vowel points and the like; in place. */
void fold_accents(struct fold_text *text);

/* A text of any length in one case and one width, without accents, and with every other mark behind
 * its letter: what scripts/tables.py stores of a `bare` table. Returns its bytes, without a NUL; 0:
 * it is empty, or does not fit. */
size_t fold_bare(const char *text, size_t length, char *out, size_t size);

#endif
