/* Documents that are ZIP archives: DOCX, ODT, EPUB, PPTX and XLSX. Pure; they are read in the
 * process itself, by our own readers of ZIP and XML, which are fuzzed, and with ceilings on all
 * that they take. */
#ifndef FORAGE_DOCUMENTS_DOCUMENTS_H
#define FORAGE_DOCUMENTS_DOCUMENTS_H

#include "core/arena.h"
#include "core/status.h"
#include "html/document.h"

/* OK with the document; ERR_NOTFOUND for what is none of these, with `*why` naming what an archive
 * is; ERR_FAILED with `*why` saying what is wrong; ERR_NOMEM. */
MUST_CHECK int documents_read(struct arena *arena, const char *bytes, size_t length,
                              struct document *document, const char **why);

#endif
