/* The vectors of a space: which embedding they are of, how far they follow the store, and the shelf
 * that keeps them between processes. A part of the space's entry in indexes.h, under its lock. */
#ifndef FORAGE_MEMORY_SPACE_VECTORS_H
#define FORAGE_MEMORY_SPACE_VECTORS_H

#include "index/vector_shelving.h"
#include "index/vectors.h"
#include "memory/embeddings.h"

#include <stdatomic.h>

/* Zeroed is empty. */
struct space_vectors {
    struct vectors *set; /* NULL: none */
    char *label;         /* in their files: the embedding, and the model behind a space */
    const char *model;   /* that made them */
    int64_t embedding;
    int64_t seen;                    /* the last change whose vectors are in it */
    int64_t rows;                    /* the last change of memories that it knows of */
    struct manifest_witness witness; /* for its files */
    struct shelf *shelf;             /* NULL: they are in memory only */
    bool replaces;                   /* what is on it, which is of another embedding */
    uint64_t made;                   /* how often a set was */
    uint32_t patience;               /* fresh passages, more than which go to files at once */
    atomic_bool is_damaged;          /* what is on the shelf, as somebody saw who read it */
};

/* Begins again with what is kept, or with nothing. */
void space_vectors_clear(struct space_vectors *vectors);
/* Frees everything. */
void space_vectors_done(struct space_vectors *vectors);
size_t space_vectors_bytes(const struct space_vectors *vectors);
/* Whether it has everything of the embedding up to a change. */
bool space_vectors_follow(const struct space_vectors *vectors, const struct embedding *wanted,
                          int64_t change);
/* A memory as it is now: vectors of another text go. */
void space_vectors_row(struct space_vectors *vectors, const struct store_row *row);
void space_vectors_removed(struct space_vectors *vectors, int64_t id);
/* It was told of all rows and removals of these changes. */
void space_vectors_walked(struct space_vectors *vectors, int64_t after, int64_t until);
/* Takes some more of the embedding's vectors, of another one from the beginning: from its files,
 * then from the store. To be called until it follows up to the space's last change. After ERR_NOMEM
 * it must be cleared. */
MUST_CHECK int space_vectors_catch_up(struct space_vectors *vectors, struct db *db,
                                      const struct store_space *space,
                                      const struct embedding *wanted);

/* Whether what was read from it can be believed; if not, its files are thrown away when it is next
 * begun again. */
bool space_vectors_sound(struct space_vectors *vectors);
/* Whether its files hold vectors that are none of it any more. */
bool space_vectors_dead(const struct space_vectors *vectors);
/* Whether saving is worth it: what was deleted leaves the disk in any case. */
bool space_vectors_worth(const struct space_vectors *vectors);
/* As of vector_shelving_begin(). */
MUST_CHECK int space_vectors_begin(struct space_vectors *vectors,
                                   struct vector_shelving **shelving);
/* The model of the vectors on a shelf, in the arena; NULL: there are none. */
const char *space_vectors_model(struct shelf *shelf, struct arena *arena);

#endif
