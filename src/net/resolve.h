/* Name look-ups that can be abandoned, at no cost to others.
 *
 * c-ares asks the name servers of /etc/resolv.conf, after /etc/hosts, without a thread: a look-up
 * is a few sockets that belong to whoever waits for it, and it is gone with all of them when it is
 * freed. Each has a channel of its own, so a changed resolv.conf counts at once, and no other
 * look-up shares its sockets. What the system may know from elsewhere (mDNS, LDAP, containers), and
 * every name where c-ares is missing, the system is asked in threads (net/system_names.h).
 *
 * Look-ups are a stock (core/stock.h): a caller, or a page that the browser renders, has its share,
 * and some are kept for the upstreams that the operator configured. IP addresses are answered at
 * once and take nothing. */
#ifndef FORAGE_NET_RESOLVE_H
#define FORAGE_NET_RESOLVE_H

#include "call/call.h"
#include "core/limits.h"
#include "core/stock.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* What the look-ups of one program share. */
struct resolver;

/* `servers`: the name servers to ask in place of the system's, as "192.0.2.53,[2001:db8::53]:5353";
 * NULL: the system's. NULL with the reason in `problem` when it is no such list, or without memory.
 */
struct resolver *resolver_new(struct stocks *stocks, const char *servers, char *problem,
                              size_t size);
/* Every query must have been freed. */
struct resolver *resolver_free(struct resolver *resolver);

struct resolve_question {
    struct resolver *resolver; /* NULL: the system's servers, and nothing is counted */
    const char *owner;         /* whose share it takes; NULL: forage's own */
    bool from_kept;            /* for an upstream that the operator configured */
    const char *host;          /* a name, or an IPv4 or IPv6 address without brackets */
    int port;
};

struct resolve_result {
    size_t count;
    struct sockaddr_storage addresses[LIMIT_RESOLVED_ADDRESSES]; /* with the port set */
    const char *problem; /* why there are none; a text that is never freed */
};

/* The addresses of a host that the operator configured, in the order in which to try them. OK;
 * ERR_NOTFOUND when the name has none, ERR_IO when nobody could say, ERR_BUSY or ERR_LIMIT when too
 * many look-ups are under way, ERR_NOMEM - each with `problem`; or as of call_wait. */
MUST_CHECK int resolve_host(struct call *call, const char *host, int port,
                            struct resolve_result *result);

/* The same in pieces, for whoever waits for other things at the same time. One thread uses a query.
 */
struct resolve_query;

/* OK; ERR_BUSY, ERR_LIMIT or ERR_NOMEM, of which resolve_refusal() has the words. */
MUST_CHECK int resolve_start(const struct resolve_question *question, struct resolve_query **query);
const char *resolve_refusal(int status);
/* Readable when there is something to do: call resolve_finish(). Owned by the query; -1 when the
 * answer is there. */
int resolve_fd(const struct resolve_query *query);
/* ERR_BUSY while the answer is not there yet; otherwise as of resolve_host. */
MUST_CHECK int resolve_finish(struct resolve_query *query, struct resolve_result *result);
/* At any time: an unfinished look-up is abandoned, and what it took is free again. */
struct resolve_query *resolve_free(struct resolve_query *query);

/* Adds an address while there is room, and if it is one of IPv4 or IPv6. */
void resolve_add(struct resolve_result *result, const struct sockaddr *address, size_t length,
                 int port);

#endif
