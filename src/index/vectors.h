/* The vectors of the texts of one space: small whole numbers with a scale, so that one of 384
 * numbers takes 384 bytes. A text has a vector for each of its passages, and is as near to a
 * question as its nearest passage. Those that came last are in memory, the others in mapped files
 * (vector_shelving.h), where there are some.
 *
 * Up to LIMIT_VECTORS_EXACT passages all are compared. Beyond that, of those in files, the signs of
 * the numbers, less their mean, find the nearest part, of which each is then compared.
 *
 * Not thread-safe: its owner holds a lock (readers together, a writer alone). */
#ifndef FORAGE_INDEX_VECTORS_H
#define FORAGE_INDEX_VECTORS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- as they are stored ---- */

/* The bytes of a packed vector: its scale as a float of 4 bytes, little-endian, and a signed byte
 * for each number. */
#define VECTORS_PACKED(DIMENSIONS) ((size_t)(DIMENSIONS) + 4)
/* Packs a vector of length 1. */
void vectors_pack(const float *numbers, size_t dimensions, unsigned char *packed);

/* ---- the set ---- */

struct vectors;

struct vectors *vectors_new(void);
struct vectors *vectors_free(struct vectors *vectors);
/* Adds the packed vectors of the passages of a text, or replaces what is there under the id, which
 * is not 0. `mark` tells the text from others that had the id (vectors_keep). All vectors of a set
 * have the same dimensions: those of the first. OK; ERR_INVALID where the bytes are no such
 * vectors; ERR_NOMEM, after which the set may lack the text. */
MUST_CHECK int vectors_put(struct vectors *vectors, int64_t id, uint32_t mark,
                           const unsigned char *packed, size_t length, size_t dimensions);
void vectors_remove(struct vectors *vectors, int64_t id);
/* Removes the text of the id unless it has this mark. */
void vectors_keep(struct vectors *vectors, int64_t id, uint32_t mark);
/* The memory that it takes. */
size_t vectors_bytes(const struct vectors *vectors);
/* Of each vector; 0 while there is none. */
size_t vectors_dimensions(const struct vectors *vectors);

struct vectors_hit {
    int64_t id;
    double cosine; /* -1 to 1 */
};
/* Whether a text may be found. */
typedef bool (*vectors_passes)(const void *context, int64_t id);
/* The `most` texts nearest to a question (as many numbers as the set's vectors have, of length 1)
 * of those that pass, best first, and how many. OK or ERR_NOMEM. */
MUST_CHECK int vectors_search(const struct vectors *vectors, const float *question, size_t most,
                              vectors_passes passes, const void *context, struct vectors_hit *hits,
                              size_t *count);
/* The mean of the cosines of a sample of all texts, most of which have nothing to do with a
 * question: with most models it is far from 0. OK or ERR_NOMEM. */
MUST_CHECK int vectors_usual(const struct vectors *vectors, const float *question, double *usual,
                             size_t *sample);
/* How near each text is; what has no vector gets `none`. OK or ERR_NOMEM. */
MUST_CHECK int vectors_compare(const struct vectors *vectors, const float *question,
                               struct vectors_hit *texts, size_t count, double none);

#endif
