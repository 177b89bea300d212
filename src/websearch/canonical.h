/* One spelling for all addresses of one page, so that a page found twice is shown once. */
#ifndef FORAGE_WEBSEARCH_CANONICAL_H
#define FORAGE_WEBSEARCH_CANONICAL_H

#include "core/arena.h"

/* Without scheme, "www.", fragment, parameters that only track, and a slash at the end. It is for
 * comparing, not for fetching. What is no URL is its own spelling. NULL without memory. */
const char *canonical_url(struct arena *arena, const char *link);

#endif
