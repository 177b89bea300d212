/* Fetching over HTTP: one request, or many side by side. Everything waits through the call, so a
 * cancelled call is over at once, wherever its transfers are, and their sockets are closed.
 *
 * Names are resolved by forage itself. Where a request carries a policy, it is asked about every
 * address of every hop before anything is connected to, the connection is pinned to what was
 * checked, and it is asked once more about the address that really is connected to, also on
 * connections that are used again. Redirects are followed here: http and https only, credentials
 * stay with the origin they were given for. Cookies that a server sets live as long as the batch.
 *
 * The usual proxy variables hold (http_proxy, https_proxy, all_proxy, no_proxy). Through a proxy
 * the target is still resolved and checked first where there is a policy; the proxy itself is the
 * operator's choice and exempt. CURL_CA_BUNDLE or SSL_CERT_FILE name certificates other than the
 * system's.
 *
 * SIGPIPE must be ignored or blocked in the threads that fetch. */
#ifndef FORAGE_NET_FETCH_H
#define FORAGE_NET_FETCH_H

#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct fetch_header {
    const char *name;
    const char *value;
    bool secret; /* in a request: dropped when a redirect leaves the origin, as Authorization and
                    Cookie always are */
};

#define FETCH_NO_REDIRECTS (-1)
#define FETCH_MOST_AT_ONCE 32 /* unfinished requests of a batch */

/* What is not given (0 or NULL) has a default. Everything that a request points to must live until
 * it is finished. */
struct fetch_request {
    const char *url;
    const char *method; /* GET, or POST where there is a body */
    const struct fetch_header *headers;
    size_t header_count;
    const void *body;
    size_t body_length;
    size_t max_body_bytes; /* of the response, decompressed; LIMIT_FETCH_BODY_BYTES */
    int max_redirects;     /* LIMIT_FETCH_REDIRECTS, or FETCH_NO_REDIRECTS */
    int64_t timeout_ms;    /* of its own, hops included; the call's deadline holds in any case */
    /* OK when `host` may be reached at `address`. Without it every address is allowed: for
     * upstreams that the operator configured. */
    int (*allow)(void *context, const char *host, const struct sockaddr *address);
    void *allow_context;
    /* Takes the body of a successful (2xx) response as it comes, instead of its being collected;
     * anything but OK ends the transfer. */
    int (*on_body)(void *context, const char *data, size_t length);
    void *on_body_context;
    void *label; /* comes back with the response */
};

enum fetch_failure {
    FETCH_OK,          /* there is a response, whatever its status */
    FETCH_BAD_REQUEST, /* the URL, the method or a header */
    FETCH_FORBIDDEN,   /* the policy refused an address */
    FETCH_NO_NAME,     /* the host does not exist */
    FETCH_NAME_ERROR,  /* nobody could say whether it does */
    FETCH_CONNECT,     /* nobody answers there */
    FETCH_TLS,         /* no secure connection; the certificate */
    FETCH_TIMEOUT,
    FETCH_BROKEN,      /* reset, cut off or not HTTP */
    FETCH_TOO_LARGE,   /* more than max_body_bytes, or an endless head */
    FETCH_REDIRECTS,   /* too many, or one that leads nowhere */
    FETCH_STOPPED,     /* on_body wanted no more */
    FETCH_BUSY,        /* too many look-ups at once */
    FETCH_UNAVAILABLE, /* libcurl is missing */
    FETCH_NOMEM,
};

/* Everything in it lives in the call's arena. */
struct fetch_response {
    enum fetch_failure failure;
    const char *error; /* words for a person, NULL with FETCH_OK */
    int status;        /* 0: there was none */
    const char *url;   /* where it came from, after redirects */
    int redirects;
    const char *content_type; /* NULL: not said */
    const struct fetch_header *headers;
    size_t header_count;
    const char *body; /* NUL-terminated, never NULL; with a failure, what came before it */
    size_t body_length;
    void *label;
};

/* OK with a response; ERR_FAILED when `failure` says why there is none; ERR_CANCELLED or
 * ERR_DEADLINE (which is the call's: a request's own timeout is FETCH_TIMEOUT). */
int fetch_run(struct call *call, const struct fetch_request *request,
              struct fetch_response *response);
/* The value of the first header of that name, in any case of letters, or NULL. */
const char *fetch_header_value(const struct fetch_response *response, const char *name);
/* "TIMEOUT", "TLS", ... for logs and tests. */
const char *fetch_failure_name(enum fetch_failure failure);

/* ---- side by side ---- */

struct fetch_batch;

/* NULL without memory. */
struct fetch_batch *fetch_batch_new(struct call *call);
/* Starts a request, at any time. OK, ERR_LIMIT beyond FETCH_MOST_AT_ONCE, ERR_NOMEM; what is wrong
 * with the request itself comes as its response. */
int fetch_batch_add(struct fetch_batch *batch, const struct fetch_request *request);
/* Waits for the next response, in the order in which they are finished. OK; ERR_NOTFOUND when there
 * is nothing left to wait for; ERR_CANCELLED or ERR_DEADLINE, after which nothing is under way any
 * more. */
int fetch_batch_next(struct fetch_batch *batch, struct fetch_response *response);
/* Ends what is unfinished. */
struct fetch_batch *fetch_batch_free(struct fetch_batch *batch);

/* Closes idle connections; for the end of the program. */
void fetch_shutdown(void);

#endif
