/* The text of a PDF as Markdown, from where Poppler says each word stands (pdftotext -bbox-layout):
 * it has put pages, columns, blocks and lines into reading order; what is left is to see which
 * lines are headings, which belong to one paragraph, and which are only the page's own furniture.
 * Pure.
 *
 *   pdf_lines.c   Poppler's answer to lines
 *   pdf_layout.c  lines to Markdown */
#ifndef FORAGE_PAGE_LOADERS_PDF_LAYOUT_H
#define FORAGE_PAGE_LOADERS_PDF_LAYOUT_H

#include "core/arena.h"
#include "page/document.h"

#include <stdbool.h>
#include <stddef.h>

struct pdf_line {
    const char *text; /* in the arena */
    size_t length;
    double left, top, right, bottom;
    double size;                    /* of the letters */
    double block_left, block_right; /* of all lines of its block */
    unsigned page;                  /* from 0 */
    unsigned block;                 /* numbered through the document */
    bool margin;                    /* near the top or the bottom of its page */
    bool dropped;
};

struct pdf_text {
    struct pdf_line *lines;
    size_t count;
    unsigned pages;
    const char *title, *author, *created, *modified; /* or NULL */
    bool cut;
};

/* Reads Poppler's answer; one that breaks off gives what was whole. OK, ERR_NOMEM, or ERR_INVALID
 * for anything else. */
int pdf_read_lines(struct arena *arena, const char *xml, size_t length, struct pdf_text *text);
/* Writes the Markdown and the metadata. OK; ERR_NOTFOUND when there is no text at all; ERR_NOMEM.
 */
int pdf_write(struct arena *arena, struct pdf_text *text, struct document *document);

#endif
