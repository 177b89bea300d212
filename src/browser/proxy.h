/* The filtering proxy: the only way that the browser has to the network. It listens on loopback,
 * looks up every name itself, checks every address and connects to what it has checked, so that a
 * page cannot reach what the reader could not: not by a redirect, a frame, a script, a WebSocket or
 * a name that changes its address.
 *
 * Only the browser may use it. A proxy's user name and password are the one credential that
 * Chromium can be given for a proxy without a prompt; it asks over its pipe when a page is about to
 * be loaded (Fetch.authRequired) and remembers the answer for the page's context. So the secret
 * stands on no command line and in no file. */
#ifndef FORAGE_BROWSER_PROXY_H
#define FORAGE_BROWSER_PROXY_H

#include "core/buf.h"
#include "core/id.h"
#include "text/slice.h"
#include "text/url.h"

#include <stdint.h>
#include <sys/socket.h>

enum { PROXY_USER_SIZE = 24 };

struct proxy;
struct resolver; /* net/resolve.h */

/* What a page must know of it. The user name is the page's own: the proxy counts the names that a
 * page looks up as that page's, so that one page cannot keep the others from theirs. */
struct proxy_access {
    char user[PROXY_USER_SIZE];
    char password[ID_SECRET_SIZE];
    char mark[ID_SECRET_SIZE]; /* begins the X-Forage-Refused header of its own refusals */
};

/* As fetch_request.allow. */
typedef int proxy_allow(void *context, const char *host, const struct sockaddr *address);

/* Listens and starts its thread. NULL with the reason in `problem`. */
struct proxy *proxy_start(struct resolver *resolver, proxy_allow *allow, void *context,
                          char *problem, size_t size);
uint16_t proxy_port(const struct proxy *proxy);
/* The access of one more page. */
void proxy_admit(struct proxy *proxy, struct proxy_access *access);
/* Closes every tunnel and ends the thread. */
struct proxy *proxy_free(struct proxy *proxy);

/* ---- the heads that pass it (proxy_head.c): pure functions over bytes ---- */

struct proxy_request {
    bool tunnel;              /* CONNECT; otherwise a request of plain HTTP */
    char host[URL_HOST_SIZE]; /* normalised as text/url.h does */
    int port;
    struct slice method;
    struct slice authority; /* as it was written, for the Host header */
    struct slice path;      /* with its query; empty: "/" */
    struct slice headers;   /* all lines, each with its CRLF */
    struct slice authorization;
};

/* Reads the head at the start of `data`. The number of bytes it takes, 0 when it is not complete
 * yet, or minus an HTTP status when it must be refused. Pieces point into `data`. */
int proxy_read_request(const char *data, size_t length, struct proxy_request *request);
/* Appends the head for the server itself: its own path, nothing that was meant for us, one request
 * for each connection. A status. */
int proxy_write_request(struct buf *out, const struct proxy_request *request);
/* Appends the head of a server's answer at the start of `data`, with the word that the connection
 * ends after it: the next request of the browser may be for another host. The number of bytes read;
 * 0 when the head is not complete yet; a negative status when it is no answer of HTTP.
 * `*is_interim` says that another head follows. */
int proxy_write_answer(struct buf *out, const char *data, size_t length, bool *is_interim);

#endif
