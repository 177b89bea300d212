/* What searching and answering both know of the world: countries, and which parts of an address say
 * nothing about the page. The tables are text files under data/. Pure. */
#ifndef FORAGE_WORLD_WORLD_H
#define FORAGE_WORLD_WORLD_H

#include "core/arena.h"
#include "core/status.h"

#include <stddef.h>

/* ---- countries by their ISO 3166-1 codes (data/countries.txt) ---- */

/* The name of the country with a code, in any case of letters; NULL when there is none. */
const char *country_name(const char *code);
/* The code in capitals, given in any case of letters; "UK" is what everybody writes for GB. NULL
 * when there is none, or no memory. */
const char *country_code(struct arena *arena, const char *text);
/* The name by which Tavily knows the country with a code in capitals; NULL when it does not. */
const char *country_for_tavily(struct arena *arena, const char *code);

/* ---- tracking parameters (data/tracking-parameters.txt) ---- */

/* A piece of a text that goes. */
struct cut {
    size_t start, end; /* in bytes */
};

struct cuts {
    struct cut *items; /* in order, apart from each other */
    size_t count;
};

/* `url` without its tracking parameters, everything else letter by letter as it is spelled; NULL
 * without memory. */
char *tracking_strip(struct arena *arena, const char *url);
/* What has to go from every http and https URL in a text. OK or ERR_NOMEM. */
MUST_CHECK int tracking_find(struct arena *arena, const char *text, size_t length,
                             struct cuts *cuts);
/* The text without the pieces; NULL without memory. */
char *cuts_apply(struct arena *arena, const char *text, size_t length, const struct cuts *cuts,
                 size_t *left);
/* Where a position of the whole text is in what is left. */
size_t cuts_map(const struct cuts *cuts, size_t position);

/* ---- one spelling for all addresses of one page ---- */

/* Without scheme, "www.", fragment, parameters that only track, and a slash at the end, so that a
 * page found twice is shown once. It is for comparing, not for fetching. What is no URL is its own
 * spelling. NULL without memory. */
const char *canonical_url(struct arena *arena, const char *link);

#endif
