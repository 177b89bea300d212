/* One hop of a fetch: a request that is on its way to one server. For fetch.c only, which decides
 * what to fetch and when; here is how libcurl is told, and what it says. */
#ifndef FORAGE_NET_FETCH_TRANSFER_H
#define FORAGE_NET_FETCH_TRANSFER_H

#include "core/buf.h"
#include "net/curl_pool.h"
#include "net/fetch.h"
#include "net/resolve.h"
#include "text/url.h"

/* A fetch from its first hop to its last. It lives in the call's arena; what a hop needs beyond
 * that is given back by fetch_transfer_stop. */
struct fetch_transfer {
    const struct fetch_request *request;
    struct arena *arena;
    struct fetch_response response;
    struct fetch_transfer *next; /* in the list that it is in */
    int64_t deadline_ms;         /* INT64_MAX: only the call's */
    size_t max_body_bytes;
    int max_redirects;

    /* what redirects change */
    struct url url;
    const char *method; /* NULL: GET */
    bool without_body;
    bool without_credentials;

    /* the hop under way */
    const char *proxy;
    struct resolve_query *query; /* while the name is looked up */
    CURL *easy;                  /* while the transfer runs */
    struct curl_slist *headers;
    struct curl_slist *pins;
    char curl_error[CURL_ERROR_SIZE];

    /* what has come */
    struct fetch_header *received;
    size_t received_room;
    size_t head_bytes;
    bool redirecting; /* the head says so: the body does not matter */
    struct buf body;
    size_t body_bytes;          /* also of a body that is not collected */
    enum fetch_failure verdict; /* why a callback ended the transfer */
};

/* Forgets what the last hop brought. */
void fetch_transfer_forget(struct fetch_transfer *transfer);
/* Hands the hop to the lane's multi; `resolved` are the addresses to pin, NULL to pin none. OK or
 * ERR_NOMEM. */
int fetch_transfer_start(struct fetch_transfer *transfer, struct curl_lane *lane,
                         const struct resolve_result *resolved);
/* Ends the hop, finished or not, and closes what it has open. The body stays. */
void fetch_transfer_stop(struct fetch_transfer *transfer, struct curl_lane *lane);
/* What libcurl's last word means; `error` becomes words for a person. */
enum fetch_failure fetch_transfer_verdict(struct fetch_transfer *transfer, CURLcode code,
                                          const char **error);
/* Whether the policy lets the transfer connect to the address. */
bool fetch_transfer_allows(const struct fetch_transfer *transfer, const struct sockaddr *address);

#endif
