/* Punycode (RFC 3492): a domain label beyond ASCII written in ASCII, without its "xn--". */
#ifndef FORAGE_TEXT_PUNYCODE_H
#define FORAGE_TEXT_PUNYCODE_H

#include <stddef.h>
#include <stdint.h>

/* Writes the label of `count` code points to `out` as a NUL-terminated text. OK, or ERR_LIMIT when
 * it does not fit `size` bytes. */
int punycode_encode(const uint32_t *points, size_t count, char *out, size_t size);

#endif
