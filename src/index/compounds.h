/* The compounds of a segment: long terms of texts in languages that write words together, each as
 * it is and backwards, so that both those that begin and those that end with a word are neighbours
 * in the order of texts. */
#ifndef FORAGE_INDEX_COMPOUNDS_H
#define FORAGE_INDEX_COMPOUNDS_H

#include "index/dictionary.h"
#include "index/symbols.h"

#include <stdbool.h>

#define COMPOUNDS_LETTERS 4u /* bytes that a part has at least; its rest may have one less */

/* Zeroed is empty. */
struct compounds {
    struct symbols entries;
};

/* Adds a term that is long enough. OK, ERR_NOMEM. */
int compounds_add(struct compounds *compounds, const char *text, size_t length);
int compounds_write(const struct compounds *compounds, struct dictionary_writer *writer);
void compounds_done(struct compounds *compounds);

/* What the entries of terms that begin, or end, with the part begin with. How many bytes; 0: the
 * part is too short, or too long. `entry` has room for DICTIONARY_MOST_TERM bytes. */
size_t compounds_entry(char *entry, const char *part, size_t length, bool ending);
/* The term of an entry; `text` has room for DICTIONARY_MOST_TERM bytes and a NUL. Its bytes. */
size_t compounds_term(char *text, const char *entry, size_t length);

#endif
