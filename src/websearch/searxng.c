/* SearXNG (https://docs.searxng.org/dev/search_api.html): GET /search with q, format=json,
 * categories, language, time_range, pageno. It asks many engines, which read "site:" each in its
 * way. An instance answers in JSON only when its settings say so. */
#include "core/status.h"
#include "websearch/provider.h"

#include <string.h>

static const char *const CATEGORIES[] = {
    [SEARCH_WEB] = "general",   [SEARCH_NEWS] = "news", [SEARCH_SCHOLAR] = "science",
    [SEARCH_IMAGES] = "images", [SEARCH_CODE] = "it",
};

/* "de", or "de-AT" where a country is given too. A country alone has no word. */
static const char *locale(struct provider_request *request)
{
    const struct search_query *query = request->query;
    if (!query->language) {
        if (query->region) {
            provider_left_out(request, "region: SearXNG wants a language with it");
        }
        return NULL;
    }
    if (query->region && !strchr(query->language, '-')) {
        return arena_printf(request->arena, "%s-%s", query->language, query->region);
    }
    return query->language;
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *text = query_with_sites(request->arena, query);
    provider_put(request, "format", "json");
    provider_put(request, "q", text);
    provider_put(request, "categories", CATEGORIES[query->type]);
    provider_put(request, "language", locale(request));
    provider_put(request, "time_range", SEARCH_FRESHNESS_WORDS[query->freshness]);
    if (query->start_date || query->end_date) {
        provider_left_out(request, "start_date and end_date: SearXNG has only freshness");
    }
    if (query->page > 1) {
        provider_put_number(request, "pageno", query->page);
    }
    return text ? OK : ERR_NOMEM;
}

/* An answer without results whose engines did not answer is worth a word: [[name, reason], ...]. */
static const char *say_unresponsive(struct arena *arena, yyjson_val *engines)
{
    struct buf words;
    buf_init(&words, 512);
    buf_puts(&words, "engines that did not answer SearXNG:");
    size_t index, max;
    yyjson_val *engine;
    yyjson_arr_foreach(engines, index, max, engine)
    {
        const char *name = yyjson_get_str(yyjson_arr_get_first(engine));
        if (name && strlen(name) < 64) {
            buf_printf(&words, "%s %s", index ? "," : "", name);
        }
    }
    /* What does not fit is left out. */
    const char *text = words.data ? arena_strndup(arena, words.data, words.length) : NULL;
    buf_done(&words);
    return text;
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    const char *image = query->type == SEARCH_IMAGES ? "img_src" : NULL;
    struct hit_shape shape = {"results", "title", "url", "content", "publishedDate", image};
    int status = hits_add_all(hits, answer, &shape);
    yyjson_val *unresponsive = yyjson_obj_get(answer, "unresponsive_engines");
    if (status == OK && !hits->count && yyjson_arr_size(unresponsive)) {
        hits->remark = say_unresponsive(arena, unresponsive);
    }
    return status;
}

const struct provider PROVIDER_SEARXNG = {
    .name = "searxng",
    .title = "SearXNG",
    .base_variable = "SEARXNG_BASE_URL",
    .json_refused = "the instance does not answer in JSON: add json to search.formats in its "
                    "settings.yml",
    .paths = {[EVERY_TYPE] = "/search"},
    .build = build,
    .parse = parse,
};
