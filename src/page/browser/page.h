/* One page in the browser: a context of its own, the page loaded and left to its scripts until it
 * rests, its document read, the context thrown away. */
#ifndef FORAGE_PAGE_BROWSER_PAGE_H
#define FORAGE_PAGE_BROWSER_PAGE_H

#include "core/id.h"
#include "page/browser/browser.h"
#include "page/browser/protocol.h"

/* What a page needs of the browser. The proxy's secrets are copies: a browser that dies takes its
 * proxy with it, while the page's thread still looks at them. */
struct tab {
    struct channel *channel;
    char password[ID_SECRET_SIZE]; /* of the proxy */
    char mark[ID_SECRET_SIZE];     /* of the proxy's own refusals */
};

/* As browser_render(), and ERR_CLOSED when the browser is gone. */
MUST_CHECK int page_render(struct call *call, const struct tab *tab, const char *url,
                           struct browser_page *page);

#endif
