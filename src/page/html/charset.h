/* Bytes of a page as UTF-8: a byte order mark, then what the HTTP answer said, then what the page
 * says of itself in its first 1,024 bytes, then whether it is valid UTF-8, then windows-1252. The
 * names are those of the WHATWG encoding standard (data/charsets.txt). */
#ifndef FORAGE_PAGE_HTML_CHARSET_H
#define FORAGE_PAGE_HTML_CHARSET_H

#include "core/arena.h"
#include "core/status.h"

#include <stddef.h>

struct charset_text {
    const char *bytes; /* valid UTF-8: the input itself, or a copy in the arena */
    size_t length;
    const char *encoding; /* which it was, by its WHATWG name in lower case */
};

/* A status: OK or ERR_NOMEM. What cannot be converted becomes U+FFFD. */
MUST_CHECK int charset_decode(struct arena *arena, const char *bytes, size_t length,
                              const char *content_type, struct charset_text *text);

#endif
