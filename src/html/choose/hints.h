/* What words say about an element: those of its class and id ("navbar", "sidebar",
 * "related-posts"), and those that it shows. The words are in data/page-hints.txt and
 * data/page-labels.txt. They only hint; clean.c and kind.c weigh them against the text that is
 * really there. */
#ifndef FORAGE_HTML_CHOOSE_HINTS_H
#define FORAGE_HTML_CHOOSE_HINTS_H

#include <stddef.h>
#include <stdint.h>

/* Not content, wherever it stands */
#define HINT_NAVIGATION (1u << 0)
#define HINT_FOOTER     (1u << 1)
#define HINT_HEADER     (1u << 2)
#define HINT_SIDEBAR    (1u << 3)
#define HINT_RELATED    (1u << 4)
#define HINT_SHARE      (1u << 5)
#define HINT_ADVERT     (1u << 6)
#define HINT_COOKIE     (1u << 7)
#define HINT_NEWSLETTER (1u << 8)
#define HINT_POPUP      (1u << 9)
#define HINT_PAGER      (1u << 10)
#define HINT_ACCOUNT    (1u << 11) /* cart, wishlist, login */
#define HINT_UNSEEN     (1u << 12) /* for screen readers only */
#define HINT_FILTER     (1u << 13) /* facets, sorting, toolbars */
#define HINT_BREADCRUMB (1u << 14)
#define HINT_SEARCH     (1u << 15)
/* Content on some kinds of pages */
#define HINT_COMMENT   (1u << 16)
#define HINT_BYLINE    (1u << 17)
#define HINT_BIOGRAPHY (1u << 18)
#define HINT_TAGS      (1u << 19)
#define HINT_REVIEW    (1u << 20)
#define HINT_POST      (1u << 21)
#define HINT_CAPTION   (1u << 22)
#define HINT_SIGNATURE (1u << 23)
#define HINT_POSTER    (1u << 24) /* rank, badges and counts of who wrote a post */
#define HINT_ACTION    (1u << 25) /* calls to action, buttons, controls */
#define HINT_PANEL     (1u << 26) /* a part that a click opens: tabs, accordions */
#define HINT_QUOTE     (1u << 27) /* of another post */
/* Content, whatever else it is called */
#define HINT_FORMULA (1u << 28)

/* What a block is by its whole text: the classes of data/page-labels.txt ("Related articles",
 * "Share this", "Leave a reply"). */
enum label_effect {
    LABEL_NONE,
    LABEL_SCRAP,   /* the block itself is not content */
    LABEL_SECTION, /* nor is what it heads */
    LABEL_REVIEWS, /* the same, where others say what they think of a product */
    LABEL_DETAIL,  /* what forums say of a person: "Posts: 12" */
};

enum { LONGEST_LABEL = 64 };

/* All hints of the words in `text`, an attribute's value: separated by anything but letters, or by
 * camel case. Two or three words in a row also count as one, so that "side-bar" and "sideBar" are
 * "sidebar".
 */
uint32_t hints_of(const unsigned char *text, size_t length);

#endif
