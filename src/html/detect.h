/* Which encoding bytes are in when nobody says, or when what is said looks wrong. Every language
 * that we have figures of (data/letter-costs.txt) is tried in every encoding that it is found in:
 * the letters of a text cost so many bits each after the one before, and the cheapest reading is
 * the right one. Markup does not count. Reads a bounded part of the bytes, in linear time. */
#ifndef FORAGE_HTML_DETECT_H
#define FORAGE_HTML_DETECT_H

#include "core/arena.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

struct detect_hints {
    const char *language; /* as of HTML's lang, "zh-TW"; or NULL */
    const char *domain;   /* the last label of the host, "tw"; or NULL */
    const char *declared; /* what the bytes are said to be, believed unless they clearly are not */
};

struct detect_verdict {
    const char *name; /* by data/charsets.txt */
    bool doubtful;    /* the bytes do not look like what they are said to be */
};

/* UTF-16 or UTF-32 without a mark, by the bytes that no text has; or NULL. */
const char *detect_wide(const char *bytes, size_t length);
/* These, and encodings that switch between alphabets in seven bits, by their form alone; or NULL.
 */
const char *detect_form(const char *bytes, size_t length);

/* A status: OK or ERR_NOMEM. */
MUST_CHECK int detect_encoding(struct arena *arena, const char *bytes, size_t length,
                               const struct detect_hints *hints, struct detect_verdict *verdict);

#endif
