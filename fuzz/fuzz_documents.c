/* Fuzzes the formats of packed documents. The input is a list of parts, each a name and a text with
 * a NUL behind both; they are packed, without compression, into an archive that is well-formed, so
 * that what is tried is what the parts say. Whatever comes: the text is valid UTF-8, or words say
 * why there is none. */
#include "core/buf.h"
#include "core/limits.h"
#include "page/documents/documents.h"
#include "text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_documents: %s\n", what);
        abort();
    }
}

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
        put_number(both[i], 0, i ? 14 : 2);
        if (i) {
            put_number(both[i], at, 4);
        }
        buf_append(both[i], name, name_length);
    }
    buf_append(out, text, length);
}

static void pack(struct buf *out, const char *parts, size_t size)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(MIB(128));
    struct document document = {0};
    struct buf zip;
    const char *why = NULL;
    buf_init(&zip, MIB(32));
    pack(&zip, (const char *)data, size);
    if (arena && buf_error(&zip) == OK) {
        int status = documents_read(arena, zip.data, zip.length, &document, &why);
        require(status == OK || status == ERR_NOMEM || why, "no words");
        require(status != OK || (strlen(document.markdown) == document.length &&
                                 text_is_utf8(document.markdown, document.length)),
                "the text");
    }
    buf_done(&zip);
    arena_free(arena);
    return 0;
}
