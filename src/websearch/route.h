/* One search, by whichever provider answers: the first that is configured, and the next after a
 * failure that is likely to pass. What counts as such is a table in route.c. */
#ifndef FORAGE_WEBSEARCH_ROUTE_H
#define FORAGE_WEBSEARCH_ROUTE_H

#include "call/call.h"
#include "guard/breaker.h"
#include "websearch/provider.h"

struct route_answer {
    const struct provider *provider; /* who answered */
    struct hits hits;                /* in the call's arena */
    struct remarks left_out;         /* of what was asked for */
    struct remarks warnings;         /* providers that failed before */
};

/* OK, an empty answer included; ERR_FAILED after call_fail(); ERR_CANCELLED, ERR_DEADLINE.
 * All of it is over by `deadline_ms` of the monotonic clock, tries and waits included. */
MUST_CHECK int route_search(struct call *call, struct breakers *breakers,
                            const struct search_query *query, int64_t deadline_ms,
                            struct route_answer *answer);

/* ---- one request and what came of it, for the doctor too ---- */

enum route_outcome {
    ROUTE_ANSWERED,
    ROUTE_NETWORK,
    ROUTE_TIMEOUT,
    ROUTE_RATE_LIMITED, /* too many requests */
    ROUTE_OUT_OF_QUOTA, /* paid for no more */
    ROUTE_SERVER_ERROR,
    ROUTE_UNREADABLE, /* not the answer that it should be */
    ROUTE_REFUSED,    /* the search itself */
    ROUTE_NO_ACCESS,  /* the key */
    ROUTE_NO_JSON,    /* SearXNG's settings */
    ROUTE_MISSING,    /* nothing at this address: its variable is wrong */
    ROUTE_NO_REQUEST, /* the address cannot be asked at all */
};

struct route_verdict {
    enum route_outcome outcome;
    bool transient;  /* the next provider is tried */
    int64_t wait_ms; /* that the provider asks for; negative: it does not */
};

struct route_verdict route_judge(const struct provider *provider,
                                 const struct fetch_response *response);
/* Makes the request for a query, with the address and the key of the configuration. OK or
 * ERR_NOMEM. */
MUST_CHECK int route_request(const struct provider *provider, struct arena *arena,
                             const struct search_query *query, struct provider_request *request);

#endif
