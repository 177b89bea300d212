/* Deciding what kind of page it is. */
#ifndef FORAGE_PAGE_HTML_CHOOSE_KIND_H
#define FORAGE_PAGE_HTML_CHOOSE_KIND_H

#include "page/html/choose/stats.h"

/* Points for a kind as data/page-kinds.txt gives them: four bits for each kind. */
#define POINTS(kind, count) ((uint32_t)(count) << 4 * PAGE_##kind)

enum page_kind kind_decide(const struct stats *stats);

#endif
