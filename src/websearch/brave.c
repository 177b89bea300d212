/* Brave (https://api-dashboard.search.brave.com/app/documentation): GET /web/search, /news/search
 * or /images/search with q, count, offset, country, search_lang, freshness, as the vendor's own MCP
 * server sends them. Countries and languages are short lists. The free plan allows one search a
 * second. */
#include "core/status.h"
#include "tables.h"
#include "websearch/provider.h"

#include <string.h>

#define LONGEST_QUERY 400 /* characters */
#define MOST_WORDS    50
#define MOST_PAGES    10
#define MOST_IMAGES   100

static const char *country(struct provider_request *request)
{
    const char *region = request->query->region;
    const char *known = region ? words_text(&brave_countries, region, strlen(region)) : NULL;
    if (region && !known) {
        provider_left_out(request, "region: Brave does not know the country %s", region);
    }
    return known;
}

static const char *language(struct provider_request *request)
{
    const char *wanted = request->query->language;
    const char *known = wanted ? words_text(&brave_languages, wanted, strlen(wanted)) : NULL;
    if (wanted && !known) {
        known = words_text(&brave_languages, wanted, strcspn(wanted, "-"));
    }
    if (wanted && !known) {
        provider_left_out(request, "language: Brave does not know %s", wanted);
    }
    return known;
}

static const char *freshness(struct provider_request *request)
{
    static const char *const WORDS[] = {NULL, "pd", "pw", "pm", "py"};
    const struct search_query *query = request->query;
    if (query->type == SEARCH_IMAGES &&
        (query->freshness != FRESH_ANY || query->start_date || query->end_date)) {
        provider_left_out(request, "freshness and dates: Brave has none for images");
        return NULL;
    }
    if (query->freshness != FRESH_ANY) {
        return WORDS[query->freshness];
    }
    if (!query->start_date && !query->end_date) {
        return NULL;
    }
    const char *start = query->start_date ? query->start_date : "1990-01-01";
    const char *end = query->end_date ? query->end_date : query_days_ago(request->arena, 0);
    return end ? arena_printf(request->arena, "%sto%s", start, end) : NULL;
}

/* The text within the provider's limits, with the sites in it. */
static const char *words(struct provider_request *request)
{
    bool cut = false;
    struct search_query shorter = *request->query;
    size_t room = LONGEST_QUERY;
    const char *whole = query_with_sites(request->arena, &shorter);
    if (!whole) {
        return NULL;
    }
    size_t added = strlen(whole) - strlen(shorter.text);
    room = added < room / 2 ? room - added : room / 2;
    shorter.text = query_clip(request->arena, shorter.text, room, &cut);
    size_t blanks = 0;
    for (const char *at = shorter.text; at && *at; at++) {
        if (*at == ' ' && ++blanks == MOST_WORDS) {
            shorter.text = arena_strndup(request->arena, shorter.text, (size_t)(at - shorter.text));
            cut = true;
            break;
        }
    }
    if (cut) {
        provider_left_out(request,
                          "query: Brave takes %d characters and %d words; the rest was "
                          "dropped",
                          LONGEST_QUERY, MOST_WORDS);
    }
    return shorter.text ? query_with_sites(request->arena, &shorter) : NULL;
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *text = words(request);
    bool images = query->type == SEARCH_IMAGES;
    provider_check_type(request);
    provider_put(request, "q", text);
    provider_put_number(request, "count",
                        images ? provider_count_up_to(request, MOST_IMAGES) : query->count);
    if (!images && query->page > 1) {
        provider_put_number(request, "offset",
                            query->page <= MOST_PAGES ? query->page - 1 : MOST_PAGES - 1);
    }
    provider_put(request, "country", country(request));
    provider_put(request, "search_lang", language(request));
    provider_put(request, "freshness", freshness(request));
    if (query->type != SEARCH_NEWS && query->type != SEARCH_IMAGES) {
        provider_put(request, "text_decorations", "false");
        provider_put(request, "result_filter", "web");
    }
    return text ? OK : ERR_NOMEM;
}

/* ---- answers ---- */

static struct hit read_result(struct arena *arena, yyjson_val *item,
                              const struct search_query *query)
{
    bool images = query->type == SEARCH_IMAGES;
    const char *published = json_string(item, "page_age");
    const char *snippet = json_string(item, images ? "source" : "description");
    yyjson_val *picture = images ? yyjson_obj_get(item, "properties") : NULL;
    return (struct hit){
        .title = plain_text(arena, json_string(item, "title")),
        .link = json_string(item, "url"),
        .snippet = plain_text(arena, snippet),
        .published = published ? published : json_string(item, "age"),
        .image = json_string(picture, "url"),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    bool apart = query->type == SEARCH_NEWS || query->type == SEARCH_IMAGES;
    yyjson_val *list = yyjson_obj_get(apart ? answer : yyjson_obj_get(answer, "web"), "results");
    if (!list && !apart && !yyjson_obj_get(answer, "web") && json_string(answer, "type")) {
        return OK; /* nothing was found */
    }
    return hits_add_each(arena, list, query, hits, read_result);
}

const struct provider PROVIDER_BRAVE = {
    .name = "brave",
    .title = "Brave",
    .key_variable = "BRAVE_API_KEY",
    .base_variable = "BRAVE_BASE_URL",
    .key_header = "X-Subscription-Token",
    .one_at_a_time = true,
    .wait_header = "x-ratelimit-reset",
    .key_refused = "SUBSCRIPTION_TOKEN_INVALID",
    .paths = {"/web/search", "/news/search", "/web/search", "/images/search", "/web/search"},
    .lacks = {[SEARCH_SCHOLAR] = true, [SEARCH_CODE] = true},
    .build = build,
    .parse = parse,
};
