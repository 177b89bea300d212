/* SearXNG (https://docs.searxng.org/dev/search_api.html): GET /search with q, format=json,
 * categories, language, time_range, pageno. It asks many engines, which read "site:" each in its
 * way. An instance answers in JSON only when its settings say so. */
#include "websearch/provider.h"

#include "core/status.h"

#include <string.h>

static const char *const CATEGORIES[] = {
    [SEARCH_WEB] = "general",
    [SEARCH_NEWS] = "news",
    [SEARCH_SCHOLAR] = "science",
    [SEARCH_IMAGES] = "images",
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
    if (query->region && !query_language_region(query->language)) {
        return arena_printf(request->arena, "%s-%s", query->language, query->region);
    }
    return query->language;
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    struct buf url;
    buf_init(&url, LIMIT_SEARCH_REQUEST_BYTES);
    const char *text = query_with_sites(request->arena, query);
    if (!text) {
        return ERR_NOMEM;
    }
    buf_printf(&url, "%s/search?format=json", request->base);
    query_put(&url, "q", text);
    query_put(&url, "categories", CATEGORIES[query->type]);
    query_put(&url, "language", locale(request));
    query_put(&url, "time_range", SEARCH_FRESHNESS_WORDS[query->freshness]);
    if (query->start_date || query->end_date) {
        provider_left_out(request, "start_date and end_date: SearXNG has only freshness");
    }
    if (query->page > 1) {
        buf_printf(&url, "&pageno=%u", query->page);
    }
    request->url = buf_error(&url) ? NULL : arena_strndup(request->arena, url.data, url.length);
    buf_done(&url);
    return request->url ? OK : ERR_NOMEM;
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
    static const struct hit_keys KEYS = {"title", "url", "content", "publishedDate", NULL};
    static const struct hit_keys IMAGE_KEYS = {"title", "url", "content", "publishedDate",
                                               "img_src"};
    int status = hits_add_all(hits, yyjson_obj_get(answer, "results"),
                              query->type == SEARCH_IMAGES ? &IMAGE_KEYS : &KEYS);
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
    .build = build,
    .parse = parse,
};
