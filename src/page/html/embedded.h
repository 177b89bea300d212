/* Text that a page carries as data: in JSON-LD, or for scripts that would show it. Only where the
 * page itself says too little. */
#ifndef FORAGE_PAGE_HTML_EMBEDDED_H
#define FORAGE_PAGE_HTML_EMBEDDED_H

#include "page/html/page.h"

/* The text, as HTML in the arena; NULL when the page carries none. */
const char *embedded_text(struct page *page);
/* What JSON-LD says of a product and `markdown` lacks: its description, price and availability; as
 * HTML in the arena, or NULL. */
const char *embedded_product(struct page *page, const char *markdown);

#endif
