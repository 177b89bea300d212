/* What came of one request to a provider: answered, failed for now, blocked, wrong. Pure. */
#ifndef FORAGE_WEBSEARCH_JUDGE_H
#define FORAGE_WEBSEARCH_JUDGE_H

#include "websearch/provider.h"

#include <stdint.h>

enum route_outcome {
    ROUTE_ANSWERED,
    ROUTE_NETWORK,
    ROUTE_CUT_OFF, /* its answer began, and did not end */
    ROUTE_TIMEOUT,
    ROUTE_RATE_LIMITED, /* too many requests */
    ROUTE_OUT_OF_QUOTA, /* paid for no more */
    ROUTE_SERVER_ERROR,
    ROUTE_UNREADABLE, /* not the answer that it should be */
    ROUTE_BLOCKED,    /* an open source that shows something else than results */
    ROUTE_REFUSED,    /* the search itself */
    ROUTE_NO_ACCESS,  /* the key */
    ROUTE_NO_JSON,    /* SearXNG's settings */
    ROUTE_MISSING,    /* nothing at this address: its variable is wrong */
    ROUTE_NO_REQUEST, /* the address cannot be asked at all */
    ROUTE_OUTCOMES
};

/* What follows from an outcome. */
struct route_rule {
    bool transient;    /* it is likely to pass: the next provider is tried */
    bool again;        /* after a wait this one is too, when nobody else could help */
    const char *code;  /* of the error, where nobody could help */
    const char *words; /* in an error; %V is the variable to look at */
};

extern const struct route_rule ROUTE_RULES[ROUTE_OUTCOMES];

struct route_verdict {
    enum route_outcome outcome;
    bool transient;  /* the next provider is tried */
    int64_t wait_ms; /* that the provider asks for; negative: it does not */
    int64_t rest_ms; /* for which an open source is left alone; 0: not for this alone */
};

struct route_verdict route_judge(const struct provider *provider,
                                 const struct fetch_response *response);
/* The same of an answer that could not be read, or that holds no results: whether something stands
 * before them. */
struct route_verdict route_judge_empty(const struct provider *provider,
                                       const struct fetch_response *response, bool readable);

#endif
