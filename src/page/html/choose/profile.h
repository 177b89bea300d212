/* How each kind of page is read: what is left out of it, and how tightly its content is framed. */
#ifndef FORAGE_PAGE_HTML_CHOOSE_PROFILE_H
#define FORAGE_PAGE_HTML_CHOOSE_PROFILE_H

#include "page/html/choose/stats.h"

struct profile {
    uint32_t dropped; /* hints of what is left out */
    /* A child that holds this share of what its parent does is content without the parent. */
    uint8_t descend_percent;
    /* A list with a larger share of links than this is navigation; 0: lists of links are content.
     */
    uint8_t list_percent;
    bool drops_sections; /* under headings such as "Related articles" */
    bool drops_reviews;  /* under headings such as "Customer reviews" */
    bool drops_details;  /* of who wrote a post */
    bool holds_title;    /* the content begins with the page's title, not below it */
};

const struct profile *profile_of(enum page_kind kind);
/* Where that leaves next to nothing. */
const struct profile *profile_loose(void);
/* What is left out before the kind is known. */
const struct profile *profile_of_any(void);

#endif
