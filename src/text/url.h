/* URLs of the web, read the way browsers read them (the WHATWG URL standard for http and https) and
 * written in one normal form, so that two spellings of one address compare equal and what is
 * checked is what is fetched. Pure: no look-ups, no state.
 *
 * Stricter than a browser in three places: a user name or password is refused, so is port 0, and a
 * name must fit the domain name system (labels of 1 to 63 characters, 253 in all, one final dot
 * dropped).
 *
 * Everything that a `struct url` points to lives in the arena it was parsed with. */
#ifndef FORAGE_TEXT_URL_H
#define FORAGE_TEXT_URL_H

#include "core/arena.h"
#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define URL_HOST_SIZE 254 /* the longest host, and its NUL */

struct url {
    const char *text;     /* all of it, normalised */
    const char *scheme;   /* "http" or "https" */
    const char *host;     /* lower-case ASCII; an IPv6 address without its brackets */
    int port;             /* always set, also where the URL leaves it out */
    const char *path;     /* begins with '/' */
    const char *query;    /* without '?'; NULL: none */
    const char *fragment; /* without '#'; NULL: none */
};

/* OK; ERR_INVALID or ERR_LIMIT with `problem` set to words that continue "the URL ..."; ERR_NOMEM.
 */
int url_parse(struct arena *arena, const char *text, struct url *url, const char **problem);
/* The same for a reference that may be relative to `base`. */
int url_resolve(struct arena *arena, const struct url *base, const char *reference, struct url *url,
                const char **problem);
/* Same scheme, host and port: the border that credentials do not cross. */
bool url_same_origin(const struct url *first, const struct url *second);

/* Normalises a host as it stands in a URL: names are lower-cased and written in ASCII, IPv4
 * addresses in any spelling become dotted, IPv6 addresses (in brackets) become their shortest form
 * without brackets. OK or ERR_INVALID. */
int url_host(const char *text, size_t length, char out[URL_HOST_SIZE], const char **problem);
/* Whether a normalised host is an IPv6 address, which a URL writes in brackets. */
bool url_host_is_ipv6(const char *host);

/* Appends `text` with everything but letters, digits and "-._~" percent-encoded: for one value of a
 * query or one segment of a path. */
int url_encode(struct buf *out, const char *text, size_t length);
/* The opposite, NUL-terminated in the arena; what is no valid escape stays as it is. NULL without
 * memory. */
char *url_decode(struct arena *arena, const char *text, size_t length, size_t *decoded_length);
/* The same into memory of the caller, without a NUL; `size` + 1 when it does not fit. */
size_t url_unescape(const char *text, size_t length, char *out, size_t size);
/* The value of a hexadecimal digit, or -1. */
int url_hex_value(char c);

#endif
