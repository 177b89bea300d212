/* Serper (https://serper.dev): Google's results. POST /search, /news, /scholar or /images with
 * {q, num, gl, hl, tbs, page}; the results are under a name of their own for each. */
#include "core/status.h"
#include "websearch/provider.h"

#include <ctype.h>

/* Google writes dates as month/day/year. "" for none. */
static const char *date_words(struct arena *arena, const char *name, const char *date)
{
    return date ? arena_printf(arena, ",%s:%.2s/%.2s/%.4s", name, date + 5, date + 8, date) : "";
}

/* Google's word for a span of time, in the arena; NULL when none was asked for. */
static const char *time_words(struct provider_request *request)
{
    const struct search_query *query = request->query;
    static const char LETTERS[] = {
        [FRESH_DAY] = 'd', [FRESH_WEEK] = 'w', [FRESH_MONTH] = 'm', [FRESH_YEAR] = 'y'};
    if (query->freshness != FRESH_ANY) {
        return arena_printf(request->arena, "qdr:%c", LETTERS[query->freshness]);
    }
    if (!query->start_date && !query->end_date) {
        return NULL;
    }
    return arena_printf(request->arena, "cdr:1%s%s",
                        date_words(request->arena, "cd_min", query->start_date),
                        date_words(request->arena, "cd_max", query->end_date));
}

static const char *lower_case(struct arena *arena, const char *text)
{
    char *copy = text ? arena_strdup(arena, text) : NULL;
    for (char *at = copy; at && *at; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    return copy;
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *text = query_with_sites(request->arena, query);
    const char *time = time_words(request);
    if (time && query->type == SEARCH_SCHOLAR) {
        provider_left_out(request, "freshness and dates: Serper has none for scholar");
        time = NULL;
    }
    provider_put(request, "q", text);
    provider_put_number(request, "num", query->count);
    provider_put(request, "gl", lower_case(request->arena, query->region));
    provider_put(request, "hl", lower_case(request->arena, query->language));
    provider_put(request, "tbs", time);
    if (query->page > 1) {
        provider_put_number(request, "page", query->page);
    }
    return text ? OK : ERR_NOMEM;
}

const struct provider PROVIDER_SERPER = {
    .name = "serper",
    .title = "Serper",
    .key_variable = "SERPER_API_KEY",
    .base_variable = "SERPER_BASE_URL",
    .key_header = "X-API-KEY",
    .posts = true,
    .paths = {"/search", "/news", "/scholar", "/images"},
    .shapes = {{"organic", "title", "link", "snippet", "date", NULL},
               {"news", "title", "link", "snippet", "date", NULL},
               {"organic", "title", "link", "snippet", "year", NULL},
               {"images", "title", "link", "source", NULL, "imageUrl"}},
    .empty = "searchParameters",
    .build = build,
};
