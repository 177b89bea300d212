/* What refers to footnotes, found before the notes themselves are. */
#ifndef FORAGE_PAGE_HTML_MARKDOWN_REFERENCES_H
#define FORAGE_PAGE_HTML_MARKDOWN_REFERENCES_H

#include "page/html/markdown/writer.h"

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

struct search {
    struct writer *writer;
    struct reference *references;
    size_t count, size;
};

/* Adds what refers to a note below `root`, in the order of the page. */
void references_find(struct search *search, lxb_dom_node_t *root);

/* Whether an element's names hold one of the hints. */
bool reference_hints(const lxb_dom_node_t *node, const char *const *hints);
/* The mark of a note without its brackets: digits, a letter or a sign. 0 when the text is none. */
size_t reference_mark_in(const char *text, char *mark);

#endif
