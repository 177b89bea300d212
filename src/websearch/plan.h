/* Whom a search asks, in which order, and how many of them at once: FORAGE_SEARCH_PROVIDERS and
 * FORAGE_SEARCH_MERGE, read for one query; and the order of what they found. */
#ifndef FORAGE_WEBSEARCH_PLAN_H
#define FORAGE_WEBSEARCH_PLAN_H

#include "websearch/order.h"
#include "websearch/provider.h"

struct plan {
    struct {
        const struct provider *provider;
        enum search_type type; /* what it is asked for */
    } items[LIMIT_SEARCH_PROVIDERS];
    size_t count;
    size_t merge; /* that are asked side by side */
    /* Open sources that insist on FORAGE_CONTACT, where it is not set. */
    const struct provider *unheard[LIMIT_SEARCH_PROVIDERS];
    size_t unheard_count;
};

/* Unknown names are passed over: plan_check() refuses them when the program starts. */
void plan_make(struct plan *plan, const struct search_query *query);
/* How many are asked side by side. */
size_t plan_merge(void);
/* OK, or ERR_INVALID with what is wrong about the settings. */
MUST_CHECK int plan_check(char *problem, size_t size);
/* How what several providers found is ordered. */
struct order plan_order(void);

#endif
