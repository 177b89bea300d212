/* Firecrawl (https://docs.firecrawl.dev/api-reference/endpoint/search): POST /v2/search with
 * {query, limit, tbs, location}, as the vendor's client firecrawl-py sends them without a key. Time
 * and sites are asked for in Google's words. */
#include "core/status.h"
#include "websearch/open/sources.h"
#include "world/world.h"

#define MOST_RESULTS 100

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *text = query_with_sites(request->arena, query);
    provider_put(request, "query", text);
    provider_put_number(request, "limit", provider_count_up_to(request, MOST_RESULTS));
    provider_put(request, "tbs", query_google_time(request->arena, query));
    provider_put(request, "location", query->region ? country_name(query->region) : NULL);
    source_lacks(request, LACKS_LANGUAGE);
    return text ? OK : ERR_NOMEM;
}

static const struct hit_shape SHAPE = {NULL, "title", "url", "description", NULL, NULL};

/* {success: true, data: {web: [...]}}; nothing found is data without web. */
static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    (void)arena;
    (void)query;
    yyjson_val *data = yyjson_obj_get(answer, "data");
    yyjson_val *web = yyjson_obj_get(data, "web");
    if (!yyjson_is_true(yyjson_obj_get(answer, "success")) || !yyjson_is_obj(data)) {
        return ERR_INVALID;
    }
    return web ? source_add_list(hits, web, &SHAPE, NULL) : OK;
}

/* Those of its free plan, which has a key; for who has none it gives no numbers. */
static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {5, 60000}}, .at_once = 1},
};

const struct provider SOURCE_FIRECRAWL = {
    .name = "firecrawl",
    .title = "Firecrawl",
    .base_variable = "FIRECRAWL_BASE_URL",
    .posts = true,
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/v2/search"},
    .build = build,
    .parse = parse,
};
