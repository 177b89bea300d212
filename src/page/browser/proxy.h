/* The filtering proxy: the only way that the browser has to the network. It listens on loopback,
 * looks up every name itself, checks every address and connects to what it has checked, so that a
 * page cannot reach what the reader could not: not by a redirect, a frame, a script, a WebSocket or
 * a name that changes its address.
 *
 * Only the browser may use it. A proxy's user name and password are the one credential that
 * Chromium can be given for a proxy without a prompt; it asks over its pipe when a page is about to
 * be loaded (Fetch.authRequired) and remembers the answer for the page's context. So the secret
 * stands on no command line and in no file. */
#ifndef FORAGE_PAGE_BROWSER_PROXY_H
#define FORAGE_PAGE_BROWSER_PROXY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define PROXY_USER "forage"

struct proxy;

struct proxy_options {
    /* As fetch_request.allow. */
    int (*allow)(void *context, const char *host, const struct sockaddr *address);
    void *context;
};

/* Listens and starts its thread. NULL with the reason in `problem`. */
struct proxy *proxy_start(const struct proxy_options *options, char *problem, size_t size);
uint16_t proxy_port(const struct proxy *proxy);
const char *proxy_password(const struct proxy *proxy);
/* How the X-Forage-Refused header of its own refusals begins; nobody else can know it. */
const char *proxy_mark(const struct proxy *proxy);
/* Closes every tunnel and ends the thread. */
struct proxy *proxy_free(struct proxy *proxy);

#endif
