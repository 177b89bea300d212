/* Exa (https://docs.exa.ai): POST /search with {query, numResults, category, includeDomains,
 * excludeDomains, startPublishedDate, endPublishedDate, userLocation, contents}, as the vendor's
 * client exa-js sends them. A little of each page's text is its snippet. */
#include "core/status.h"
#include "websearch/provider.h"

#define MOST_RESULTS  100
#define SNIPPET_CHARS 500

static const char *const CATEGORIES[SEARCH_TYPES] = {
    [SEARCH_NEWS] = "news", [SEARCH_SCHOLAR] = "publication"};

static const char *time_of(struct provider_request *request, const char *date, const char *time)
{
    return date ? arena_printf(request->arena, "%sT%sZ", date, time) : NULL;
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *start = query_since(request->arena, query);
    provider_put(request, "query", query->text);
    provider_put_number(request, "numResults", provider_count_up_to(request, MOST_RESULTS));
    provider_put(request, "category", CATEGORIES[query->type]);
    provider_check_type(request);
    if (query->language) {
        provider_left_out(request, "language: Exa has none");
    }
    provider_put(request, "startPublishedDate", time_of(request, start, "00:00:00.000"));
    provider_put(request, "endPublishedDate", time_of(request, query->end_date, "23:59:59.999"));
    provider_put(request, "userLocation", query->region);
    provider_put_list(request, "includeDomains", query->sites, query->site_count);
    provider_put_list(request, "excludeDomains", query->exclude_sites, query->exclude_site_count);
    yyjson_mut_val *contents = yyjson_mut_obj_add_obj(request->doc, request->members, "contents");
    yyjson_mut_val *text = yyjson_mut_obj_add_obj(request->doc, contents, "text");
    yyjson_mut_obj_add_uint(request->doc, text, "maxCharacters", SNIPPET_CHARS);
    return OK;
}

const struct provider PROVIDER_EXA = {
    .name = "exa",
    .title = "Exa",
    .key_variable = "EXA_API_KEY",
    .base_variable = "EXA_BASE_URL",
    .key_header = "x-api-key",
    .posts = true,
    .paths = {[EVERY_TYPE] = "/search"},
    .lacks = {[SEARCH_IMAGES] = true, [SEARCH_CODE] = true},
    .shapes = {[EVERY_TYPE] = {"results", "title", "url", "text", "publishedDate", NULL}},
    .build = build,
};
