/* Searching the web: one query or several, answered by whichever provider can, with the text of the
 * pages that were found. */
#ifndef FORAGE_WEBSEARCH_WEBSEARCH_H
#define FORAGE_WEBSEARCH_WEBSEARCH_H

#include "call/call.h"
#include "text/json.h"
#include "websearch/query.h"

struct upstreams; /* guard/breaker.h */

struct search_request {
    const char *texts[LIMIT_SEARCH_QUERIES];
    size_t text_count;
    bool several;              /* they came as a list: results say which of them found them */
    struct search_query query; /* what they share; its text is not used */
    size_t budget;             /* characters of the whole result */
    bool as_text;              /* pages go out as they are, not inside JSON */
    bool all;                  /* everything visible of the pages, not their main parts alone */
    bool passages;             /* only what answers the queries */
    bool explain;              /* each result says why it stands where it does */
    int64_t until_ms;          /* of the monotonic clock: then it is over; 0: with the call */
    bool links;                /* what was found alone: no page is read */
};

/* The part of the program that searches: which providers rest. NULL without memory. */
struct websearch *websearch_new(struct upstreams *upstreams);
struct websearch *websearch_free(struct websearch *websearch);

/* From arguments that have passed the schema of web_search. OK, or ERR_FAILED after call_fail(). */
MUST_CHECK int search_read_arguments(struct call *call, yyjson_val *arguments,
                                     struct search_request *request);
/* The arguments start_date and end_date, each a day or NULL: not both and `freshness`, which names
 * the argument that wants what is new. OK, or ERR_FAILED after call_fail(). */
MUST_CHECK int search_read_dates(struct call *call, yyjson_val *arguments, const char *freshness,
                                 const char **start, const char **end);
/* OK with the object that web_search answers with; ERR_FAILED after call_fail(); otherwise a status
 * of the call. `provider` is the first that answered or, after a failure, was asked; or NULL. */
MUST_CHECK int search_run(struct call *call, const struct search_request *request,
                          yyjson_mut_doc *doc, yyjson_mut_val **result, const char **provider);
/* OK, or ERR_INVALID with what is wrong about the settings of searching. */
MUST_CHECK int search_check(char *problem, size_t size);
/* Whether there is a provider; what to set when there is none. */
bool search_ready(char *lacks, size_t size);

#endif
