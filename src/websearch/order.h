/* A better order for a merged list, without a model: three rules, each of which
 * FORAGE_SEARCH_ORDER switches. Pure. */
#ifndef FORAGE_WEBSEARCH_ORDER_H
#define FORAGE_WEBSEARCH_ORDER_H

#include "websearch/merge.h"

enum order_rule {
    ORDER_VOTES = 1,  /* what several found stands above what one found; without it, a page has the
                         best of its votes */
    ORDER_WORDS = 2,  /* so does what repeats the rare words of the query, in title and snippet */
    ORDER_COPIES = 4, /* what repeats a result above stands behind all others */
};

/* Their names, as FORAGE_SEARCH_ORDER has them, in the order of their bits; NULL ends them. */
extern const char *const ORDER_NAMES[];

struct order {
    unsigned rules;        /* by OR */
    unsigned words_weight; /* what all words of the query add, in hundredths of the best vote */
};

/* Orders the list anew; `texts` are the queries. OK or ERR_NOMEM. */
MUST_CHECK int order_found(struct arena *arena, const char *const *texts, size_t text_count,
                           const struct order *order, struct found *found, size_t count);

#endif
