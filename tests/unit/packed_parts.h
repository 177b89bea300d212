/* A ZIP archive, without compression, of a list of parts: each a name and a text with a NUL behind
 * both. */
#ifndef FORAGE_TESTS_PACKED_PARTS_H
#define FORAGE_TESTS_PACKED_PARTS_H

#include "core/buf.h"

void pack_parts(struct buf *out, const char *parts, size_t size);

#endif
