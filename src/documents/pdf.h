/* PDF as Markdown, from where its words stand. A PDF draws letters at places and says nothing of
 * paragraphs, columns or tables, so these are found again, one idea a file:
 *
 *   pdf_words.c      what pdftotext says: words with their boxes, in the order they were drawn
 *   pdf_fonts.c      what pdftohtml says: the font, weight and link of each of these words
 *   pdf_furniture.c  running heads and page numbers, which are no text of the document
 *   pdf_rows.c       words that stand side by side
 *   pdf_gaps.c       what rows leave free of a page's width
 *   pdf_lines.c      words that are read one after the other
 *   pdf_order.c      columns and reading order: rows to lines, or to what may be a table
 *   pdf_tables.c     such rows as cells
 *   pdf_headings.c   what the text of the document looks like, and by that what is a heading
 *   pdf_notes.c      footnotes and the signs that refer to them
 *   pdf_write.c      lines as paragraphs, items and code, in the little HTML of markup.h
 *
 * All of it is pure. Places are in points, from the left and the top of a page. */
#ifndef FORAGE_DOCUMENTS_PDF_H
#define FORAGE_DOCUMENTS_PDF_H

#include "core/arena.h"
#include "core/status.h"
#include "html/document.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PDF_BOLD = 1,
    PDF_ITALIC = 2,
    PDF_MONO = 4,   /* every letter as wide as every other */
    PDF_RAISED = 8, /* small, and above its line */
    PDF_TURNED = 16,
    PDF_FURNITURE = 32, /* a running head or a page number */
};

struct pdf_word {
    const char *text; /* in the arena */
    size_t length;
    double left, top, right, bottom;
    double size;      /* of its letters */
    const char *link; /* or NULL */
    unsigned flags;
    size_t order; /* in which the words of the page were drawn */
};

struct pdf_page {
    struct pdf_word *words;
    size_t count;
    double width, height;
};

struct pdf_text {
    struct pdf_page *pages;
    size_t page_count;
    const char *title, *author, *created, *modified; /* or NULL */
    bool cut;
    bool all; /* running heads and page numbers are to stay */
};

/* Reads what pdftotext -raw -bbox wrote; one that breaks off gives what was whole. OK, ERR_NOMEM,
 * or ERR_INVALID for anything else. */
MUST_CHECK int pdf_read_words(struct arena *arena, const char *xml, size_t length,
                              struct pdf_text *text);
/* Adds what pdftohtml -xml -zoom 3 wrote about the same document, as far as the two agree. OK or
 * ERR_NOMEM. */
MUST_CHECK int pdf_read_fonts(struct arena *arena, const char *xml, size_t length,
                              struct pdf_text *text);
/* Writes the Markdown and the metadata. OK; ERR_NOTFOUND when there is no text at all; ERR_NOMEM.
 */
MUST_CHECK int pdf_write(struct arena *arena, struct pdf_text *text, struct document *document);

#endif
