/* Finding the element that frames the content. */
#ifndef FORAGE_PAGE_HTML_CHOOSE_ROOT_H
#define FORAGE_PAGE_HTML_CHOOSE_ROOT_H

#include "page/html/choose/profile.h"

/* The number of the tightest element that holds nearly all of the page's prose. */
uint32_t root_find(const struct stats *stats, const struct profile *profile);

#endif
