/* Feeds: RSS (0.9x, 1.0, 2.0) and Atom as a list of their items. Also what arXiv answers is one. */
#ifndef FORAGE_PAGE_LOADERS_FEED_H
#define FORAGE_PAGE_LOADERS_FEED_H

#include "page/document.h"
#include "page/loaders/xml.h"

#include "core/arena.h"

/* Each text is in the arena, or NULL where the feed has none. */
struct feed_item {
    const char *title, *link, *date, *author;
    const char *summary; /* HTML, or text that is none */
};

struct feed {
    const char *title, *link, *description, *date;
    struct feed_item items[LIMIT_FEED_ITEMS];
    size_t count;
    bool cut; /* there were more items, or the feed is broken after these */
};

/* OK; ERR_NOTFOUND when the text, which must be UTF-8, is no feed at all; ERR_NOMEM. */
int feed_parse(struct arena *arena, const char *text, size_t length, struct feed *feed);
/* The feed as Markdown; links are relative to `url`. OK or ERR_NOMEM. */
int feed_write(struct arena *arena, const struct feed *feed, const char *url,
               struct document *document);
/* "2003-06-10" for the dates that feeds write (RFC 822 or ISO 8601), or the text itself. */
const char *feed_day(struct arena *arena, const char *date);

#endif
