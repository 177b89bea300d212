/* Fetching over HTTP: one request, one answer. Everything waits through the call, so a cancelled
 * call is over at once, wherever its transfer is, and its socket is closed.
 *
 * Names are resolved by forage itself. Where a request carries a policy, it is asked about every
 * address before anything is connected to, the connection is pinned to what was checked, and it is
 * asked once more about the address that really is connected to, also on connections that are used
 * again. Redirects are answers like any other: source/redirects.h follows them.
 *
 * The usual proxy variables hold (http_proxy, https_proxy, all_proxy, no_proxy). Where there is a
 * policy the target is still resolved and checked first, and the proxy is asked for a tunnel to an
 * address that was checked, not for the name, which it could find somewhere else. Where the
 * operator wants it to get names (net_sends_names), what we find is checked, and what the proxy
 * finds is its own affair. The proxy itself is the operator's choice and exempt. CURL_CA_BUNDLE or
 * SSL_CERT_FILE name certificates other than the system's.
 *
 * SIGPIPE must be ignored or blocked in the threads that fetch. */
#ifndef FORAGE_NET_FETCH_H
#define FORAGE_NET_FETCH_H

#include "call/call.h"
#include "text/url.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct lane; /* net/lanes.h */

struct fetch_header {
    const char *name;
    const char *value;
    bool secret; /* in a request: for its own origin only, as Authorization and Cookie always are */
};

/* What is not given (0 or NULL) has a default. */
struct fetch_request {
    const struct url *url;
    const struct fetch_header *headers;
    size_t header_count;
    const void *body; /* NULL: GET; otherwise POST */
    size_t body_length;
    size_t max_body_bytes; /* of the response, decompressed; LIMIT_FETCH_BODY_BYTES */
    int64_t timeout_ms;    /* of its own; the call's deadline holds in any case */
    bool timeout_of_all;   /* pieces that are taken do not renew it */
    int64_t until_ms;      /* of the monotonic clock: then it times out in any case; 0: never */
    /* OK when `host` may be reached at `address`. Without it every address is allowed: for
     * upstreams that the operator configured. */
    int (*allow)(void *context, const char *host, const struct sockaddr *address);
    void *allow_context;
    /* Gets the body of an answer with status 200 as it comes; the response has none then, and that
     * of an answer with another status has its first LIMIT_REPLY_ERROR_BYTES. False: nothing more
     * is wanted, and the answer counts as complete. timeout_ms begins anew with every piece, unless
     * timeout_of_all: a stream may take long as long as it flows. */
    bool (*take)(void *context, const char *data, size_t length);
    void *take_context;
    const char *upstream; /* the service that it is, in a word, for the log; NULL: a page */
    bool direct;          /* never through a proxy: a server of this machine */
    struct lane *lane; /* whose connections and cookies it shares with other requests of its call,
                          one after another; NULL: it has no cookies */
};

enum fetch_failure {
    FETCH_OK,          /* there is a response, whatever its status */
    FETCH_BAD_REQUEST, /* the URL or a header */
    FETCH_FORBIDDEN,   /* the policy refused an address */
    FETCH_NO_NAME,     /* the host does not exist */
    FETCH_NAME_ERROR,  /* nobody could say whether it does */
    FETCH_CONNECT,     /* nobody answers there */
    FETCH_PROXY,       /* the proxy does not connect to the address that was checked */
    FETCH_TLS,         /* no secure connection; the certificate */
    FETCH_TIMEOUT,
    FETCH_BROKEN,      /* reset, cut off or not HTTP */
    FETCH_TOO_LARGE,   /* more than max_body_bytes, or an endless head */
    FETCH_REDIRECTS,   /* too many, or one that leads nowhere */
    FETCH_BUSY,        /* too many look-ups at once */
    FETCH_UNAVAILABLE, /* libcurl is missing */
    FETCH_NOMEM,
};

/* Everything in it lives in the call's arena. */
struct fetch_response {
    enum fetch_failure failure;
    const char *error;        /* words for a person, NULL with FETCH_OK */
    bool sent;                /* a connection was there, and the request went out on it */
    int status;               /* 0: there was none */
    const char *url;          /* where it came from, after redirects */
    int redirects;            /* that were followed */
    const char *content_type; /* NULL: not said */
    const struct fetch_header *headers;
    size_t header_count;
    const char *body; /* NUL-terminated, never NULL; with a failure, what came before it */
    size_t body_length;
};

/* OK with a response; ERR_FAILED when `failure` says why there is none; ERR_CANCELLED or
 * ERR_DEADLINE (which is the call's: a request's own timeout is FETCH_TIMEOUT). */
MUST_CHECK int fetch_run(struct call *call, const struct fetch_request *request,
                         struct fetch_response *response);
/* Parses an address for a request. OK, or ERR_FAILED with a response that says what is wrong with
 * it. */
MUST_CHECK int fetch_parse(struct call *call, const char *text, struct url *url,
                           struct fetch_response *response);
/* The value of the first header of that name, in any case of letters, or NULL. */
const char *fetch_header_value(const struct fetch_response *response, const char *name);

#endif
