/* One page in the browser: a context of its own, the page loaded and left to its scripts until it
 * rests, its document read, the context thrown away. */
#ifndef FORAGE_PAGE_BROWSER_PAGE_H
#define FORAGE_PAGE_BROWSER_PAGE_H

#include "core/id.h"
#include "page/browser/browser.h"
#include "page/browser/protocol.h"

/* What the browser must know of its proxy. */
struct page_proxy {
    char password[ID_SECRET_SIZE];
    char mark[ID_SECRET_SIZE]; /* of the proxy's own refusals */
};

/* As browser_render(), and ERR_CLOSED when the browser is gone. */
int page_render(struct call *call, struct channel *channel, const struct page_proxy *proxy,
                const char *url, struct browser_page *page);

#endif
