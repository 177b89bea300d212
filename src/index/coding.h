/* Numbers as bytes: seven bits each, the lowest first; the highest bit says that more follow. */
#ifndef FORAGE_INDEX_CODING_H
#define FORAGE_INDEX_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODING_MOST_BYTES 10

/* Writes at most CODING_MOST_BYTES; how many. */
static inline size_t coding_put(uint8_t *to, uint64_t number)
{
    size_t length = 0;
    while (number >= 128) {
        to[length++] = (uint8_t)(number | 128);
        number >>= 7;
    }
    to[length++] = (uint8_t)number;
    return length;
}

/* The next number, of at most 32 bits; false where the bytes are no such number. */
static inline bool coding_get(const uint8_t **at, const uint8_t *end, uint32_t *number)
{
    uint64_t value = 0;
    for (unsigned int shift = 0; shift < 35 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *number = (uint32_t)value;
            return value <= UINT32_MAX;
        }
    }
    return false;
}

#endif
