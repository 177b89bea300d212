/* Lanes: warm curl multis. A lane has open connections, TLS sessions and the certificates it has
 * read, so the next call that gets it starts faster. One call at a time uses a lane, so nothing in
 * it is shared between threads. Cookies belong to whoever has the lane and are forgotten when it is
 * returned. */
#ifndef FORAGE_NET_LANES_H
#define FORAGE_NET_LANES_H

#include "call/call.h"
#include "net/curl_api.h"

/* The idle lanes of one program. */
struct net;

/* `names_to_proxy`: a proxy gets the names of pages, and looks them up again itself; otherwise it
 * gets an address that was checked. */
struct net *net_new(bool names_to_proxy);
struct net *net_free(struct net *net);
/* False where `net` is NULL. */
bool net_sends_names(const struct net *net);

struct lane {
    struct net *net; /* where it goes when it is returned; NULL: it is closed */
    const struct curl_api *api;
    CURLM *multi;
    CURLSH *share; /* cookies and TLS sessions */
    bool broken;   /* set by its user: to be closed when it is returned */
    int64_t idle_since_ms;
    struct lane *next;
};

/* An idle lane of the call's program, or a new one; NULL with `problem` (never freed) when libcurl
 * is missing or there is no memory. */
struct lane *lane_lend(struct call *call, const char **problem);
/* Every easy handle must have been removed and cleaned up. Accepts NULL. */
void lane_return(struct lane *lane);

#endif
