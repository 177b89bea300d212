/* What web_search answers: the results with their pages, cut to what fits. */
#ifndef FORAGE_WEBSEARCH_DESCRIBE_H
#define FORAGE_WEBSEARCH_DESCRIBE_H

#include "text/json.h"
#include "websearch/merge.h"
#include "websearch/pages.h"
#include "websearch/websearch.h"

struct search_result {
    struct found found[LIMIT_SEARCH_RESULTS];
    size_t count;
    struct pages *pages; /* in the same order */
    struct remarks providers, left_out, warnings;
    int64_t took_ms;
};

/* NULL without memory. Everything in it lives in the arena. The whole object fits the budget of the
 * request, which the pages share fairly. */
yyjson_mut_val *describe_result(struct search_result *result, const struct search_request *request,
                                yyjson_mut_doc *doc, struct arena *arena);

#endif
