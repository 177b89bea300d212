/* One page in the browser: a context of its own, the page loaded and left to its scripts until it
 * rests, its document read, the context thrown away. */
#ifndef FORAGE_BROWSER_PAGE_H
#define FORAGE_BROWSER_PAGE_H

#include "browser/browser.h"
#include "browser/protocol.h"
#include "browser/proxy.h"

/* What a page needs of the browser. The access to the proxy is a copy: a browser that dies takes
 * its proxy with it, while the page's thread still looks at it. */
struct tab {
    struct channel *channel;
    struct proxy_access proxy;
};

/* As browser_render(), and ERR_CLOSED when the browser is gone. */
MUST_CHECK int page_render(struct call *call, const struct tab *tab, const char *url,
                           size_t most_chars, struct browser_page *page);

#endif
