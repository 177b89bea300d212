/* Serper (https://serper.dev): Google's results. POST /search, /news, /scholar or /images with
 * {q, num, gl, hl, tbs, page}; the results are under a name of their own for each. */
#include "websearch/provider.h"

#include "core/status.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *path;
    const char *list;
    struct hit_keys keys;
} KINDS[] = {
    [SEARCH_WEB] = {"/search", "organic", {"title", "link", "snippet", "date", NULL}},
    [SEARCH_NEWS] = {"/news", "news", {"title", "link", "snippet", "date", NULL}},
    [SEARCH_SCHOLAR] = {"/scholar", "organic", {"title", "link", "snippet", "year", NULL}},
    [SEARCH_IMAGES] = {"/images", "images", {"title", "link", "source", NULL, "imageUrl"}},
};

/* Google writes dates as month/day/year. "" for none. */
static const char *date_words(struct arena *arena, const char *name, const char *date)
{
    return date ? arena_printf(arena, ",%s:%.2s/%.2s/%.4s", name, date + 5, date + 8, date) : "";
}

/* Google's word for a span of time, in the arena; NULL when none was asked for. */
static const char *time_words(struct provider_request *request)
{
    const struct search_query *query = request->query;
    static const char LETTERS[] = {
        [FRESH_DAY] = 'd', [FRESH_WEEK] = 'w', [FRESH_MONTH] = 'm', [FRESH_YEAR] = 'y'};
    if (query->freshness != FRESH_ANY) {
        return arena_printf(request->arena, "qdr:%c", LETTERS[query->freshness]);
    }
    if (!query->start_date && !query->end_date) {
        return NULL;
    }
    return arena_printf(request->arena, "cdr:1%s%s",
                        date_words(request->arena, "cd_min", query->start_date),
                        date_words(request->arena, "cd_max", query->end_date));
}

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
    struct arena *arena = request->arena;
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    const char *text = query_with_sites(arena, query);
    const char *time = time_words(request);
    if (time && query->type == SEARCH_SCHOLAR) {
        provider_left_out(request, "freshness and dates: Serper has none for scholar");
        time = NULL;
    }
    if (!text) {
        return ERR_NOMEM;
    }
    json_add_string(doc, body, "q", text);
    yyjson_mut_obj_add_uint(doc, body, "num", query->count);
    json_add_string(doc, body, "gl", lower_case(arena, query->region));
    json_add_string(doc, body, "hl", lower_case(arena, query->language));
    json_add_string(doc, body, "tbs", time);
    if (query->page > 1) {
        yyjson_mut_obj_add_uint(doc, body, "page", query->page);
    }
    provider_header(request, "X-API-KEY", request->key, true);
    return provider_post(request, KINDS[query->type].path, body);
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    (void)arena;
    yyjson_val *list = yyjson_obj_get(answer, KINDS[query->type].list);
    if (!list && yyjson_is_obj(yyjson_obj_get(answer, "searchParameters"))) {
        return OK; /* nothing was found */
    }
    return hits_add_all(hits, list, &KINDS[query->type].keys);
}

const struct provider PROVIDER_SERPER = {
    .name = "serper",
    .title = "Serper",
    .key_variable = "SERPER_API_KEY",
    .base_variable = "SERPER_BASE_URL",
    .build = build,
    .parse = parse,
};
