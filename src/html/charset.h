/* Bytes of a page as UTF-8: a byte order mark, then what the HTTP answer said, then what the page
 * says of itself in its first 1,024 bytes, then whether it is valid UTF-8, then what its letters
 * look like (detect.h). What is said and is plainly not so does not count. The names are those of
 * the WHATWG encoding standard (data/charsets.txt). */
#ifndef FORAGE_HTML_CHARSET_H
#define FORAGE_HTML_CHARSET_H

#include "core/arena.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

/* What is known besides the bytes; each may be NULL. */
struct charset_hints {
    const char *content_type; /* of the HTTP answer */
    const char *language;     /* its Content-Language; the page's own comes first */
    const char *url;          /* its top-level domain is a hint, when nothing else tells */
};

struct charset_text {
    const char *bytes; /* valid UTF-8: the input itself, or a copy in the arena */
    size_t length;
    const char *encoding; /* which it was, by its WHATWG name in lower case */
    bool guessed;         /* nobody said so, or the bytes look like another one */
};

/* A status: OK or ERR_NOMEM. What cannot be converted becomes U+FFFD. */
MUST_CHECK int charset_decode(struct arena *arena, const char *bytes, size_t length,
                              const struct charset_hints *hints, struct charset_text *text);

#endif
