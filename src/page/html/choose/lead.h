/* The picture that stands over an article, before its text. */
#ifndef FORAGE_PAGE_HTML_CHOOSE_LEAD_H
#define FORAGE_PAGE_HTML_CHOOSE_LEAD_H

#include "page/html/choose/stats.h"

/* Its number; 0 when there is none. */
uint32_t lead_find(struct stats *stats, uint32_t root);

#endif
