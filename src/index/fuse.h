/* Joins what words found and what vectors found into one ranking: the weighted sum of the two
 * scores, each as a share of the best that there is or could be. */
#ifndef FORAGE_INDEX_FUSE_H
#define FORAGE_INDEX_FUSE_H

#include "index/index.h"
#include "index/vectors.h"

/* How many hits of each side are looked at, where less are wanted. */
#define FUSE_CANDIDATES 300u

/* `found` is what words found, from its first hit on, and becomes the joint ranking; `total` grows
 * by what only vectors found. `question` has the set's dimensions. OK or ERR_NOMEM. */
MUST_CHECK int fuse_hits(struct arena *arena, const struct vectors *vectors, const float *question,
                         vectors_passes passes, const void *context, struct index_found *found);

#endif
