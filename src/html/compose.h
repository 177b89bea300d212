/* Putting a document together from what a service answered: Markdown of people in, one Markdown
 * out. */
#ifndef FORAGE_HTML_COMPOSE_H
#define FORAGE_HTML_COMPOSE_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/status.h"
#include "html/document.h"
#include "text/json.h"

#include <stdint.h>

#define COMPOSE_DATE_SIZE 24

/* "2026-11-15T10:10:30Z" for a moment of Unix time; returns `out`. */
const char *compose_moment(char out[COMPOSE_DATE_SIZE], int64_t seconds);

/* One line: white space of any kind becomes single spaces, none at the ends. NULL adds nothing. */
void compose_line(struct buf *out, const char *text);
/* A heading of its own: `mark` ("##" and perhaps words), the text on one line, and a blank line. */
void compose_heading(struct buf *out, const char *mark, const char *text);
/* " · tags: one, two": `before`, then the names in an array of texts or of objects with a "name".
 * Nothing for an empty array, or NULL. */
void compose_names(struct buf *out, const char *before, yyjson_val *array);
/* The same, with the entities of HTML titles resolved. In the arena; NULL only without memory. */
const char *compose_unescaped(struct arena *arena, const char *text);

/* Where the relative links of a Markdown text lead. */
struct compose_links {
    const char *pages;  /* absolute, ending in a slash; NULL: links stay as they are */
    const char *images; /* the same for images */
};

/* Appends Markdown that a person wrote: headings go down by `levels` so that they fit below ours,
 * comments of HTML are left out, line ends become line feeds; code stays as it is. `links` may be
 * NULL. Ends with a line break. */
void compose_markdown(struct buf *out, const char *text, size_t length, int levels,
                      const struct compose_links *links);
/* Appends a block of code in a fence that nothing inside can close. `language` may be "". */
void compose_fenced(struct buf *out, const char *language, const char *text, size_t length);
/* Markdown as one item of a list: its further lines are indented. */
void compose_item(struct buf *out, const char *text, size_t length);

/* HTML that a person wrote, or NULL, as Markdown into `out`, which may be empty: what cannot be
 * read gives nothing. OK or ERR_NOMEM. */
MUST_CHECK int compose_html(struct arena *arena, struct buf *out, const char *html,
                            const char *url);

/* Ends a document: takes what the buffer holds (and frees it) as its Markdown. OK, or ERR_NOMEM; a
 * buffer that reached its ceiling gives a document that is cut. */
MUST_CHECK int compose_done(struct arena *arena, struct buf *out, struct document *document);

#endif
