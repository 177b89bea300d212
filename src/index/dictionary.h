/* A dictionary: the terms of a segment in the order of their bytes, each with its list of
 * postings; as bytes, which may be damaged: nothing outside of them is read. */
#ifndef FORAGE_INDEX_DICTIONARY_H
#define FORAGE_INDEX_DICTIONARY_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DICTIONARY_MOST_TERM 255u /* bytes */

struct dictionary_term {
    char text[DICTIONARY_MOST_TERM + 1]; /* ends in a NUL */
    size_t length;
    uint64_t list;            /* where its postings begin */
    uint32_t holders;         /* documents that hold it */
    uint32_t list_length;     /* the bytes of their list */
    uint32_t passages;        /* that hold it, of documents that have several */
    uint32_t passages_length; /* the bytes of their list, which follows */
    uint64_t positions;       /* where those of its documents begin, */
    uint32_t positions_length;
};

/* ---- writing ---- */

struct dictionary_writer {
    struct buf bytes;
    struct buf blocks; /* where each block begins, as uint32_t */
    struct buf hashes; /* of the terms, as uint32_t */
    char last[DICTIONARY_MOST_TERM];
    size_t last_length;
    uint32_t count;
};

void dictionary_begin(struct dictionary_writer *writer, size_t ceiling);
/* Terms come in their order, and so do their lists, one right behind the other; NULL: there are
 * none, of any term. Errors stick to the buffers. */
void dictionary_add(struct dictionary_writer *writer, const char *text, size_t length,
                    const struct dictionary_term *lists);
/* Appends a sieve of the terms: bits of which a text has all that is a term, and few others. */
void dictionary_put_sieve(const struct dictionary_writer *writer, struct buf *out);
void dictionary_done(struct dictionary_writer *writer);

/* ---- reading ---- */

struct dictionary {
    const uint32_t *blocks;
    uint32_t block_count;
    const uint8_t *bytes;
    size_t length;
    const uint8_t *sieve;  /* a power of two of bytes; */
    uint32_t sieve_length; /* 0: there is none */
};

/* A walk over the terms; `term` is where it stands. */
struct dictionary_walk {
    const struct dictionary *dictionary;
    const uint8_t *at;
    uint32_t block;    /* the one after the current */
    uint32_t in_block; /* terms of the current that were read */
    struct dictionary_term term;
};

/* Stands at the first term that is not before this text; false: there is none. */
bool dictionary_seek(struct dictionary_walk *walk, const struct dictionary *dictionary,
                     const char *text, size_t length);
bool dictionary_next(struct dictionary_walk *walk);
/* Whether the text is a term. */
bool dictionary_find(const struct dictionary *dictionary, const char *text, size_t length,
                     struct dictionary_term *term);
/* Whether the walk's term begins with the text. */
bool dictionary_within(const struct dictionary_walk *walk, const char *text, size_t length);

#endif
