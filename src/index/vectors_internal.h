/* What a set of vectors is made of, for whoever brings it to its files. */
#ifndef FORAGE_INDEX_VECTORS_INTERNAL_H
#define FORAGE_INDEX_VECTORS_INTERNAL_H

#include "index/dots.h"
#include "index/shelf.h"
#include "index/vector_part.h"
#include "index/vectors.h"

#include <stdatomic.h>

#define VECTORS_BLOCK 256u /* places */

/* Of fresh ones. */
struct vectors_block {
    int64_t ids[VECTORS_BLOCK]; /* 0: dead */
    uint32_t marks[VECTORS_BLOCK];
    float scales[VECTORS_BLOCK];
    uint8_t rows[];
};

/* A part in a file, and what is dead in it. */
struct vectors_kept {
    struct vector_part part;
    const struct shelf_segment *segment; /* of the set's view of the shelf; NULL: none (tests) */
    uint8_t *dead;
    uint32_t dead_count;
};

struct vectors {
    const struct dots *dots;
    size_t dimensions;
    size_t stride; /* bytes of a row */
    struct vectors_block **blocks;
    uint32_t block_capacity;
    uint32_t count; /* of fresh places, dead ones too */
    uint32_t dead;
    uint32_t *slots; /* by id: the place of its first passage, or none */
    uint32_t slot_count;
    uint32_t texts;            /* fresh ones */
    struct shelf_view *shelf;  /* that the kept ones are of; NULL: there are none */
    struct vectors_kept *kept; /* a text is alive in one of them at most, or fresh */
    size_t kept_count;
    atomic_bool *is_damaged; /* a row was not what was written; searches write it */
    /* A save that is under way: what was removed since it began. */
    bool is_saving;
    bool has_missed; /* one of those, for want of memory */
    int64_t *removed;
    size_t removed_count, removed_capacity;
};

/* Marks a text dead in one part. */
void vectors_bury(struct vectors_kept *kept, int64_t id);
/* Drops the fresh places before the first, and those that are dead. */
void vectors_compact(struct vectors *vectors, uint32_t first);
/* Adds a part, with nothing dead in it. OK; ERR_INVALID for what is none, or has other dimensions;
 * ERR_NOMEM. */
MUST_CHECK int vectors_attach(struct vectors *vectors, const void *bytes, size_t length);

#endif
