/* You.com (https://you.com/docs): POST /mcp?profile=free, the tool you-search with {query, count,
 * freshness}; the free profile takes no more. It answers {results: {web: [{url, title, description,
 * snippets, page_age}]}}, as a stream of events; nothing found is an object without `web`. */
#include "core/status.h"
#include "websearch/open/sources.h"

#define MOST_RESULTS 20

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *text = query_with_sites(request->arena, query);
    tool_call_start(request, "you-search");
    provider_put(request, "query", text);
    provider_put_number(request, "count", provider_count_up_to(request, MOST_RESULTS));
    provider_put(request, "freshness", SEARCH_FRESHNESS_WORDS[query->freshness]);
    source_lacks(request, LACKS_DATES | LACKS_LANGUAGE | LACKS_REGION);
    return text ? OK : ERR_NOMEM;
}

static const struct hit_shape SHAPE = {NULL, "title", "url", "description", "page_age", NULL};

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    (void)query;
    yyjson_val *results = yyjson_obj_get(tool_call_object(arena, body, length), "results");
    yyjson_val *web = yyjson_obj_get(results, "web");
    bool nothing = yyjson_is_obj(results) && !web;
    return nothing ? OK : source_add_list(hits, web, &SHAPE, "snippets");
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {100, 86400000}}, .at_once = 1},
};

const struct provider SOURCE_YOU = {
    .name = "you",
    .title = "You.com",
    .base_variable = "YOU_BASE_URL",
    TOOL_CALL,
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/mcp?profile=free"},
    .build = build,
    .read = read_answer,
};
