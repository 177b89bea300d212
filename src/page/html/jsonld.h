/* JSON-LD: what a page says about itself for machines. */
#ifndef FORAGE_PAGE_HTML_JSONLD_H
#define FORAGE_PAGE_HTML_JSONLD_H

#include "page/html/page.h"

/* Reads every script of JSON-LD into page->json_ld: one array of objects, graphs and lists
 * flattened. Stays NULL when there is none that can be read. */
void jsonld_read(struct page *page);
/* The JSON in a script of at most so many bytes; NULL when it cannot be read. */
yyjson_val *jsonld_parse(struct page *page, lxb_dom_node_t *script, size_t most);
/* Whether the object is of the type, by its last word: "NewsArticle" of
 * "https://schema.org/NewsArticle". */
bool jsonld_is(yyjson_val *object, const char *type);

#endif
