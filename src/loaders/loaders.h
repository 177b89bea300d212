/* Loaders: sources that have something better than their HTML page. Which URLs belong to whom is a
 * table (loaders.c), most specific first, tested row by row. A loader that fails is not the end:
 * the page itself is read before giving up. */
#ifndef FORAGE_LOADERS_LOADERS_H
#define FORAGE_LOADERS_LOADERS_H

#include "call/line.h"
#include "html/document.h"
#include "source/source.h"
#include "text/url.h"

#include <stdatomic.h>

#define STACKEXCHANGE_METHODS 5 /* that its loader asks for */

/* What loaders share over all calls of a program: when the services that limit how often they are
 * asked may be asked again, as of clock_now_ms(), and turns at reading PDFs. */
struct loaders {
    _Atomic int64_t stackexchange_ready_ms[STACKEXCHANGE_METHODS];
    _Atomic int64_t reddit_ready_ms;
    struct line pdfs;
    _Atomic bool told_of_pdf; /* that it is not as confined as it could be */
};

struct loaders *loaders_new(struct turns *turns);
struct loaders *loaders_free(struct loaders *loaders);

struct loader {
    const char *name;
    /* OK with the document; ERR_NOTFOUND when the source has nothing better (read the page);
     * ERR_FAILED with `*why` set to words for a note (the page is read first); ERR_CANCELLED,
     * ERR_DEADLINE. */
    int (*load)(struct call *call, const struct url *url, struct document *document,
                const char **why);
};

/* The loader for a URL, or NULL: an ordinary page. */
const struct loader *loader_for(const struct url *url);

/* By what came, not by where it came from: OK with the document for a body that is a PDF, a
 * packed document, plain text, JSON, Markdown or a feed; ERR_NOTFOUND for HTML and what nobody
 * reads, which `*why` may name; ERR_FAILED with `*why`. With `all`, nothing is left out. */
MUST_CHECK int load_by_content(struct call *call, const struct source_response *response, bool all,
                               struct document *document, const char **why);

#endif
