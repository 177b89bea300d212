/* Which documents of a view a search may find. */
#ifndef FORAGE_INDEX_FILTER_H
#define FORAGE_INDEX_FILTER_H

#include "index/index.h"
#include "index/view.h"

/* The names of the filter are looked up once in each segment, so that a document costs a few
 * comparisons. NULL without memory. */
struct index_sieve *filter_new(struct arena *arena, const struct view *view,
                               const struct index_filter *wanted);
bool filter_passes(const struct index_sieve *filter, uint32_t part, uint32_t document);
/* What has expired is not there. */
bool filter_expired(const struct index_sieve *filter, uint32_t part, uint32_t document);

#endif
