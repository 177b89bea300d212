/* What a page carries as data: JSON-LD, by which it describes itself for machines, and text for
 * scripts that would show it, which counts where the page itself says too little. */
#ifndef FORAGE_HTML_EMBEDDED_H
#define FORAGE_HTML_EMBEDDED_H

#include "html/page.h"
#include "text/word_table.h"

/* Reads every script of JSON-LD into page->json_ld: one array of objects, graphs and lists
 * flattened. Stays NULL when there is none that can be read. */
void jsonld_read(struct page *page);
/* The least rank that a table gives to a type of the object, by its last word: "NewsArticle" of
 * "https://schema.org/NewsArticle"; 0 when the table knows none of its types. */
uint32_t jsonld_rank(yyjson_val *object, const struct word_table *types);

/* The text, as HTML in the arena; NULL when the page carries none. */
const char *embedded_text(struct page *page);
/* What JSON-LD says of a product and `markdown` lacks: its description, price and availability; as
 * HTML in the arena, or NULL. */
const char *embedded_product(struct page *page, const char *markdown);
/* The reviews of the product in JSON-LD, as HTML in the arena; NULL where there are none. */
const char *embedded_reviews(struct page *page);

#endif
