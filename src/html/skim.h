/* Reading on without reading: the source of programs and style sheets, half of the bytes of most
 * pages, is no text, and nothing here looks at it. */
#ifndef FORAGE_HTML_SKIM_H
#define FORAGE_HTML_SKIM_H

#include <lexbor/html/html.h>
#include <stdbool.h>

/* Whether it is a script that browsers would run. Those of other types carry data and formulas. */
bool skim_is_program(const lxb_dom_node_t *node);
/* To be called after each token: where it opened such an element, the tokenizer goes on at its end,
 * and the element stays empty. Whether it did. */
bool skim_unread(lxb_html_tokenizer_t *tokenizer, const lxb_html_tree_t *tree);

#endif
