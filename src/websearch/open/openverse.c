/* Openverse (https://api.openverse.org/v1): pictures that may be used again. GET /v1/images/ with
 * q, page and page_size. Each result says how its maker wants to be named. */
#include "core/status.h"
#include "websearch/open/sources.h"

#define LONGEST_QUERY 200 /* characters */

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    bool cut = false;
    const char *text = query_clip(request->arena, query->text, LONGEST_QUERY, &cut);
    if (cut) {
        provider_left_out(request, "query: Openverse takes %d characters; the rest was dropped",
                          LONGEST_QUERY);
    }
    provider_put(request, "q", text);
    provider_put_number(request, "page", query->page);
    provider_put_number(request, "page_size", query->count);
    source_lacks(request, LACKS_SITES | LACKS_REGION | LACKS_LANGUAGE | LACKS_TIME);
    return text ? OK : ERR_NOMEM;
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{20, 60000}, {200, 86400000}}, .at_once = 1},
    .attribution = "Openverse: each picture is under the licence that its snippet names",
};

const struct provider SOURCE_OPENVERSE = {
    .name = "openverse",
    .title = "Openverse",
    .base_variable = "OPENVERSE_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_IMAGES] = "/v1/images/"},
    .shapes = {[SEARCH_IMAGES] = {"results", "title", "foreign_landing_url", "attribution", NULL,
                                  "url"}},
    .build = build,
};
