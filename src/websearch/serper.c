/* Serper (https://serper.dev): Google's results. POST /search, /news, /scholar or /images with
 * {q, num, gl, hl, tbs, page}; the results are under a name of their own for each. */
#include "core/status.h"
#include "websearch/provider.h"

#include <ctype.h>

static const char *lower_case(struct arena *arena, const char *text)
{
    char *copy = text ? arena_strdup(arena, text) : NULL;
    for (char *at = copy; at && *at; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    return copy;
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *text = query_with_sites(request->arena, query);
    const char *time = query_google_time(request->arena, query);
    provider_check_type(request);
    if (time && query->type == SEARCH_SCHOLAR) {
        provider_left_out(request, "freshness and dates: Serper has none for scholar");
        time = NULL;
    }
    provider_put(request, "q", text);
    provider_put_number(request, "num", query->count);
    provider_put(request, "gl", lower_case(request->arena, query->region));
    provider_put(request, "hl", lower_case(request->arena, query->language));
    provider_put(request, "tbs", time);
    if (query->page > 1) {
        provider_put_number(request, "page", query->page);
    }
    return text ? OK : ERR_NOMEM;
}

const struct provider PROVIDER_SERPER = {
    .name = "serper",
    .title = "Serper",
    .key_variable = "SERPER_API_KEY",
    .base_variable = "SERPER_BASE_URL",
    .key_header = "X-API-KEY",
    .spent = "Not enough credits", /* with 400 */
    .posts = true,
    .paths = {"/search", "/news", "/scholar", "/images", "/search"},
    .lacks = {[SEARCH_CODE] = true},
    .shapes = {{"organic", "title", "link", "snippet", "date", NULL},
               {"news", "title", "link", "snippet", "date", NULL},
               {"organic", "title", "link", "snippet", "year", NULL},
               {"images", "title", "link", "source", NULL, "imageUrl"},
               {"organic", "title", "link", "snippet", "date", NULL}},
    .empty = "searchParameters",
    .build = build,
};
