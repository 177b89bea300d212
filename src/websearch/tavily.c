/* Tavily (https://tavily.com): POST /search with {query, max_results, topic, time_range,
 * start_date, end_date, include_domains, exclude_domains, country}, as the vendor's client
 * @tavily/core sends them. A country is a full name and counts only for the general topic. */
#include "core/status.h"
#include "websearch/provider.h"
#include "world/world.h"

#define LONGEST_QUERY 400 /* characters; a longer one is HTTP 400 */
#define MOST_RESULTS  20

static const char *country(struct provider_request *request)
{
    const char *region = request->query->region;
    if (region && request->query->type == SEARCH_NEWS) {
        provider_left_out(request, "region: Tavily has countries only for type web");
        return NULL;
    }
    const char *name = region ? country_for_tavily(request->arena, region) : NULL;
    if (region && !name) {
        provider_left_out(request, "region: Tavily does not know the country %s", region);
    }
    return name;
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    bool cut = false;
    provider_put(request, "query", query_clip(request->arena, query->text, LONGEST_QUERY, &cut));
    if (cut) {
        provider_left_out(request, "query: Tavily takes %d characters; the rest was dropped",
                          LONGEST_QUERY);
    }
    provider_put_number(request, "max_results", provider_count_up_to(request, MOST_RESULTS));
    provider_put(request, "search_depth", "basic");
    provider_put(request, "topic", query->type == SEARCH_NEWS ? "news" : "general");
    provider_check_type(request);
    provider_put(request, "time_range", SEARCH_FRESHNESS_WORDS[query->freshness]);
    provider_put(request, "start_date", query->start_date);
    provider_put(request, "end_date", query->end_date);
    provider_put(request, "country", country(request));
    if (query->language) {
        provider_left_out(request, "language: Tavily is not asked for one");
    }
    provider_put_list(request, "include_domains", query->sites, query->site_count);
    provider_put_list(request, "exclude_domains", query->exclude_sites, query->exclude_site_count);
    return OK;
}

const struct provider PROVIDER_TAVILY = {
    .name = "tavily",
    .title = "Tavily",
    .key_variable = "TAVILY_API_KEY",
    .base_variable = "TAVILY_BASE_URL",
    .key_header = "Authorization",
    .posts = true,
    .paths = {[EVERY_TYPE] = "/search"},
    .lacks = {[SEARCH_SCHOLAR] = true, [SEARCH_IMAGES] = true, [SEARCH_CODE] = true},
    .shapes = {[EVERY_TYPE] = {"results", "title", "url", "content", "published_date", NULL}},
    .build = build,
};
