/* Exa (https://docs.exa.ai): POST /search with {query, numResults, category, includeDomains,
 * excludeDomains, startPublishedDate, endPublishedDate, userLocation, contents}, as the vendor's
 * client exa-js sends them. A little of each page's text is its snippet. */
#include "websearch/provider.h"

#include "core/status.h"

#define MOST_RESULTS  100
#define SNIPPET_CHARS 500

static const char *const CATEGORIES[] = {
    [SEARCH_WEB] = NULL,
    [SEARCH_NEWS] = "news",
    [SEARCH_SCHOLAR] = "publication",
    [SEARCH_IMAGES] = NULL,
};

static void add_dates(struct provider_request *request, yyjson_mut_doc *doc, yyjson_mut_val *body)
{
    const struct search_query *query = request->query;
    const char *start = query->start_date;
    if (query->freshness != FRESH_ANY) {
        start = query_days_ago(request->arena, query_fresh_days(query->freshness));
    }
    if (start) {
        json_add_string(doc, body, "startPublishedDate",
                        arena_printf(request->arena, "%sT00:00:00.000Z", start));
    }
    if (query->end_date) {
        json_add_string(doc, body, "endPublishedDate",
                        arena_printf(request->arena, "%sT23:59:59.999Z", query->end_date));
    }
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    yyjson_mut_doc *doc = json_new(request->arena);
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    json_add_string(doc, body, "query", query->text);
    yyjson_mut_obj_add_uint(doc, body, "numResults", provider_count_up_to(request, MOST_RESULTS));
    json_add_string(doc, body, "category", CATEGORIES[query->type]);
    if (query->type == SEARCH_IMAGES) {
        provider_left_out(request, "type: Exa has no images search; these are results of the web");
    }
    if (query->language) {
        provider_left_out(request, "language: Exa has none");
    }
    add_dates(request, doc, body);
    json_add_string(doc, body, "userLocation", query->region);
    provider_add_list(doc, body, "includeDomains", query->sites, query->site_count);
    provider_add_list(doc, body, "excludeDomains", query->exclude_sites, query->exclude_site_count);
    yyjson_mut_val *contents = yyjson_mut_obj_add_obj(doc, body, "contents");
    yyjson_mut_val *text = yyjson_mut_obj_add_obj(doc, contents, "text");
    yyjson_mut_obj_add_uint(doc, text, "maxCharacters", SNIPPET_CHARS);
    provider_header(request, "x-api-key", request->key, true);
    return provider_post(request, "/search", body);
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    static const struct hit_keys KEYS = {"title", "url", "text", "publishedDate", NULL};
    (void)arena;
    (void)query;
    return hits_add_all(hits, yyjson_obj_get(answer, "results"), &KEYS);
}

const struct provider PROVIDER_EXA = {
    .name = "exa",
    .title = "Exa",
    .key_variable = "EXA_API_KEY",
    .base_variable = "EXA_BASE_URL",
    .build = build,
    .parse = parse,
};
