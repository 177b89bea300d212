/* Positions: where in a document a term stands, so that a phrase is found without its text. They
 * are bytes beside the postings of the term, a stretch for each document, and may be damaged:
 * nothing outside of them is read, and every number that comes out is only compared.
 *
 * The texts of a document lie apart: no two words that follow each other are of two texts. */
#ifndef FORAGE_INDEX_POSITIONS_H
#define FORAGE_INDEX_POSITIONS_H

#include "index/postings.h"

/* ---- writing ---- */

/* Appends one position of a document, by how far it is from the one before, or from -1; `more`:
 * others follow. A document without any has the distance 0. */
void positions_put(struct buf *out, uint32_t distance, bool more);
/* Appends those of all postings of a term. */
void positions_write(struct buf *out, const struct posting *postings, uint32_t count);

/* ---- reading ---- */

/* Of one document. */
struct positions {
    const uint8_t *at, *end;
    uint32_t next; /* the position behind the last that was read */
};

/* Remembers where it was: documents are mostly asked for in their order. */
struct positions_reader {
    uint32_t block, at;
    const uint8_t *next; /* NULL: the rest of the block is damaged */
};

void positions_start(struct positions_reader *reader);
/* Those of the document where the cursor stands. */
struct positions positions_of(struct positions_reader *reader,
                              const struct postings_cursor *cursor);
/* The next one, in rising order; false: there is none. */
bool positions_next(struct positions *positions, uint32_t *position);

#endif
