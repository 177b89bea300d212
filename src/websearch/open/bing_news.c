/* Bing News (https://www.bing.com/news): GET /news/search with q, format=rss, mkt and qft; the
 * answer is RSS. Its links lead through Bing and hold the page's own address. */
#include "core/status.h"
#include "text/url.h"
#include "websearch/open/sources.h"

#include <string.h>

#define MOST_RESULTS 10

static void put_market(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *language = query->language ? query->language : "en";
    const char *country = query_country(query);
    if (country) {
        provider_put(request, "mkt",
                     arena_printf(request->arena, "%.*s-%s", (int)strcspn(language, "-"), language,
                                  country));
    } else if (query->language) {
        provider_left_out(request, "language: Bing News has none without a region");
    }
}

static void put_time(struct provider_request *request)
{
    static const char *const SPANS[] = {[FRESH_DAY] = "interval=\"7\"",
                                        [FRESH_WEEK] = "interval=\"8\"",
                                        [FRESH_MONTH] = "interval=\"9\"",
                                        [FRESH_YEAR] = NULL};
    const char *span = SPANS[request->query->freshness];
    provider_put(request, "qft", span);
    source_lacks(request, span ? 0 : LACKS_TIME);
}

static int build(struct provider_request *request)
{
    const char *text = query_with_sites(request->arena, request->query);
    provider_put(request, "q", text);
    provider_put(request, "format", "rss");
    put_market(request);
    put_time(request);
    provider_count_up_to(request, MOST_RESULTS);
    return text ? OK : ERR_NOMEM;
}

/* The page's own address, which the link has as a parameter. */
static const char *own_address(struct arena *arena, const char *link)
{
    const char *at = strstr(link, "/news/apiclick.aspx?");
    at = at ? strstr(at, "&url=") : NULL;
    if (!at) {
        return link;
    }
    at += strlen("&url=");
    const char *address = url_decode(arena, at, strcspn(at, "&"), NULL);
    return address && strncmp(address, "http", 4) == 0 ? address : link;
}

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    int status = feed_hits(arena, body, length, query, true, hits);
    for (size_t i = 0; status == OK && i < hits->count; i++) {
        hits->items[i].link = own_address(arena, hits->items[i].link);
    }
    return status;
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {20, 60000}}, .at_once = 1},
    .shared = true,
    .index = "bing",
};

const struct provider SOURCE_BING_NEWS = {
    .name = "bing-news",
    .title = "Bing News",
    .base_variable = "BING_NEWS_BASE_URL",
    .accept = "application/rss+xml",
    .open = &TERMS,
    .paths = {[SEARCH_NEWS] = "/news/search"},
    .build = build,
    .read = read_answer,
};
