/* Fuzzes the reader of ZIP archives. Whatever comes: names stay within the input and are sorted,
 * what is unpacked has the size that was announced, and all of it stays below its ceiling. */
#include "core/limits.h"
#include "documents/documents.h"
#include "documents/zip.h"
#include "fuzz.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_zip: %s\n", what);
        abort();
    }
}

static void check_member(struct arena *arena, struct zip *zip, const struct zip_member *member,
                         const char *bytes, size_t size)
{
    struct slice content;
    const char *why = NULL;
    require(member->name.data >= bytes && member->name.data + member->name.length <= bytes + size,
            "a name is outside");
    require(zip_find(zip, member->name) == member, "a name is not found");
    int status = zip_read(arena, zip, member, &content, &why);
    require(status == OK || status == ERR_NOMEM || (status == ERR_FAILED && why), "the status");
    require(status != OK || (content.length == member->size && !content.data[content.length]),
            "the size");
    require(zip->unpacked <= LIMIT_DOCUMENT_UNPACKED_BYTES, "the ceiling");
}

FUZZ_TARGET(zip)
{
    struct arena *arena = arena_new(MIB(256));
    struct zip zip;
    const char *why = NULL;
    const char *bytes = (const char *)data;
    if (!arena) {
        return 0;
    }
    int status = zip_open(arena, bytes, size, &zip, &why);
    require(status == OK || status == ERR_NOMEM || (status == ERR_FAILED && why), "the status");
    for (size_t i = 0; status == OK && i < zip.count; i++) {
        check_member(arena, &zip, &zip.members[i], bytes, size);
    }
    arena_reset(arena);
    struct document document = {0};
    status = documents_read(arena, bytes, size, &document, &why);
    require(status != OK || document.markdown, "a document without text");
    arena_free(arena);
    return 0;
}
