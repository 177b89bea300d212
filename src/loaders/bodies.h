/* Bodies that are read by what they are, wherever they came from: PDFs, plain texts, feeds and
 * others that are written in XML or JSON. */
#ifndef FORAGE_LOADERS_BODIES_H
#define FORAGE_LOADERS_BODIES_H

#include "core/limits.h"
#include "html/charset.h"
#include "html/compose.h"
#include "html/sniff.h"
#include "loaders/loaders.h"

/* ---- PDF ---- */

/* Whether the bytes begin as a PDF does. */
bool pdf_is(const char *bytes, size_t length);
/* With running heads and page numbers when `all` is asked for. OK; ERR_FAILED with words;
 * ERR_NOMEM, ERR_CANCELLED, ERR_DEADLINE. */
int pdf_load(struct call *call, const char *bytes, size_t length, bool all,
             struct document *document, const char **why);

/* ---- texts that need no extractor ---- */

enum plain_kind {
    PLAIN_TEXT,     /* as it is */
    PLAIN_MARKDOWN, /* passed through */
    PLAIN_JSON,     /* in a fence, indented */
    PLAIN_CODE,     /* in a fence, with its language */
};

struct plain_form {
    enum plain_kind kind;
    const char *language; /* of code; "" when it has no name */
};

/* By the end of a file's name or of a URL's path; PLAIN_TEXT when that says nothing. */
struct plain_form plain_form_of(const char *name);
/* Writes a text, which must be UTF-8, in that form. `links` may be NULL. OK or ERR_NOMEM. */
int plain_write(struct arena *arena, struct plain_form form, const char *text, size_t length,
                const struct compose_links *links, struct document *document);
/* OK; ERR_NOTFOUND when it is no such thing; ERR_NOMEM. */
int plain_load(struct call *call, const struct source_response *response, enum content_kind kind,
               struct document *document);

/* ---- feeds: RSS (0.9x, 1.0, 2.0) and Atom ---- */

enum feed_field {
    FEED_TITLE,
    FEED_LINK,
    FEED_DATE,
    FEED_AUTHOR,
    FEED_SUMMARY,
    FEED_SITE, /* that an item was taken from, by its address */
    FEED_FIELDS
};

/* Of the feed itself or of an item. Each text is in the arena, or NULL where there is none. */
struct feed_record {
    const char *values[FEED_FIELDS]; /* the summary is HTML, or text that is none */
    int ranks[FEED_FIELDS];          /* of the elements that the values are from */
};

struct feed {
    struct feed_record about;
    struct feed_record items[LIMIT_FEED_ITEMS];
    size_t count;
    bool cut; /* there were more items, or the feed is broken after these */
};

/* OK; ERR_NOTFOUND when the text, which must be UTF-8, is no feed at all; ERR_NOMEM. */
int feed_parse(struct arena *arena, const char *text, size_t length, struct feed *feed);
/* "2003-06-10" for the dates that feeds write (RFC 822 or ISO 8601), or the text itself; NULL for
 * NULL. */
const char *feed_day(struct arena *arena, const char *date);
/* The feed as Markdown; links are relative to `url`. OK or ERR_NOMEM. */
int feed_write(struct arena *arena, const struct feed *feed, const char *url,
               struct document *document);
/* The body as UTF-8: XML may name its encoding itself. OK or ERR_NOMEM. */
int feed_decode(struct call *call, const struct source_response *response,
                struct charset_text *text);
int feed_load(struct call *call, const struct source_response *response, struct document *document);

/* ---- others; each: OK; ERR_NOTFOUND when the text, which must be UTF-8, is none; ERR_NOMEM ----
 */

/* Sitemaps and indexes of sitemaps. */
int sitemap_write(struct arena *arena, const char *text, size_t length, struct document *document);
/* The words of a drawing. */
int svg_write(struct arena *arena, const char *text, size_t length, struct document *document);
/* Notebooks of Jupyter. */
int notebook_write(struct arena *arena, const char *text, size_t length, struct document *document);

#endif
