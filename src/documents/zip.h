/* Reads ZIP archives out of memory: the directory at the end, and a member when it is asked for.
 * Nothing is ever written to a disk. What an archive says of itself is checked before memory is
 * taken for it, and what all members take together has a ceiling, so bombs of any kind end in a
 * sentence. Pure. */
#ifndef FORAGE_DOCUMENTS_ZIP_H
#define FORAGE_DOCUMENTS_ZIP_H

#include "core/status.h"
#include "text/slice.h"

#include <stdint.h>

struct zip_member {
    struct slice name; /* in the archive's own bytes */
    uint64_t packed, size;
    uint64_t header; /* where its local header begins */
    uint32_t checksum;
    unsigned method, flags;
};

struct zip {
    const unsigned char *bytes;
    size_t length;
    struct zip_member *members; /* by name, each name once */
    size_t count;
    size_t unpacked; /* of all members that were read so far */
};

/* Reads the directory; the bytes must outlive it. OK; ERR_FAILED with `*why` in words; ERR_NOMEM.
 */
MUST_CHECK int zip_open(struct arena *arena, const char *bytes, size_t length, struct zip *zip,
                        const char **why);
/* NULL where there is none of that name. */
const struct zip_member *zip_find(const struct zip *zip, struct slice name);
/* Unpacks a member into the arena, with a NUL behind it. As zip_open(). */
MUST_CHECK int zip_read(struct arena *arena, struct zip *zip, const struct zip_member *member,
                        struct slice *content, const char **why);

#endif
