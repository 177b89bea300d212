/* What the words in an element's class and id say about it: "navbar", "sidebar",
 * "related-posts". Words only hint; clean.c and kind.c weigh them against the text that is really
 * there. */
#ifndef FORAGE_PAGE_HTML_CHOOSE_HINTS_H
#define FORAGE_PAGE_HTML_CHOOSE_HINTS_H

#include <stddef.h>
#include <stdint.h>

/* Not content, wherever it stands */
#define HINT_NAVIGATION (UINT64_C(1) << 0)
#define HINT_FOOTER     (UINT64_C(1) << 1)
#define HINT_HEADER     (UINT64_C(1) << 2)
#define HINT_SIDEBAR    (UINT64_C(1) << 3)
#define HINT_RELATED    (UINT64_C(1) << 4)
#define HINT_SHARE      (UINT64_C(1) << 5)
#define HINT_ADVERT     (UINT64_C(1) << 6)
#define HINT_COOKIE     (UINT64_C(1) << 7)
#define HINT_NEWSLETTER (UINT64_C(1) << 8)
#define HINT_POPUP      (UINT64_C(1) << 9)
#define HINT_PAGER      (UINT64_C(1) << 10)
#define HINT_ACCOUNT    (UINT64_C(1) << 11) /* cart, wishlist, login */
#define HINT_UNSEEN     (UINT64_C(1) << 12) /* for screen readers only */
#define HINT_FILTER     (UINT64_C(1) << 13) /* facets, sorting, toolbars */
#define HINT_BREADCRUMB (UINT64_C(1) << 14)
#define HINT_SEARCH     (UINT64_C(1) << 15)
/* Content on some kinds of pages */
#define HINT_COMMENT   (UINT64_C(1) << 16)
#define HINT_BYLINE    (UINT64_C(1) << 17)
#define HINT_BIOGRAPHY (UINT64_C(1) << 18)
#define HINT_TAGS      (UINT64_C(1) << 19)
#define HINT_REVIEW    (UINT64_C(1) << 20)
#define HINT_POST      (UINT64_C(1) << 21)
#define HINT_CAPTION   (UINT64_C(1) << 22)
#define HINT_SIGNATURE (UINT64_C(1) << 23)
#define HINT_POSTER    (UINT64_C(1) << 24) /* rank, badges and counts of who wrote a post */
#define HINT_ACTION    (UINT64_C(1) << 25) /* calls to action, buttons, controls */
#define HINT_PANEL     (UINT64_C(1) << 26) /* a part that a click opens: tabs, accordions */
#define HINT_QUOTE     (UINT64_C(1) << 27) /* of another post */
/* Content, whatever else it is called */
#define HINT_FORMULA (UINT64_C(1) << 28)

/* All hints of the words in `text`, an attribute's value: separated by anything but letters, or by
 * camel case. Two or three words in a row also count as one, so that "side-bar" and "sideBar" are
 * "sidebar".
 */
uint64_t hints_of(const unsigned char *text, size_t length);

#endif
