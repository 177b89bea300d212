/* Name look-ups that can be abandoned. getaddrinfo() cannot be interrupted, so it runs in a thread
 * of its own; the call waits for an event. A call that ends first leaves the look-up behind: its
 * thread ends by itself and takes its memory along. Look-ups of IP addresses are answered at once.
 */
#ifndef FORAGE_NET_RESOLVE_H
#define FORAGE_NET_RESOLVE_H

#include "call/call.h"
#include "core/limits.h"

#include <stddef.h>
#include <sys/socket.h>

struct resolve_result {
    size_t count;
    struct sockaddr_storage addresses[LIMIT_RESOLVED_ADDRESSES]; /* with the port set */
    const char *problem; /* why there are none; a text that is never freed */
};

/* The addresses of `host` (a name, or an IPv4 or IPv6 address without brackets), in the order in
 * which to try them. OK; ERR_NOTFOUND when the name has none, ERR_IO when nobody could say,
 * ERR_BUSY when too many look-ups are under way, ERR_NOMEM - each with `problem`; or as of
 * call_wait. */
MUST_CHECK int resolve_host(struct call *call, const char *host, int port,
                            struct resolve_result *result);

/* The same in pieces, for whoever waits for other things at the same time. */
struct resolve_query;

/* OK, ERR_BUSY or ERR_NOMEM. */
MUST_CHECK int resolve_start(const char *host, int port, struct resolve_query **query);
/* Readable when the answer is there. Owned by the query. */
int resolve_fd(const struct resolve_query *query);
/* ERR_BUSY while the answer is not there yet; otherwise as of resolve_host. */
MUST_CHECK int resolve_finish(struct resolve_query *query, struct resolve_result *result);
/* At any time: an unfinished look-up is abandoned. */
struct resolve_query *resolve_free(struct resolve_query *query);

#endif
