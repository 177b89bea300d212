/* The answers to several queries as one list: best first, each page once. */
#ifndef FORAGE_WEBSEARCH_MERGE_H
#define FORAGE_WEBSEARCH_MERGE_H

#include "websearch/provider.h"

struct found {
    struct hit hit;
    unsigned found_by; /* a bit for each answer */
};

/* The first of each answer, then the second of each, and so on; at most `most`. OK with the number
 * in `count`, or ERR_NOMEM. An answer may be NULL: it failed. */
int merge_hits(struct arena *arena, const struct hits *const *answers, size_t answer_count,
               struct found *found, size_t most, size_t *count);

#endif
