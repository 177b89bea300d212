/* Tables of words that scripts/tables.py makes of the files under data/ when the program is built.
 * They are constants: nothing is parsed, sorted or allocated when the program runs, and as places
 * are numbers and not pointers, the loader has nothing to do either. The tables are declared in
 * the generated tables.h. */
#ifndef FORAGE_TEXT_WORD_TABLE_H
#define FORAGE_TEXT_WORD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct word_entry {
    uint32_t value; /* what its class is in C; the place of its text in a table of texts */
    uint16_t at;    /* its place in the table's text */
    uint8_t length;
    uint8_t open; /* whatever begins with it fits, too */
};

struct word_table {
    const char *text;
    const struct word_entry *entries; /* in the order of their bytes */
    const uint16_t *slots;            /* open addressing by hash: the number of an entry plus one */
    const uint32_t *lengths; /* for the last five bits of a first letter: a bit for each length */
    uint16_t mask;
    uint16_t count;
    bool fold; /* the case of A to Z does not count */
};

/* Of lengths and of first letters, whose case is in the bits above; longer words count as 31. */
#define WORD_LETTERS 32

/* The value of an ordered word: its class, and its place in that class, from 1. */
#define WORD_RANK(class, rank) ((uint32_t)(class) << 8 | (rank))
#define WORD_CLASS_OF(value)   ((value) >> 8)
#define WORD_PLACE_OF(value)   ((value)&0xff)

/* The value of a word, or 0. */
uint32_t words_value(const struct word_table *table, const char *word, size_t length);
/* The text of a word, or NULL. */
const char *words_text(const struct word_table *table, const char *word, size_t length);
/* The value of the entry that is `text`, or that ends with a * and begins it; or 0. */
uint32_t words_match(const struct word_table *table, const char *text, size_t length);

#endif
