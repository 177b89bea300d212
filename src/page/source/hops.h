/* A fetch with its redirects, hop by hop, so that every host on the way is held to the same limits:
 * the address policy, the number of transfers at once, and what a request may carry to a stranger.
 * Cookies that a hop sets are there for the next one and forgotten afterwards. */
#ifndef FORAGE_PAGE_SOURCE_HOPS_H
#define FORAGE_PAGE_SOURCE_HOPS_H

#include "call/line.h"
#include "net/fetch.h"
#include "text/url.h"

struct hops_request {
    struct url url;
    const struct fetch_header *headers;
    size_t header_count;
    const char *body; /* NULL: GET. What answers to a body with a redirect is not followed. */
    size_t body_length;
    size_t max_bytes;
    bool configured; /* the operator's own address: the policy begins where a redirect leaves it */
    int64_t timeout_ms; /* for all hops */
};

/* A status as of fetch_run(). `hosts` is the line in front of each host and port. */
int hops_run(struct call *call, struct line *hosts, const struct hops_request *request,
             struct fetch_response *response);

#endif
