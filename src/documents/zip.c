/* ZIP: the end record, in the forms of 32 and 64 bits, the central directory, and deflate by zlib.
 */
#include "documents/zip.h"

#include "core/limits.h"

#include <stdlib.h>
#include <zlib.h>

#define END_BYTES       22u
#define END64_BYTES     56u
#define LOCATOR64_BYTES 20u
#define ENTRY_BYTES     46u
#define HEADER_BYTES    30u
#define MOST_COMMENT    0xFFFFu
#define EXTRA_ZIP64     1u
#define FLAG_ENCRYPTED  1u
#define METHOD_STORED   0u
#define METHOD_DEFLATED 8u
#define SMALL_ENOUGH    MIB(1) /* to be unpacked, however well it was packed */

static const char DAMAGED[] = "The document is damaged: its ZIP archive is not well-formed";

static int fail(const char **why, const char *words)
{
    *why = words;
    return ERR_FAILED;
}

static uint64_t number(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    while (bytes-- > 0) {
        value = value << 8 | at[bytes];
    }
    return value;
}

static bool is_signed(const struct zip *zip, uint64_t at, size_t bytes, const char *signature)
{
    return at <= zip->length && zip->length - at >= bytes &&
           memcmp(zip->bytes + at, signature, 4) == 0;
}

/* ---- the end record ---- */

struct directory {
    uint64_t at, bytes, count;
};

/* The last place where an end record fits with its comment. */
static bool find_end(const struct zip *zip, size_t *at)
{
    size_t least =
        zip->length > END_BYTES + MOST_COMMENT ? zip->length - END_BYTES - MOST_COMMENT : 0;
    for (size_t i = zip->length >= END_BYTES ? zip->length - END_BYTES + 1 : 0; i-- > least;) {
        if (is_signed(zip, i, END_BYTES, "PK\5\6") &&
            number(zip->bytes + i + 20, 2) <= zip->length - i - END_BYTES) {
            *at = i;
            return true;
        }
    }
    return false;
}

/* Where the numbers do not fit into the record, a larger one stands before it. */
static bool read_end64(const struct zip *zip, size_t end, struct directory *directory)
{
    if (end < LOCATOR64_BYTES ||
        !is_signed(zip, end - LOCATOR64_BYTES, LOCATOR64_BYTES, "PK\6\7")) {
        return false;
    }
    uint64_t at = number(zip->bytes + end - LOCATOR64_BYTES + 8, 8);
    if (!is_signed(zip, at, END64_BYTES, "PK\6\6")) {
        return false;
    }
    const unsigned char *record = zip->bytes + at;
    *directory = (struct directory){.at = number(record + 48, 8),
                                    .bytes = number(record + 40, 8),
                                    .count = number(record + 32, 8)};
    return true;
}

static int read_end(const struct zip *zip, struct directory *directory, const char **why)
{
    size_t end;
    if (!find_end(zip, &end)) {
        return fail(why, "The document is cut off or damaged: its ZIP archive has no directory");
    }
    const unsigned char *record = zip->bytes + end;
    uint64_t disks = number(record + 4, 2) | number(record + 6, 2);
    *directory = (struct directory){.at = number(record + 16, 4),
                                    .bytes = number(record + 12, 4),
                                    .count = number(record + 10, 2)};
    bool wide = directory->at == UINT32_MAX || directory->bytes == UINT32_MAX ||
                directory->count == UINT16_MAX;
    if (wide && !read_end64(zip, end, directory)) {
        return fail(why, DAMAGED);
    }
    if (disks != 0 && disks != UINT16_MAX) {
        return fail(why, "The ZIP archive is one of several parts");
    }
    if (directory->at > end || directory->bytes > end - directory->at) {
        return fail(why, DAMAGED);
    }
    if (directory->count > LIMIT_ZIP_MEMBERS) {
        return fail(why, "The ZIP archive has more members than are read");
    }
    return OK;
}

/* ---- the central directory ---- */

/* Nothing is written anywhere, but who names a member so is up to no good. */
static bool is_safe_name(struct slice name)
{
    const char *end = name.data + name.length;
    if (name.length == 0 || memchr(name.data, '\0', name.length) || name.data[0] == '/' ||
        name.data[0] == '\\' || (name.length > 1 && name.data[1] == ':')) {
        return false;
    }
    for (const char *part = name.data; part < end;) {
        const char *stop = part;
        while (stop < end && *stop != '/' && *stop != '\\') {
            stop++;
        }
        if (stop - part == 2 && memcmp(part, "..", 2) == 0) {
            return false;
        }
        part = stop + 1;
    }
    return true;
}

/* The numbers that need 64 bits stand in an extra field, in this order, those that do alone. */
static bool read_extra64(struct zip_member *member, const unsigned char *extra, size_t length)
{
    uint64_t *const numbers[] = {&member->size, &member->packed, &member->header};
    while (length >= 4) {
        size_t bytes = (size_t)number(extra + 2, 2);
        if (bytes > length - 4) {
            return false;
        }
        if (number(extra, 2) == EXTRA_ZIP64) {
            size_t used = 4;
            for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
                if (*numbers[i] != UINT32_MAX) {
                    continue;
                }
                if (used + 8 > bytes + 4) {
                    return false;
                }
                *numbers[i] = number(extra + used, 8);
                used += 8;
            }
        }
        extra += 4 + bytes;
        length -= 4 + bytes;
    }
    return true;
}

/* One entry, at `*at` of `end`. */
static bool read_entry(const struct zip *zip, uint64_t *at, uint64_t end, struct zip_member *member)
{
    if (!is_signed(zip, *at, ENTRY_BYTES, "PK\1\2") || end - *at < ENTRY_BYTES) {
        return false;
    }
    const unsigned char *entry = zip->bytes + *at;
    size_t name = (size_t)number(entry + 28, 2);
    size_t extra = (size_t)number(entry + 30, 2);
    size_t comment = (size_t)number(entry + 32, 2);
    if (end - *at - ENTRY_BYTES < name + extra + comment) {
        return false;
    }
    *member = (struct zip_member){
        .name = {(const char *)entry + ENTRY_BYTES, name},
        .flags = (unsigned)number(entry + 8, 2),
        .method = (unsigned)number(entry + 10, 2),
        .checksum = (uint32_t)number(entry + 16, 4),
        .packed = number(entry + 20, 4),
        .size = number(entry + 24, 4),
        .header = number(entry + 42, 4),
    };
    *at += ENTRY_BYTES + name + extra + comment;
    return read_extra64(member, entry + ENTRY_BYTES + name, extra);
}

static int by_name(const void *left, const void *right)
{
    const struct slice *a = &((const struct zip_member *)left)->name;
    const struct slice *b = &((const struct zip_member *)right)->name;
    size_t least = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->data, b->data, least);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Members that lie upon each other, or more than once under one name, are how bombs and double
 * meanings are built. */
static int check_members(const struct zip *zip, const char **why)
{
    uint64_t packed = 0;
    for (size_t i = 0; i < zip->count; i++) {
        if (!is_safe_name(zip->members[i].name)) {
            return fail(why, "The ZIP archive has a member whose name leads out of it");
        }
        if (i > 0 && by_name(&zip->members[i - 1], &zip->members[i]) == 0) {
            return fail(why, "The ZIP archive has two members of one name");
        }
        if (zip->members[i].packed > zip->length - packed) {
            return fail(why, "The ZIP archive is a bomb: its members lie upon each other");
        }
        packed += zip->members[i].packed;
    }
    return OK;
}

int zip_open(struct arena *arena, const char *bytes, size_t length, struct zip *zip,
             const char **why)
{
    struct directory directory;
    *zip = (struct zip){.bytes = (const unsigned char *)bytes, .length = length};
    int status = read_end(zip, &directory, why);
    if (status != OK) {
        return status;
    }
    uint64_t at = directory.at;
    zip->members = arena_alloc(arena, (size_t)directory.count * sizeof *zip->members + 1);
    if (!zip->members) {
        return ERR_NOMEM;
    }
    for (; zip->count < directory.count; zip->count++) {
        if (!read_entry(zip, &at, directory.at + directory.bytes, &zip->members[zip->count])) {
            return fail(why, DAMAGED);
        }
    }
    qsort(zip->members, zip->count, sizeof *zip->members, by_name);
    return check_members(zip, why);
}

const struct zip_member *zip_find(const struct zip *zip, struct slice name)
{
    struct zip_member key = {.name = name};
    return name.length ? bsearch(&key, zip->members, zip->count, sizeof key, by_name) : NULL;
}

/* ---- one member ---- */

/* Where its bytes are; NULL when they are not where the directory says. */
static const unsigned char *find_bytes(const struct zip *zip, const struct zip_member *member)
{
    if (!is_signed(zip, member->header, HEADER_BYTES, "PK\3\4")) {
        return NULL;
    }
    const unsigned char *header = zip->bytes + member->header;
    uint64_t skipped = HEADER_BYTES + number(header + 26, 2) + number(header + 28, 2);
    uint64_t left = zip->length - member->header;
    bool same = number(header + 26, 2) == member->name.length &&
                left >= HEADER_BYTES + member->name.length &&
                memcmp(header + HEADER_BYTES, member->name.data, member->name.length) == 0;
    return same && left >= skipped && left - skipped >= member->packed ? header + skipped : NULL;
}

/* What may not even be tried. */
static int check_member(const struct zip *zip, const struct zip_member *member, const char **why)
{
    if (member->flags & FLAG_ENCRYPTED) {
        return fail(why, "The document is protected by a password");
    }
    if (member->method != METHOD_STORED && member->method != METHOD_DEFLATED) {
        return fail(why, "The document is packed in a way that is not read");
    }
    if (member->size > LIMIT_DOCUMENT_UNPACKED_BYTES - zip->unpacked) {
        return fail(why, "The document is larger than what is read, once it is unpacked");
    }
    if (member->size > SMALL_ENOUGH && member->size / LIMIT_ZIP_RATIO > member->packed) {
        return fail(why, "The document is a bomb: it unpacks to many hundred times its size");
    }
    return OK;
}

/* Whether the bytes unpack to exactly the size that was announced. */
static bool inflate_to(char *out, size_t size, const unsigned char *packed, size_t length)
{
    unsigned char beyond = 0;
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)packed,
                       .avail_in = (uInt)length,
                       .next_out = size ? (unsigned char *)out : &beyond,
                       .avail_out = (uInt)(size ? size : 1)};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
        return false;
    }
    int end = inflate(&stream, Z_FINISH);
    bool whole = end == Z_STREAM_END && stream.total_out == size;
    return inflateEnd(&stream) == Z_OK && whole;
}

int zip_read(struct arena *arena, struct zip *zip, const struct zip_member *member,
             struct slice *content, const char **why)
{
    int status = check_member(zip, member, why);
    if (status != OK) {
        return status;
    }
    const unsigned char *packed = find_bytes(zip, member);
    if (!packed || (member->method == METHOD_STORED && member->size != member->packed)) {
        return fail(why, DAMAGED);
    }
    size_t size = (size_t)member->size;
    char *out = arena_alloc(arena, size + 1);
    if (!out) {
        return ERR_NOMEM;
    }
    zip->unpacked += size;
    if (member->method == METHOD_STORED) {
        memcpy(out, packed, size);
    } else if (!inflate_to(out, size, packed, (size_t)member->packed)) {
        return fail(why, DAMAGED);
    }
    if (crc32(crc32(0, NULL, 0), (const unsigned char *)out, (uInt)size) != member->checksum) {
        return fail(why, DAMAGED);
    }
    out[size] = '\0';
    *content = (struct slice){out, size};
    return OK;
}
