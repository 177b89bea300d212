/* The file of a model: a header, and behind it the pieces of words and all numbers, in the byte
 * order and at the alignment in which they are used, so that it is mapped and not read.
 * scripts/model-file makes it. Everything is checked before anything is used: the length against
 * what the header says there is, a checksum over all, and each number that is a place or a count.
 *
 * Behind the header, each part begins at a multiple of 64 bytes:
 *   pieces       where each ends (u32), and their bytes
 *   embeddings   int8, a row for each piece; positions: float, a row for each place in a text
 *   a norm       gains and biases
 *   layers       each: attention, output, norm, up, down, norm
 *   a matrix     weights as in meaning/kernels.h, scales, biases, sums */
#ifndef FORAGE_MEANING_MODEL_FILE_H
#define FORAGE_MEANING_MODEL_FILE_H

#include "core/limits.h"
#include "core/status.h"
#include "meaning/kernels.h"
#include "meaning/model.h"

#include <stddef.h>
#include <stdint.h>

struct model_header {
    char magic[16];
    uint64_t length;
    uint64_t checksum; /* of what follows */
    uint32_t version, layers, width, heads, inner, pieces, piece_bytes, positions;
    float embedding_scale;
    uint32_t unused;
    char query[32], passage[32]; /* what is put before a text of each side */
    char name[MODEL_NAME_SIZE], licence[64], source[256];
};

struct model_layer {
    struct kernel_matrix attention, output, up, down;
    struct kernel_norm first, last;
};

struct model_file {
    struct model_header header; /* a copy: what was checked cannot change */
    const uint32_t *piece_ends;
    const char *piece_bytes;
    const int8_t *embeddings;
    const float *positions;
    struct kernel_norm norm;
    struct model_layer layers[LIMIT_MODEL_LAYERS];
};

/* Takes a file apart that is in memory, at an address that is a multiple of 8. OK, or ERR_INVALID
 * and `problem` says why. */
MUST_CHECK int model_file_read(const void *data, size_t size, struct model_file *file,
                               const char **problem);

/* Whether a header begins a file of this version, and what is text in it ends. */
bool model_file_is_one(const struct model_header *header);

/* The checksum that belongs into the header of a file that is longer than a header. */
uint64_t model_file_checksum(const void *data, size_t size);

#endif
