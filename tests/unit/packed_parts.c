/* Packs parts of documents, for the unit tests and the fuzz target. */
#include "packed_parts.h"

#include "core/limits.h"

#include <stdint.h>
#include <string.h>
#include <zlib.h>

static void put_number(struct buf *out, uint32_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        buf_putc(out, (char)(value >> 8 * i & 0xFF));
    }
}

/* A local header with its content, and the entry of the directory. */
static void put_member(struct buf *out, struct buf *directory, const char *name, size_t name_length,
                       const char *text, size_t length)
{
    uint32_t at = (uint32_t)out->length;
    uint32_t checksum = (uint32_t)crc32(0, (const unsigned char *)text, (uInt)length);
    struct buf *const both[] = {out, directory};
    for (size_t i = 0; i < 2; i++) {
        buf_append(both[i], i ? "PK\1\2\0\0\0\0\0\0\0\0\0\0\0\0" : "PK\3\4\0\0\0\0\0\0\0\0\0\0",
                   i ? 16 : 14);
        put_number(both[i], checksum, 4);
        put_number(both[i], (uint32_t)length, 4);
        put_number(both[i], (uint32_t)length, 4);
        put_number(both[i], (uint32_t)name_length, 2);
        buf_append(both[i], (const char[12]){0}, i ? 12 : 2);
        if (i) {
            put_number(both[i], at, 4);
        }
        buf_append(both[i], name, name_length);
    }
    buf_append(out, text, length);
}

void pack_parts(struct buf *out, const char *parts, size_t size)
{
    struct buf directory;
    size_t count = 0;
    buf_init(&directory, MIB(16));
    while (size > 0) {
        size_t name = strnlen(parts, size);
        size_t begin = name < size ? name + 1 : size;
        size_t text = strnlen(parts + begin, size - begin);
        put_member(out, &directory, parts, name, parts + begin, text);
        size_t taken = begin + text < size ? begin + text + 1 : size;
        parts += taken;
        size -= taken;
        count++;
    }
    uint32_t at = (uint32_t)out->length;
    buf_append(out, directory.data, directory.length);
    buf_append(out, "PK\5\6\0\0\0\0", 8);
    put_number(out, (uint32_t)count, 2);
    put_number(out, (uint32_t)count, 2);
    put_number(out, (uint32_t)directory.length, 4);
    put_number(out, at, 4);
    put_number(out, 0, 2);
    buf_done(&directory);
}
