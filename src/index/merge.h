/* Merging: several segments become one, without what is dead in them: of a document that is gone
 * nothing stays, no word, no name. */
#ifndef FORAGE_INDEX_MERGE_H
#define FORAGE_INDEX_MERGE_H

#include "index/segment.h"

struct merge_input {
    const struct segment *segment;
    const uint8_t *dead; /* a bit for each document, the lowest first; NULL: none is */
};

/* The new segment's bytes, for free(). OK, ERR_NOMEM, ERR_LIMIT. */
int merge_segments(const struct merge_input *inputs, size_t count, uint8_t **bytes, size_t *length);

#endif
