/* Editing JSON with comments: one member is set or taken out, in the style of the document, and
 * everything else stays byte for byte.
 *
 * A member is named by a path of at most DOCUMENT_MOST_PATH names from the root. New values are
 * given as text in one form: lines end in \n and are indented by two blanks for each level; the
 * document's own indentation and line ends take their place. */
#ifndef FORAGE_SETUP_JSONC_H
#define FORAGE_SETUP_JSONC_H

#include "core/buf.h"
#include "setup/document.h"

/* Where the value of a member is. OK; ERR_NOTFOUND when it is not there; ERR_INVALID when the
 * document is broken, or the path leads through something else than objects or through a name that
 * is there twice. */
int jsonc_get(const char *text, size_t length, const char *const *path, size_t depth,
              struct document_span *value, struct document_problem *problem);
/* Appends the document to `out`, with the member set to `value`; objects on the way to it that are
 * missing are made. A blank document becomes an object. */
int jsonc_set(const char *text, size_t length, const char *const *path, size_t depth,
              const char *value, struct buf *out, struct document_problem *problem);
/* Appends the document to `out`, without the member. ERR_NOTFOUND when it is not there. */
int jsonc_remove(const char *text, size_t length, const char *const *path, size_t depth,
                 struct buf *out, struct document_problem *problem);
/* Whether the document has something that plain JSON does not: its place is told in `problem`. */
bool jsonc_is_extended(const char *text, size_t length, struct document_problem *problem);

#endif
