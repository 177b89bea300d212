/* Parallel (https://docs.parallel.ai/integrations/mcp/search-mcp): POST /mcp, the tool web_search
 * with {objective, search_queries}: what is wanted, and keywords to look for. Its text is JSON:
 * {results: [{url, title, publish_date, excerpts}]}. It takes no number of results. */
#include "core/status.h"
#include "text/text.h"
#include "websearch/open/sources.h"

#include <string.h>

#define LONGEST_KEYWORDS 200 /* characters */

/* With the sites where they fit; the objective has the whole text anyway. */
static const char *keywords(struct provider_request *request)
{
    bool cut;
    const char *words = query_with_sites(request->arena, request->query);
    return words && text_count(words, strlen(words)) > LONGEST_KEYWORDS
               ? query_clip(request->arena, request->query->text, LONGEST_KEYWORDS, &cut)
               : words;
}

static int build(struct provider_request *request)
{
    const char *words = keywords(request);
    tool_call_start(request, "web_search");
    provider_put(request, "objective", request->query->text);
    provider_put_list(request, "search_queries", &words, 1);
    source_one_page(request, LIMIT_SEARCH_HITS);
    source_lacks(request, LACKS_TIME | LACKS_LANGUAGE | LACKS_REGION);
    return words ? OK : ERR_NOMEM;
}

static const struct hit_shape SHAPE = {NULL, "title", "url", "excerpts", "publish_date", NULL};

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    (void)query;
    return source_add_list(hits, yyjson_obj_get(tool_call_object(arena, body, length), "results"),
                           &SHAPE, NULL);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {20, 60000}}, .at_once = 2},
    .shared = true,
};

const struct provider SOURCE_PARALLEL = {
    .name = "parallel",
    .title = "Parallel",
    .base_variable = "PARALLEL_BASE_URL",
    TOOL_CALL,
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/mcp"},
    .build = build,
    .read = read_answer,
};
