/* A quick checksum that notices damage: cut, flipped or zeroed bytes, as a disk or a crash leaves
 * them. No protection against whoever means harm; that is core/sha256.h. */
#ifndef FORAGE_CORE_CHECKSUM_H
#define FORAGE_CORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t checksum(const void *data, size_t length);

#endif
