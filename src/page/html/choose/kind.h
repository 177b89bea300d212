/* Deciding what kind of page it is. */
#ifndef FORAGE_PAGE_HTML_CHOOSE_KIND_H
#define FORAGE_PAGE_HTML_CHOOSE_KIND_H

#include "page/html/choose/stats.h"

enum page_kind kind_decide(const struct stats *stats);

#endif
