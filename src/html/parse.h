/* Bytes to a tree, with ceilings: what is deeper than LIMIT_PAGE_DEPTH is hung beside instead of
 * below, and a tree that grows beyond LIMIT_PAGE_TREE_BYTES ends there and says so. */
#ifndef FORAGE_HTML_PARSE_H
#define FORAGE_HTML_PARSE_H

#include "html/page.h"

/* Sets document, body, base and cut of the page from UTF-8. The tree lives until
 * parse_done(). A status: OK, ERR_NOMEM, or ERR_INVALID without a
 * body. */
MUST_CHECK int parse_html(struct page *page, const char *bytes, size_t length);
void parse_done(struct page *page);

#endif
