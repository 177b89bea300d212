/* Which proxy the environment asks for. forage chooses it, not libcurl, because it must know
 * whether the address that is connected to is the target's or the proxy's. */
#ifndef FORAGE_NET_FETCH_PROXY_H
#define FORAGE_NET_FETCH_PROXY_H

#include "text/url.h"

/* The proxy for a URL as the usual variables name it, or NULL for a direct connection. */
const char *fetch_proxy(const struct url *url);

#endif
