/* A number made of bytes (FNV-1a, 64 bits), to know the same ones again quickly. It is no defence
 * against an enemy: who chooses the bytes can make two of them have one number. */
#ifndef FORAGE_CORE_HASH_H
#define FORAGE_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xCBF29CE484222325u

/* Goes on from the number of what came before, or from HASH_START. */
static inline uint64_t hash_add(uint64_t before, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    for (const unsigned char *end = at + length; at < end; at++) {
        before = (before ^ *at) * 0x100000001B3u;
    }
    return before;
}

#endif
