/* A set of vectors and its shelf, as shelving.h is for words: what was kept is mapped, what is new
 * is brought there, and files that hold deleted vectors are written anew without them. The middle
 * one of the three steps of a save needs no lock. */
#ifndef FORAGE_INDEX_VECTOR_SHELVING_H
#define FORAGE_INDEX_VECTOR_SHELVING_H

#include "index/shelf.h"
#include "index/vectors.h"

/* Of the store that a set was made from. */
struct vector_source {
    int64_t seen; /* the last change that is in it */
    struct manifest_witness witness;
    const char *label; /* who made the vectors; NULL: there are none */
};

/* Puts what is on the shelf into a new set; `source` is what it was made from, its label lives as
 * long as the set. OK, also for an empty shelf; ERR_INVALID when it is damaged or of something
 * else: the set is no good then, the shelf is to be reset; ERR_NOMEM; ERR_LIMIT; ERR_IO with errno
 * saying why. */
MUST_CHECK int vector_shelving_load(struct vectors *vectors, struct shelf *shelf,
                                    struct vector_source *source);
/* Whether nothing of what was mapped was found damaged. What a search found is believed only if so,
 * after it. */
bool vector_shelving_sound(const struct vectors *vectors);

/* Texts that are in memory only, with their passages; passages that are gone and still on the
 * shelf. */
struct vector_need {
    uint32_t texts, fresh, dead;
};
struct vector_need vector_shelving_need(const struct vectors *vectors);

struct vector_shelving; /* a save that is under way */

/* With the set's lock and a claim on the shelf. OK with a save; ERR_NOTFOUND: there is nothing to
 * do; ERR_CLOSED: somebody else changed the shelf, so the set has to be loaded anew; ERR_NOMEM.
 * What is on the shelf with another label goes. */
MUST_CHECK int vector_shelving_begin(struct vectors *vectors, struct shelf *shelf,
                                     const struct vector_source *source,
                                     struct vector_shelving **shelving);
/* Without the set's lock. As of shelf_change() and vector_part_write(). */
MUST_CHECK int vector_shelving_write(struct vector_shelving *shelving);
/* With the set's lock, whether it was written or not; the set that it was begun with, or NULL where
 * that is gone. OK; ERR_CLOSED and ERR_NOMEM: the set is no good any more. */
MUST_CHECK int vector_shelving_end(struct vector_shelving *shelving, struct vectors *vectors,
                                   bool written);

#endif
