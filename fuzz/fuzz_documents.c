/* Fuzzes the formats of packed documents. The input is a list of parts, each a name and a text with
 * a NUL behind both; they are packed, without compression, into an archive that is well-formed, so
 * that what is tried is what the parts say. Whatever comes: the text is valid UTF-8, or words say
 * why there is none. */
#include "core/buf.h"
#include "core/limits.h"
#include "documents/documents.h"
#include "fuzz.h"
#include "loaders/bodies.h"
#include "text/text.h"

#include "../tests/unit/packed_parts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "fuzz_documents: %s\n", what);
        abort();
    }
}

FUZZ_TARGET(documents)
{
    struct arena *arena = arena_new(MIB(128));
    struct document document = {0};
    struct buf zip;
    const char *why = NULL;
    buf_init(&zip, MIB(32));
    pack_parts(&zip, (const char *)data, size);
    if (arena && buf_error(&zip) == OK) {
        int status = documents_read(arena, zip.data, zip.length, &document, &why);
        require(status == OK || status == ERR_NOMEM || why, "no words");
        require(status != OK || (strlen(document.markdown) == document.length &&
                                 text_is_utf8(document.markdown, document.length)),
                "the text");
    }
    const char *text = (const char *)data;
    if (arena && text_is_utf8(text, size) && notebook_write(arena, text, size, &document) == OK) {
        require(text_is_utf8(document.markdown, document.length), "the text of a notebook");
    }
    buf_done(&zip);
    arena_free(arena);
    return 0;
}
