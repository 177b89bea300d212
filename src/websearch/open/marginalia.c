/* Marginalia (https://about.marginalia-search.com/article/api/): GET /search with query and count,
 * and the key "public", which everybody shares: when it is spent, the answer is 503. An index of
 * small and personal sites; a query may have one site in it. */
#include "core/status.h"
#include "websearch/open/sources.h"

#define MOST_RESULTS 100

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    bool one = query->site_count == 1;
    const char *text =
        one ? arena_printf(request->arena, "%s site:%s", query->text, query->sites[0])
            : query->text;
    provider_header(request, "API-Key", "public");
    provider_put(request, "query", text);
    provider_put_number(request, "count", provider_count_up_to(request, MOST_RESULTS));
    bool told = one && !query->exclude_site_count;
    source_lacks(request, (told ? 0 : LACKS_SITES) | LACKS_TIME | LACKS_LANGUAGE | LACKS_REGION);
    return text ? OK : ERR_NOMEM;
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {20, 60000}}, .at_once = 1},
    .shared = true,
    .contact = CONTACT_WELCOME,
    .attribution = "Marginalia Search: results under CC BY-NC-SA 4.0",
};

const struct provider SOURCE_MARGINALIA = {
    .name = "marginalia",
    .title = "Marginalia",
    .base_variable = "MARGINALIA_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/search"},
    .shapes = {[SEARCH_WEB] = {"results", "title", "url", "description", NULL, NULL}},
    .build = build,
};
