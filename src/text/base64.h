/* Base64 (RFC 4648, with padding). */
#ifndef FORAGE_TEXT_BASE64_H
#define FORAGE_TEXT_BASE64_H

#include "core/arena.h"

/* NUL-terminated text in the arena, or NULL. */
char *base64_encode(struct arena *arena, const void *data, size_t length);
/* Strict: the alphabet, whole groups, right padding. The bytes with a NUL after them, or NULL when
 * it is not base64 or there is no memory. */
char *base64_decode(struct arena *arena, const char *text, size_t length, size_t *decoded_length);

#endif
