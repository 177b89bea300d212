/* What a research of our own does outside that costs: it asks a model, and it searches. (It reads
 * too: pages.h.) Each goes into the journal of the call (call/journal.h), failures that decide what
 * comes next included, so that a research whose process was killed goes on without paying twice. */
#ifndef FORAGE_RESEARCH_OWN_OUTSIDE_H
#define FORAGE_RESEARCH_OWN_OUTSIDE_H

#include "model/model.h"
#include "websearch/websearch.h"

/* As model_ask(). */
MUST_CHECK int outside_ask(struct call *call, struct model *model,
                           const struct model_request *request, struct model_reply *reply);
/* As search_run(): the results, an array of `doc`. */
MUST_CHECK int outside_search(struct call *call, struct search_request *request,
                              yyjson_mut_doc *doc, yyjson_mut_val **results);

#endif
