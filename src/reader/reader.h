/* The reader: any public URL as Markdown. The order of things: the URL is checked; a loader that
 * claims it is asked; else, or when it fails, the page is fetched plainly and read by what it is; a
 * page that is an empty shell is rendered. What cannot be read becomes a note, not an error. */
#ifndef FORAGE_READER_READER_H
#define FORAGE_READER_READER_H

#include "call/call.h"
#include "call/line.h"
#include "html/document.h"

/* The turns at the extractor of one program. */
struct reader;

/* `turns` as of line_init(). */
struct reader *reader_new(struct turns *turns);
struct reader *reader_free(struct reader *reader);

enum render_mode { RENDER_AUTO, RENDER_ALWAYS, RENDER_NEVER };

/* How a page is read. */
struct read_options {
    enum render_mode render;
    bool all;            /* everything visible of a page of HTML, not its main part alone */
    size_t scroll_chars; /* that a rendered page is scrolled for; 0: it is not scrolled */
};

/* OK with a document (which may be a note); ERR_FAILED after call_fail() for an invalid or
 * forbidden URL; ERR_CANCELLED, ERR_DEADLINE. */
MUST_CHECK int read_url(struct call *call, const char *url, const struct read_options *options,
                        struct document *document);

/* The same for a body that is there already, by what it is; `name` is what notes call it. No
 * browser renders it. */
MUST_CHECK int read_body(struct call *call, const char *name, const char *body, size_t length,
                         bool all, struct document *document);

/* The note for a page that could not be read; `detail` may be NULL. In the arena. */
const char *note_failed(struct arena *arena, const char *kind, const char *detail, const char *url);

#endif
