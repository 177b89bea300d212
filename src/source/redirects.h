/* A request with its redirects, hop by hop, so that every host on the way is held to the same
 * limits: the address policy, the number of transfers at once, and what a request may carry to a
 * stranger. Cookies that a hop sets are there for the next one and forgotten afterwards. */
#ifndef FORAGE_SOURCE_REDIRECTS_H
#define FORAGE_SOURCE_REDIRECTS_H

#include "call/line.h"
#include "net/fetch.h"

/* A status as of fetch_run(). The time and the size in `request` are those of all hops; what
 * answers to a body with a redirect is not followed. Each hop waits its turn in `hosts`, the line
 * of its host and port. `configured` says that the URL is the operator's own: then the policy
 * begins where a redirect leaves its origin. */
MUST_CHECK int redirects_follow(struct call *call, struct line *hosts,
                                const struct fetch_request *request, bool configured,
                                struct fetch_response *response);

#endif
