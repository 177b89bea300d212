/* Mwmbl (https://developer.mwmbl.org): GET /api/v2/search/ with q. A small index, crawled by
 * volunteers of a non-profit. */
#include "core/status.h"
#include "websearch/open/sources.h"

static int build(struct provider_request *request)
{
    provider_put(request, "q", request->query->text);
    source_one_page(request, LIMIT_SEARCH_HITS);
    source_lacks(request, LACKS_SITES | LACKS_TIME | LACKS_LANGUAGE | LACKS_REGION);
    return OK;
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {33, 86400000}}, .at_once = 1}, /* a thousand a month */
    .attribution = "Mwmbl: results under CC BY-NC-SA 4.0",
};

const struct provider SOURCE_MWMBL = {
    .name = "mwmbl",
    .title = "Mwmbl",
    .base_variable = "MWMBL_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/api/v2/search/"},
    .shapes = {[SEARCH_WEB] = {"results", "title", "url", "content", NULL, NULL}},
    .build = build,
};
