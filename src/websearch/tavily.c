/* Tavily (https://tavily.com): POST /search with {query, max_results, topic, time_range,
 * start_date, end_date, include_domains, exclude_domains, country}, as the vendor's client
 * @tavily/core sends them. A country is a full name and counts only for the general topic. */
#include "websearch/provider.h"

#include "core/status.h"
#include "websearch/tavily_countries.h"

#define LONGEST_QUERY 400 /* characters; a longer one is HTTP 400 */
#define MOST_RESULTS  20

static void add_country(struct provider_request *request, yyjson_mut_doc *doc, yyjson_mut_val *body)
{
    const struct search_query *query = request->query;
    if (!query->region) {
        return;
    }
    const char *name = tavily_country(query->region);
    if (query->type == SEARCH_NEWS) {
        provider_left_out(request, "region: Tavily has countries only for type web");
    } else if (!name) {
        provider_left_out(request, "region: Tavily does not know the country %s", query->region);
    } else {
        yyjson_mut_obj_add_str(doc, body, "country", name);
    }
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    bool cut = false;
    yyjson_mut_doc *doc = json_new(request->arena);
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    json_add_string(doc, body, "query",
                    query_clip(request->arena, query->text, LONGEST_QUERY, &cut));
    if (cut) {
        provider_left_out(request, "query: Tavily takes %d characters; the rest was dropped",
                          LONGEST_QUERY);
    }
    yyjson_mut_obj_add_uint(doc, body, "max_results", provider_count_up_to(request, MOST_RESULTS));
    yyjson_mut_obj_add_str(doc, body, "search_depth", "basic");
    yyjson_mut_obj_add_str(doc, body, "topic", query->type == SEARCH_NEWS ? "news" : "general");
    if (query->type == SEARCH_SCHOLAR || query->type == SEARCH_IMAGES) {
        provider_left_out(request, "type: Tavily has no %s search; these are results of the web",
                          SEARCH_TYPE_WORDS[query->type]);
    }
    json_add_string(doc, body, "time_range", SEARCH_FRESHNESS_WORDS[query->freshness]);
    json_add_string(doc, body, "start_date", query->start_date);
    json_add_string(doc, body, "end_date", query->end_date);
    add_country(request, doc, body);
    if (query->language) {
        provider_left_out(request, "language: Tavily is not asked for one");
    }
    provider_add_list(doc, body, "include_domains", query->sites, query->site_count);
    provider_add_list(doc, body, "exclude_domains", query->exclude_sites,
                      query->exclude_site_count);
    provider_header(request, "Authorization",
                    arena_printf(request->arena, "Bearer %s", request->key), true);
    return provider_post(request, "/search", body);
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    static const struct hit_keys KEYS = {"title", "url", "content", "published_date", NULL};
    (void)arena;
    (void)query;
    return hits_add_all(hits, yyjson_obj_get(answer, "results"), &KEYS);
}

const struct provider PROVIDER_TAVILY = {
    .name = "tavily",
    .title = "Tavily",
    .key_variable = "TAVILY_API_KEY",
    .base_variable = "TAVILY_BASE_URL",
    .build = build,
    .parse = parse,
};
