/* Notes that no link leads to, and what is cut off a note before it is written. */
#ifndef FORAGE_PAGE_HTML_MARKDOWN_NOTES_H
#define FORAGE_PAGE_HTML_MARKDOWN_NOTES_H

#include "page/html/markdown/writer.h"

/* Whether a number in superscript begins its paragraph: then it marks a note and does not refer to
 * one. */
bool notes_begins_block(const lxb_dom_node_t *reference);
/* The number of the note that a paragraph is: one that it begins with, set apart from its text, and
 * that stands behind a rule or a title of notes where it is only bold. 0 when it is none. */
size_t notes_number(lxb_dom_node_t *block);
/* The list in an element that is called notes; NULL when it is not. */
lxb_dom_node_t *notes_list(lxb_dom_node_t *node);
/* What follows a note and still belongs to it; NULL at its end. */
lxb_dom_node_t *notes_next(lxb_dom_node_t *node);
/* Drops the mark at the beginning and the links back to the text. */
void notes_clean(lxb_dom_node_t *definition);
/* Whether the text is a usual title of notes. */
bool notes_is_title(const lxb_dom_node_t *node);
/* The title of notes right before an element, past a rule; NULL when there is none. */
lxb_dom_node_t *notes_title_before(const lxb_dom_node_t *node);

#endif
