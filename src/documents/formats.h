/* The formats of packed documents: each reads its parts and writes the document's text. */
#ifndef FORAGE_DOCUMENTS_FORMATS_H
#define FORAGE_DOCUMENTS_FORMATS_H

#include "documents/package.h"

/* Each appends Markdown to `out` and fills what it knows into the document. `part` is the name of
 * the part that everything begins with. OK; ERR_NOTFOUND when it is not there; ERR_FAILED with the
 * package's `why`; ERR_NOMEM. */
MUST_CHECK int docx_write(struct package *package, const char *part, struct document *document,
                          struct buf *out);
MUST_CHECK int odt_write(struct package *package, const char *part, struct document *document,
                         struct buf *out);
MUST_CHECK int epub_write(struct package *package, const char *part, struct document *document,
                          struct buf *out);
MUST_CHECK int pptx_write(struct package *package, const char *part, struct document *document,
                          struct buf *out);
MUST_CHECK int xlsx_write(struct package *package, const char *part, struct document *document,
                          struct buf *out);

#endif
