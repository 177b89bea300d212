/* Vectors of many texts as bytes that never change: what a shelf keeps of a set (vectors.h). In the
 * order of their ids, so that one is found without a table; where there are enough of them with the
 * signs of their numbers, less the mean of the part, which find the nearest.
 *
 * The rows, which are nearly all of it, are read here and there only: each has a check of its own.
 * Everything before them is small, and its reader asks the shelf about it. */
#ifndef FORAGE_INDEX_VECTOR_PART_H
#define FORAGE_INDEX_VECTOR_PART_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place is a passage; those of a text follow each other. */
struct vector_part {
    size_t dimensions;
    size_t stride; /* bytes of a row: each number with 128 added, as vectors.c has them */
    size_t words;  /* of a code */
    uint32_t count;
    const char *label;  /* of whoever made the vectors */
    const float *mean;  /* NULL: it has no codes */
    const int64_t *ids; /* ascending */
    const uint32_t *marks;
    const float *scales;
    const uint32_t *checks; /* of the rows */
    const uint64_t *codes;  /* in blocks of DOTS_CODES, as dots.h wants them */
    const uint8_t *rows;
    size_t head; /* bytes before the rows */
};

/* Bytes of a row. */
size_t vector_stride(size_t dimensions);
/* Of the signs of a vector, less the mean. */
void vector_code(const float *numbers, const float *mean, size_t dimensions, uint64_t *code);

/* Finds the parts of it; the rows are not looked at. OK; ERR_INVALID for what is none of this
 * version. */
MUST_CHECK int vector_part_head(const void *bytes, size_t length, struct vector_part *part);
/* Whether what stands in the head makes sense, once it is known to be what was written. */
bool vector_part_sensible(const struct vector_part *part);
/* Whether a row is what was written. */
bool vector_part_row_sound(const struct vector_part *part, uint32_t place);

/* Where the places of a new part come from. */
struct vector_input {
    const int64_t *ids;
    const uint32_t *marks;
    const float *scales;
    const uint8_t *rows;
    const uint32_t *checks; /* NULL: it is in memory only */
    const uint8_t *dead;    /* a bit for each place; NULL: all live */
    uint32_t count;
};
typedef int (*vector_emit)(void *context, const void *bytes, size_t length);
/* Writes one part of all that lives in the inputs, at least one place, piece by piece. OK;
 * ERR_INVALID when a row is not what was written; ERR_NOMEM; ERR_LIMIT when the label is too long;
 * what `emit` says. */
MUST_CHECK int vector_part_write(const struct vector_input *inputs, size_t count, size_t dimensions,
                                 const char *label, vector_emit emit, void *context);

#endif
