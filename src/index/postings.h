/* Postings: in which documents of a segment a term occurs, and how often; as bytes, which may be
 * damaged: nothing outside of them is read, and no document is named that there is not.
 *
 * Documents come in blocks of 128. A list of several blocks begins with an entry for each: its last
 * document, where it is, and what bounds the scores in it, so that a search leaves out blocks that
 * cannot bring anything. */
#ifndef FORAGE_INDEX_POSTINGS_H
#define FORAGE_INDEX_POSTINGS_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POSTINGS_BLOCK 128u
#define POSTINGS_LONG  (UINT32_C(1) << 31) /* with a length: what the term brings has no bound */
#define NO_DOCUMENT    UINT32_MAX

struct posting {
    uint32_t document;
    uint32_t times; /* at least 1 */
    uint32_t positions_length;
    const uint8_t *positions; /* where in the document (positions.h); none of a passage */
};

/* Appends a list, in the order of its documents. `lengths` are those of all documents of the
 * segment, or NULL for a list that needs no bounds. An error of the buffer sticks to it. */
void postings_write(struct buf *out, const struct posting *postings, uint32_t count,
                    const uint32_t *lengths);

/* A list where it is. */
struct postings {
    const uint8_t *bytes;
    size_t length;
    uint32_t count;
    uint32_t positions_length;
    const uint8_t *positions; /* of all its documents */
};

/* What documents of a block there could be at best. */
struct postings_bound {
    uint32_t once_length; /* the shortest document with the term once; UINT32_MAX: none */
    uint32_t most_times;  /* of documents that have it more often; 0: there are none; UINT32_MAX: */
    uint32_t more_length; /* no bound; the shortest of these */
};

struct postings_cursor {
    struct postings list;
    uint32_t limit; /* documents of the segment */
    uint32_t block_count;
    uint32_t block;           /* that is decoded; block_count: none any more */
    uint32_t at, filled;      /* in it */
    uint32_t document, times; /* of the current posting; NO_DOCUMENT behind the last one */
    uint32_t documents[POSTINGS_BLOCK];
    uint32_t all_times[POSTINGS_BLOCK];
};

/* Stands at the first document. */
void postings_start(struct postings_cursor *cursor, const struct postings *list, uint32_t limit);
/* Stands at the first document of the next block. */
void postings_next_block(struct postings_cursor *cursor);
static inline void postings_next(struct postings_cursor *cursor)
{
    if (++cursor->at < cursor->filled) {
        cursor->document = cursor->documents[cursor->at];
        cursor->times = cursor->all_times[cursor->at];
    } else {
        postings_next_block(cursor);
    }
}
/* Where in the block at hand the documents from this one on begin, which is behind the current one;
 * `filled`: they are not in it. */
uint32_t postings_until(const struct postings_cursor *cursor, uint32_t document);
/* Goes on to there. */
static inline void postings_go(struct postings_cursor *cursor, uint32_t at)
{
    cursor->at = at - 1;
    postings_next(cursor);
}
/* Goes on to the first document that is not before this one. */
void postings_seek(struct postings_cursor *cursor, uint32_t document);
/* The last document of a block, and what bounds it. A list of less than a block has no entry: it is
 * decoded as a whole, and whoever needs bounds looks at it. */
uint32_t postings_block_last(const struct postings_cursor *cursor, uint32_t block);
void postings_block_bound(const struct postings_cursor *cursor, uint32_t block,
                          struct postings_bound *bound);

#endif
