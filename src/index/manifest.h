/* The manifest of a shelf (shelf.h) as bytes: what it names, read and written. */
#ifndef FORAGE_INDEX_MANIFEST_H
#define FORAGE_INDEX_MANIFEST_H

#include "core/buf.h"
#include "core/limits.h"
#include "core/sha256.h"

#include <stdint.h>

struct manifest_segment {
    uint64_t number;   /* its file's name */
    uint64_t length;   /* of its bytes, at least one, without the checksums behind them */
    uint64_t checksum; /* of those checksums */
};

/* Something that the store holds, by which it is told from another state of it. */
struct manifest_witness {
    int64_t id, change, written_ms; /* of a memory; all 0: none */
};

/* Changes of the store that are not in it yet, though later ones are: those after `after` up to
 * `until`; both 0: none. */
struct manifest_gap {
    int64_t after, until;
};

struct manifest {
    unsigned char identity[SHA256_SIZE]; /* of what is kept there, as shelf_new() was told */
    int64_t seen;                        /* the last change of the store that is in it */
    struct manifest_gap gap;             /* before that */
    struct manifest_witness witness;
    uint64_t next; /* the number of the next segment */
    size_t count;
    struct manifest_segment segments[LIMIT_INDEX_SEGMENTS];
};

/* OK; ERR_INVALID for anything that manifest_write() does not write. */
MUST_CHECK int manifest_read(const unsigned char *data, size_t length, struct manifest *manifest);
/* Appends it. An error of the buffer. */
MUST_CHECK int manifest_write(const struct manifest *manifest, struct buf *out);

#endif
