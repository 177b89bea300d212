/* One list of what several providers found, for one query or several: reciprocal rank fusion. Each
 * ranking gives what it holds a vote of 1 / (60 + rank), and the sum of its votes decides where a
 * page stands. Rankings that show the results of one index have one vote together. Pure. */
#ifndef FORAGE_WEBSEARCH_MERGE_H
#define FORAGE_WEBSEARCH_MERGE_H

#include "websearch/provider.h"

#include <stdint.h>

#define MERGE_DEPTH 20 /* of each ranking, what votes */
#define MERGE_UNIT                                                                                 \
    INT64_C(1000000000000) /* votes are whole parts of it, so that sums are exact                  \
                            */
#define MERGE_VOTE(rank) (MERGE_UNIT / (60 + (rank)))

/* One answer. */
struct ranking {
    const struct hits *hits; /* NULL: there is none */
    const char *source;      /* the name of its provider */
    const char *index;       /* whose results they are, in truth */
    size_t query;            /* that it answers */
};

struct found {
    struct hit hit; /* the best of all that rankings say of it */
    const char *canonical;
    unsigned queries;                           /* a bit for each that found it */
    unsigned char ranks[LIMIT_SEARCH_RANKINGS]; /* in each ranking, from 1; 0: it is not there */
    unsigned votes;                             /* how many */
    unsigned best_rank;
    int64_t fused;      /* their sum */
    int64_t words;      /* what its words add to it (order.h) */
    const char *copies; /* the link of a result above that it repeats; or NULL */
    int64_t score;      /* by which the list is ordered */
};

/* Best first, each page once; ties go to more votes, then to the better best rank, then to the
 * address. OK with the list in the arena, or ERR_NOMEM. */
MUST_CHECK int merge_rankings(struct arena *arena, const struct ranking *rankings, size_t count,
                              struct found **found, size_t *found_count);
/* By their scores, in the same way. */
void merge_sort(struct found *found, size_t count);

#endif
