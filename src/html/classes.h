/* What the class of an element says. A page has few classes, and each of them on many elements: the
 * words of one are looked up once. */
#ifndef FORAGE_HTML_CLASSES_H
#define FORAGE_HTML_CLASSES_H

#include "html/page.h"

struct class_facts {
    uint32_t hints;  /* of choose/hints.h */
    uint32_t shape;  /* a number for its tag and its first word: what its likes have in common */
    bool unreadable; /* style sheets of all makers hide it from eyes */
};

/* Has a page remember its classes. Where there is no memory it does without. */
void classes_remember(struct page *page);
/* What an element with this class is. */
struct class_facts class_facts(const struct page *page, const lxb_dom_node_t *element,
                               const char *class, size_t length);
/* The hints of an element's class and id. */
uint32_t hints_of_names(const struct page *page, const lxb_dom_node_t *element);
/* The shape of an element without one. */
uint32_t shape_of_tag(const lxb_dom_node_t *element);

#endif
