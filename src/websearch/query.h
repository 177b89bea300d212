/* What is searched for: one text, and how the results are narrowed. All of it has been checked. */
#ifndef FORAGE_WEBSEARCH_QUERY_H
#define FORAGE_WEBSEARCH_QUERY_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/limits.h"

#include <stdbool.h>
#include <stddef.h>

enum search_type {
    SEARCH_WEB,
    SEARCH_NEWS,
    SEARCH_SCHOLAR,
    SEARCH_IMAGES,
    SEARCH_CODE,
    SEARCH_TYPES
};
enum search_freshness { FRESH_ANY, FRESH_DAY, FRESH_WEEK, FRESH_MONTH, FRESH_YEAR };

struct search_query {
    const char *text;
    size_t count;  /* results wanted */
    size_t enough; /* of them, where fewer will do: the rest is for merging; 0: all of them */
    unsigned page; /* from 1 */
    enum search_type type;
    enum search_freshness freshness;
    const char *start_date, *end_date; /* YYYY-MM-DD, both included; NULL: open */
    const char *region;                /* ISO 3166-1 alpha-2 in capitals, or NULL */
    const char *language;              /* "en", "pt-BR", or NULL */
    const char *sites[LIMIT_SEARCH_SITES];
    size_t site_count;
    const char *exclude_sites[LIMIT_SEARCH_SITES];
    size_t exclude_site_count;
};

/* The words of JSON, in the order of the enumerations. */
extern const char *const SEARCH_TYPE_WORDS[];
extern const char *const SEARCH_FRESHNESS_WORDS[]; /* FRESH_ANY has NULL */

/* The text with "(site:a OR site:b) -site:c" where sites are given. NULL without memory. */
const char *query_with_sites(struct arena *arena, const struct search_query *query);
/* The first `most` code points, cut at a blank where there is one; `cut` says whether it was. NULL
 * without memory. */
const char *query_clip(struct arena *arena, const char *text, size_t most, bool *cut);
/* Whether a link may be shown: on one of the sites wanted, on none of those excluded. */
bool query_allows(struct arena *arena, const struct search_query *query, const char *link);
/* Appends "&name=value", percent-encoded; nothing when the value is NULL. */
void query_put(struct buf *url, const char *name, const char *value);
/* Whether it is a date of the calendar, written YYYY-MM-DD. */
bool query_is_date(const char *text);
/* The date so many days before today, in UTC. NULL without memory. */
const char *query_days_ago(struct arena *arena, int days);
/* The first day that results may be of, whichever way it was asked for; NULL: any. */
const char *query_since(struct arena *arena, const struct search_query *query);
/* Google's word for the time that is wanted, "qdr:w"; NULL: any, or no memory. */
const char *query_google_time(struct arena *arena, const struct search_query *query);

#endif
