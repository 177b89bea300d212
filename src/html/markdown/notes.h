/* The parts of a footnote as pages write them: what refers to it, what it is, what is cut off it
 * before it is written. */
#ifndef FORAGE_HTML_MARKDOWN_NOTES_H
#define FORAGE_HTML_MARKDOWN_NOTES_H

#include "html/markdown/writer.h"

#define LONGEST_MARK 12

struct reference {
    lxb_dom_node_t *node;
    const char *target; /* the id of its note; NULL: only its mark tells */
    char mark[LONGEST_MARK];
    lxb_dom_node_t *found; /* the element with that id */
    lxb_dom_node_t *definition;
    size_t order;
    bool likely; /* by itself, whatever it leads to */
};

struct note_search {
    struct writer *writer;
    struct reference *references;
    size_t count, size;
};

/* Adds what refers to a note below `root`, in the order of the page. */
void references_find(struct note_search *search, lxb_dom_node_t *root);

/* Whether an element's names hold one of the hints. */
bool reference_hints(const lxb_dom_node_t *node, const char *const *hints);
/* The mark of a note without its brackets: digits, a letter or a sign. 0 when the text is none. */
size_t reference_mark_in(const char *text, char *mark);

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
/* The title of notes right before an element, past a rule; NULL when there is none. */
lxb_dom_node_t *notes_title_before(const lxb_dom_node_t *node);

#endif
