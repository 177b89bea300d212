/* Keenable (https://docs.keenable.ai): POST /v1/search/public with {query, mode, max_results, site,
 * published_after, published_before, snippet_max_length}, as the vendor's client keenable sends
 * them. Who asks without a key must say a name (X-Keenable-Title). A snippet is text of the page;
 * where there is none, the page's own description stands for it. */
#include "core/status.h"
#include "websearch/open/sources.h"

#define MOST_RESULTS  50
#define SNIPPET_CHARS 1000

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    bool one = query->site_count == 1 && !query->exclude_site_count;
    provider_header(request, "X-Keenable-Title", "forage");
    provider_put(request, "query", query->text);
    provider_put(request, "mode", "pro");
    provider_put_number(request, "max_results", provider_count_up_to(request, MOST_RESULTS));
    provider_put(request, "site", query->site_count == 1 ? query->sites[0] : NULL);
    provider_put(request, "published_after", query_since(request->arena, query));
    provider_put(request, "published_before", query->end_date);
    provider_put_number(request, "snippet_max_length", SNIPPET_CHARS);
    source_lacks(request, (one ? 0 : LACKS_SITES) | LACKS_LANGUAGE | LACKS_REGION);
    return OK;
}

static const struct hit_shape SHAPE = {NULL, "title", "url", "snippet", "published_at", NULL};

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    (void)arena;
    (void)query;
    return source_add_list(hits, yyjson_obj_get(answer, "results"), &SHAPE, "description");
}

/* Its operator says "a cap an hour" and no number. */
static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {100, 3600000}}, .at_once = 2},
};

const struct provider SOURCE_KEENABLE = {
    .name = "keenable",
    .title = "Keenable",
    .base_variable = "KEENABLE_BASE_URL",
    .posts = true,
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/v1/search/public"},
    .build = build,
    .parse = parse,
};
