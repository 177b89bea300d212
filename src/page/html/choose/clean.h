/* Dropping what is not content: navigation, related links, share bars, cookie banners, forms. */
#ifndef FORAGE_PAGE_HTML_CHOOSE_CLEAN_H
#define FORAGE_PAGE_HTML_CHOOSE_CLEAN_H

#include "page/html/choose/profile.h"

/* Drops by tags, roles and names, all over the page. */
void clean_boilerplate(struct stats *stats, const struct profile *profile);
/* Drops what only looks like boilerplate in the content's company: lists of links, scraps at its
 * ends. */
void clean_content(struct stats *stats, const struct profile *profile, uint32_t root);
/* Drops what the content has said before: slides that are there twice, texts for small and for
 * large screens. A status. */
int clean_repeats(struct stats *stats, uint32_t root);

#endif
