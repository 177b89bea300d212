/* The last search of each unit, for a few minutes and in memory only: enough to tell whether the
 * next one words it anew. Words are kept as numbers that a key of this process makes of them; which
 * words they were nobody can tell. */
#ifndef FORAGE_EXPERIMENT_RECENT_H
#define FORAGE_EXPERIMENT_RECENT_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECENT_WORDS 32 /* of a query, each once; what is beyond is not looked at */

struct recent;

/* NULL without memory. */
struct recent *recent_new(void);
struct recent *recent_free(struct recent *recent);

/* A query as its words. */
struct recent_query {
    uint64_t words[RECENT_WORDS]; /* rising */
    size_t count;
};

/* Adds the words of a text, or of its beginning. OK or ERR_NOMEM. */
MUST_CHECK int recent_add_words(const struct recent *recent, struct recent_query *query,
                                const char *text);
/* Remembers the query as the unit's last one, at this time of the monotonic clock, and says whether
 * it words the one before anew: it has other words, but more than half of those of the shorter one
 * of the two. */
bool recent_take(struct recent *recent, const char *unit, const struct recent_query *query,
                 int64_t now_ms);

#endif
