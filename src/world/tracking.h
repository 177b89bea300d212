/* Taking out of URLs what only tells where a reader came from: the table is
 * data/tracking-parameters.txt. Everything else of a URL stays as it is spelled, letter by letter.
 *
 * Pure. */
#ifndef FORAGE_WORLD_TRACKING_H
#define FORAGE_WORLD_TRACKING_H

#include "core/arena.h"

#include <stddef.h>

/* A piece of a text that goes. */
struct cut {
    size_t start, end; /* in bytes */
};

struct cuts {
    struct cut *items; /* in order, apart from each other */
    size_t count;
};

/* `url` without its tracking parameters; NULL without memory. */
char *tracking_strip(struct arena *arena, const char *url);
/* What has to go from every http and https URL in a text. OK or ERR_NOMEM. */
int tracking_find(struct arena *arena, const char *text, size_t length, struct cuts *cuts);
/* The text without the pieces; NULL without memory. */
char *cuts_apply(struct arena *arena, const char *text, size_t length, const struct cuts *cuts,
                 size_t *left);
/* Where a position of the whole text is in what is left. */
size_t cuts_map(const struct cuts *cuts, size_t position);

#endif
