/* The vectors of a space in memory: which embedding they are of, and how far they follow the store.
 * A part of the space's entry in indexes.h, under its lock. */
#ifndef FORAGE_MEMORY_SPACE_VECTORS_H
#define FORAGE_MEMORY_SPACE_VECTORS_H

#include "index/vectors.h"
#include "memory/embeddings.h"

/* Zeroed is empty. */
struct space_vectors {
    struct vectors *set; /* NULL: none */
    char *model;         /* that made them */
    int64_t embedding;
    int64_t seen; /* the last change that is in it */
};

void space_vectors_clear(struct space_vectors *vectors);
size_t space_vectors_bytes(const struct space_vectors *vectors);
/* Whether it has everything of the embedding up to a change. */
bool space_vectors_follow(const struct space_vectors *vectors, const struct embedding *wanted,
                          int64_t change);
/* A memory as it is now: vectors of another text go. */
void space_vectors_row(struct space_vectors *vectors, const struct store_row *row);
void space_vectors_removed(struct space_vectors *vectors, int64_t id);
/* Takes some more of the embedding's vectors, of another one from the beginning; to be called until
 * it follows up to the change. After ERR_NOMEM it must be cleared. */
MUST_CHECK int space_vectors_catch_up(struct space_vectors *vectors, struct db *db,
                                      const struct embedding *wanted, int64_t change);

#endif
