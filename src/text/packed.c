/* Packing and unpacking, by zlib. */
#include "text/packed.h"

#include <stdint.h>
#include <zlib.h>

#define PREFIX 4 /* bytes of the length, lowest first */

const void *packed_text(struct arena *arena, const char *text, size_t length, size_t *size)
{
    uLongf room = compressBound(length);
    unsigned char *packed = length <= UINT32_MAX ? arena_alloc(arena, PREFIX + room) : NULL;
    if (!packed ||
        compress2(packed + PREFIX, &room, (const Bytef *)text, length, Z_BEST_SPEED) != Z_OK) {
        return NULL;
    }
    for (int i = 0; i < PREFIX; i++) {
        packed[i] = (unsigned char)(length >> (8 * i));
    }
    *size = PREFIX + room;
    return packed;
}

const char *unpacked_text(struct arena *arena, const void *packed, size_t size, size_t most,
                          size_t *length)
{
    const unsigned char *bytes = packed;
    size_t told = 0;
    for (int i = 0; size > PREFIX && i < PREFIX; i++) {
        told |= (size_t)bytes[i] << (8 * i);
    }
    uLongf got = told;
    char *text = size > PREFIX && told <= most ? arena_alloc(arena, told + 1) : NULL;
    if (!text || uncompress((Bytef *)text, &got, bytes + PREFIX, size - PREFIX) != Z_OK ||
        got != told) {
        return NULL;
    }
    text[told] = '\0';
    *length = told;
    return text;
}
