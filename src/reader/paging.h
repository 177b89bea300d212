/* Markdown in parts: where a page may be cut, and which part a caller asked for - by position, by
 * heading, or the headings alone. Positions count Unicode code points of the whole text, so that
 * the parts of a page, put together, are the page.
 *
 * A part ends at the end of a block wherever that leaves a part of decent size; inside a long table
 * or list it ends between two lines. A code block, a table row or a line is cut only when it alone
 * is larger than a part, and then the part says so: a cut code block is closed and, in the next
 * part, opened again, and a table gets its head again. What is added for that stands in `before`
 * and `after`, apart from the text itself.
 *
 * Pure. The text must be valid UTF-8; results live in the arena and point into the text. */
#ifndef FORAGE_READER_PAGING_H
#define FORAGE_READER_PAGING_H

#include "core/arena.h"
#include "core/status.h"

#include <stddef.h>

enum paging_inside { INSIDE_NOTHING, INSIDE_CODE, INSIDE_ROW, INSIDE_LINE };

struct paging_request {
    const char *text;
    size_t length;    /* in bytes */
    size_t start;     /* in code points, as everything below; at most the end */
    size_t end;       /* where to stop in any case; SIZE_MAX: at the end of the text */
    size_t max_chars; /* of the part, with `before` and `after`; at least 1 */
};

struct paging_part {
    size_t start, end; /* the part is [start, end) */
    const char *text;
    size_t length; /* in bytes */
    const char *before;
    const char *after;
    enum paging_inside inside; /* what its end cuts */
};

/* OK or ERR_NOMEM. A part is never empty unless there is nothing at its start. */
MUST_CHECK int paging_cut(struct arena *arena, const struct paging_request *request,
                          struct paging_part *part);

/* A heading, and its section: up to the next heading of its level or above. */
struct paging_heading {
    const char *title; /* without marks of emphasis, links and code */
    int level;         /* 1 to 6 */
    size_t start, end;
};

/* OK or ERR_NOMEM; at most LIMIT_PAGE_HEADINGS of them. */
MUST_CHECK int paging_outline(struct arena *arena, const char *text, size_t length,
                              const struct paging_heading **headings, size_t *count);
/* The section that `wanted` means: a heading's text in any case of letters, else its number in the
 * outline (from 1), else a part of a heading's text. NULL: none. */
const struct paging_heading *paging_find(const struct paging_heading *headings, size_t count,
                                         const char *wanted);

#endif
