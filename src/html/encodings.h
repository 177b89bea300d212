/* The encodings of the WHATWG standard, and a few older ones: what each byte means, and whole texts
 * as UTF-8. lexbor has the tables of the standard, so that nothing of the host's C library is
 * asked; data/charsets.txt has those of the others. */
#ifndef FORAGE_HTML_ENCODINGS_H
#define FORAGE_HTML_ENCODINGS_H

#include "core/arena.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct encoding;

struct encoded_text {
    const char *bytes; /* valid UTF-8, in the arena */
    size_t length;
    size_t wrong; /* bytes that mean nothing, each of which is a U+FFFD */
};

/* By its name in data/charsets.txt, or NULL. */
const struct encoding *encoding_find(const char *name);
const char *encoding_name(const struct encoding *encoding);
/* The characters of the bytes from 0x80 on; 0 where there is none. False when not each byte is a
 * character. */
bool encoding_letters(const struct encoding *encoding, uint32_t letters[128]);
/* A status: OK or ERR_NOMEM. */
MUST_CHECK int encoding_decode(struct arena *arena, const struct encoding *encoding,
                               const char *bytes, size_t length, struct encoded_text *text);

#endif
