/* Google News (https://news.google.com/rss): GET /rss/search with q, hl, gl and ceid; the answer is
 * RSS. Its links lead to Google, which sends a browser on to the page; where the page is, an item
 * says by its site alone. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>

#define MOST_RESULTS 100

/* "when:7d", or "after:2026-01-31 before:2026-02-28". */
static const char *time_words(struct provider_request *request)
{
    static const char *const SPANS[] = {NULL, " when:1d", " when:7d", " when:1m", " when:1y"};
    const struct search_query *query = request->query;
    if (query->freshness != FRESH_ANY) {
        return SPANS[query->freshness];
    }
    return arena_printf(request->arena, "%s%s%s%s", query->start_date ? " after:" : "",
                        query->start_date ? query->start_date : "",
                        query->end_date ? " before:" : "", query->end_date ? query->end_date : "");
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *text = query_with_sites(request->arena, query);
    const char *time = time_words(request);
    const char *country = query_country(query);
    const char *gl = country ? country : "US";
    const char *hl = query->language ? query->language : "en";
    if (!text || !time) {
        return ERR_NOMEM;
    }
    provider_put(request, "q", arena_printf(request->arena, "%s%s", text, time));
    provider_put(request, "hl", hl);
    provider_put(request, "gl", gl);
    provider_put(request, "ceid",
                 arena_printf(request->arena, "%s:%.*s", gl, (int)strcspn(hl, "-"), hl));
    provider_count_up_to(request, MOST_RESULTS);
    return OK;
}

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    int status = feed_hits(arena, body, length, query, true, hits);
    hits->narrowed = true;
    if (status == OK && hits->count) {
        hits->remark = "Google News gives links that lead through news.google.com to the page";
    }
    return status;
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {20, 60000}}, .at_once = 1},
    .shared = true,
    .index = "google",
};

const struct provider SOURCE_GOOGLE_NEWS = {
    .name = "google-news",
    .title = "Google News",
    .base_variable = "GOOGLE_NEWS_BASE_URL",
    .accept = "application/rss+xml",
    .open = &TERMS,
    .paths = {[SEARCH_NEWS] = "/rss/search"},
    .build = build,
    .read = read_answer,
};
