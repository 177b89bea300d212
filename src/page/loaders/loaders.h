/* Loaders: sources that have something better than their HTML page. Which URLs belong to whom is a
 * table (loaders.c), most specific first, tested row by row. A loader that fails is not the end:
 * the page itself is read before giving up. */
#ifndef FORAGE_PAGE_LOADERS_LOADERS_H
#define FORAGE_PAGE_LOADERS_LOADERS_H

#include "call/call.h"
#include "page/document.h"
#include "page/source/source.h"
#include "text/url.h"

struct loader {
    const char *name;
    /* Whether the URL is one that this loader reads. Pure. */
    bool (*claims)(const struct url *url);
    /* OK with the document; ERR_NOTFOUND when the source has nothing better (read the page);
     * ERR_FAILED with
     * `*why` set to words for a note (the page is read first); ERR_CANCELLED, ERR_DEADLINE. */
    int (*load)(struct call *call, const struct url *url, struct document *document,
                const char **why);
};

/* The loader for a URL, or NULL: an ordinary page. */
const struct loader *loader_for(const struct url *url);

/* By what came, not by where it came from: OK with the document for a body that is a PDF, plain
 * text, JSON, Markdown or a feed; ERR_NOTFOUND for HTML and what nobody reads; ERR_FAILED with
 * `*why`. */
int load_by_content(struct call *call, const struct source_response *response,
                    struct document *document, const char **why);

#endif
