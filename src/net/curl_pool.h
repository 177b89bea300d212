/* A pool of warm curl multis. A multi keeps connections, TLS sessions and the certificates it has
 * read, so the next call that gets it starts faster; one call at a time uses a multi, so nothing in
 * it is shared between threads. Cookies do not survive: they belong to one call. */
#ifndef FORAGE_NET_CURL_POOL_H
#define FORAGE_NET_CURL_POOL_H

#include "net/curl_api.h"

#include <stdint.h>

struct curl_lane {
    const struct curl_api *api;
    CURLM *multi;
    CURLSH *share; /* cookies and TLS sessions */
    int64_t idle_since_ms;
    struct curl_lane *next;
};

/* A warm one or a new one; NULL without memory. */
struct curl_lane *curl_pool_lend(const struct curl_api *api);
/* Every easy handle must have been removed and cleaned up. Accepts NULL; returns NULL. */
struct curl_lane *curl_pool_give_back(struct curl_lane *lane);
/* Closes its connections instead, the same way. */
struct curl_lane *curl_pool_discard(struct curl_lane *lane);
/* Closes what is idle. */
void curl_pool_empty(void);

#endif
