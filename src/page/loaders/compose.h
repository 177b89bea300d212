/* Putting a document together from what a service answered: Markdown of people in, one Markdown
 * out. */
#ifndef FORAGE_PAGE_LOADERS_COMPOSE_H
#define FORAGE_PAGE_LOADERS_COMPOSE_H

#include "call/call.h"
#include "core/arena.h"
#include "core/buf.h"
#include "page/document.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMPOSE_DATE_SIZE 24

/* "2026-11-15" for a moment of Unix time; returns `out`. */
const char *compose_date(char out[COMPOSE_DATE_SIZE], int64_t seconds);
/* "2026-11-15T10:10:30Z" likewise. */
const char *compose_moment(char out[COMPOSE_DATE_SIZE], int64_t seconds);

/* One line: white space of any kind becomes single spaces, none at the ends. NULL adds nothing. */
void compose_line(struct buf *out, const char *text);
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

/* Ends a document: takes what the buffer holds (and frees it) as its Markdown. OK, or ERR_NOMEM; a
 * buffer that reached its ceiling gives a document that is cut. */
int compose_done(struct arena *arena, struct buf *out, struct document *document);

#endif
