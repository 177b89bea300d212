/* The heads that pass the filtering proxy: what the browser asks for, and how a request and its
 * answer are handed on. Pure functions over bytes. */
#ifndef FORAGE_PAGE_BROWSER_PROXY_HEAD_H
#define FORAGE_PAGE_BROWSER_PROXY_HEAD_H

#include "core/buf.h"
#include "text/slice.h"
#include "text/url.h"

#include <stdbool.h>
#include <stddef.h>

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
 * `*is_interim` tells that another head follows. */
int proxy_write_answer(struct buf *out, const char *data, size_t length, bool *is_interim);

#endif
