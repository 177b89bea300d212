/* JSON-LD: what a page says about itself for machines. */
#ifndef FORAGE_PAGE_HTML_JSONLD_H
#define FORAGE_PAGE_HTML_JSONLD_H

#include "page/html/page.h"
#include "text/word_table.h"

/* Reads every script of JSON-LD into page->json_ld: one array of objects, graphs and lists
 * flattened. Stays NULL when there is none that can be read. */
void jsonld_read(struct page *page);
/* The JSON in a script of at most so many bytes; NULL when it cannot be read. */
yyjson_val *jsonld_parse(struct page *page, lxb_dom_node_t *script, size_t most);
/* The least rank that a table gives to a type of the object, by its last word: "NewsArticle" of
 * "https://schema.org/NewsArticle"; 0 when the table knows none of its types. */
uint32_t jsonld_rank(yyjson_val *object, const struct word_table *types);

#endif
