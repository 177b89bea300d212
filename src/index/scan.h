/* Scanning a view for the documents that hold the words of a question. Where only the best are
 * asked for, what cannot be among them is not looked at: the score of each is the same, and so are
 * the best. */
#ifndef FORAGE_INDEX_SCAN_H
#define FORAGE_INDEX_SCAN_H

#include "index/filter.h"
#include "index/question.h"

struct scan_hit {
    uint32_t part, document;
    int64_t id;
    float score;               /* by its own words, at first */
    float covered;             /* the share of the question's weight that it holds */
    float own, given, session; /* of the score: by its words, from neighbours and its session */
};

/* The best that were found, in no order. */
struct scan_hits {
    struct scan_hit *items;
    uint32_t count, capacity;
    uint32_t most; /* 0: all of them */
};

struct scan {
    const struct view *view;
    const struct index_sieve *filter;
    const struct question *question;
    const double *weights; /* of the question's words */
    struct score_manner manner;
    struct scan_hits passing;
    struct scan_hits others; /* that the filter keeps out; for the sake of their neighbours */
    bool with_others;
    bool only_best; /* what cannot be among the kept need not be looked at */
    size_t passed;  /* documents that the filter let through, of those that were looked at */
};

/* OK, ERR_NOMEM. The caller frees the items of hits. */
int scan_run(struct scan *scan);
/* Adds a hit, in the place of the worst where there are as many as may be. OK, ERR_NOMEM. */
int scan_keep(struct scan_hits *hits, const struct scan_hit *hit);
/* The hits in their order, the better, then the newer, with how likely each is the answer; `first`
 * is the id that was asked for by its key, or 0. NULL without memory. */
struct index_hit *scan_answer(struct scan_hits *hits, struct arena *arena, int64_t first);

#endif
