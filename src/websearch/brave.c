/* Brave (https://api-dashboard.search.brave.com/app/documentation): GET /web/search, /news/search
 * or /images/search with q, count, offset, country, search_lang, freshness, as the vendor's own MCP
 * server sends them. Countries and languages are short lists. The free plan allows one search a
 * second. */
#include "websearch/provider.h"

#include "core/status.h"
#include "text/url.h"
#include "websearch/plain.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LONGEST_QUERY 400 /* characters */
#define MOST_WORDS    50
#define MOST_PAGES    10
#define MOST_IMAGES   100

static const char *const PATHS[] = {
    [SEARCH_WEB] = "/web/search",
    [SEARCH_NEWS] = "/news/search",
    [SEARCH_SCHOLAR] = "/web/search",
    [SEARCH_IMAGES] = "/images/search",
};

static const char *const COUNTRIES[] = {
    "AR", "AU", "AT", "BE", "BR", "CA", "CL", "DK", "FI", "FR", "DE", "HK",
    "IN", "ID", "IT", "JP", "KR", "MY", "MX", "NL", "NZ", "NO", "CN", "PL",
    "PT", "PH", "RU", "SA", "ZA", "ES", "SE", "CH", "TW", "TR", "GB", "US",
};

/* Languages under the names that Brave has for them. */
static const struct {
    const char *ours;
    const char *theirs;
} LANGUAGES[] = {
    {"en-GB", "en-gb"}, {"zh-TW", "zh-hant"}, {"zh-HK", "zh-hant"}, {"zh-Hant", "zh-hant"},
    {"zh", "zh-hans"},  {"pt-BR", "pt-br"},   {"pt", "pt-pt"},      {"ja", "jp"},
    {"no", "nb"},       {"nn", "nb"},         {"ar", "ar"},         {"eu", "eu"},
    {"bn", "bn"},       {"bg", "bg"},         {"ca", "ca"},         {"hr", "hr"},
    {"cs", "cs"},       {"da", "da"},         {"nl", "nl"},         {"en", "en"},
    {"et", "et"},       {"fi", "fi"},         {"fr", "fr"},         {"gl", "gl"},
    {"de", "de"},       {"gu", "gu"},         {"he", "he"},         {"hi", "hi"},
    {"hu", "hu"},       {"is", "is"},         {"it", "it"},         {"kn", "kn"},
    {"ko", "ko"},       {"lv", "lv"},         {"lt", "lt"},         {"ms", "ms"},
    {"ml", "ml"},       {"mr", "mr"},         {"nb", "nb"},         {"pl", "pl"},
    {"pa", "pa"},       {"ro", "ro"},         {"ru", "ru"},         {"sr", "sr"},
    {"sk", "sk"},       {"sl", "sl"},         {"es", "es"},         {"sv", "sv"},
    {"ta", "ta"},       {"te", "te"},         {"th", "th"},         {"tr", "tr"},
    {"uk", "uk"},       {"vi", "vi"},
};

static const char *country(struct provider_request *request)
{
    const char *region = request->query->region;
    for (size_t i = 0; region && i < sizeof COUNTRIES / sizeof *COUNTRIES; i++) {
        if (strcmp(region, COUNTRIES[i]) == 0) {
            return region;
        }
    }
    if (region) {
        provider_left_out(request, "region: Brave does not know the country %s", region);
    }
    return NULL;
}

static const char *language(struct provider_request *request)
{
    const char *wanted = request->query->language;
    if (!wanted) {
        return NULL;
    }
    size_t short_length = strcspn(wanted, "-");
    for (size_t i = 0; i < sizeof LANGUAGES / sizeof *LANGUAGES; i++) {
        const char *ours = LANGUAGES[i].ours;
        if (strcasecmp(ours, wanted) == 0 ||
            (strlen(ours) == short_length && strncasecmp(ours, wanted, short_length) == 0)) {
            return LANGUAGES[i].theirs;
        }
    }
    provider_left_out(request, "language: Brave does not know %s", wanted);
    return NULL;
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
    const char *today = query_days_ago(request->arena, 0);
    return arena_printf(request->arena, "%sto%s",
                        query->start_date ? query->start_date : "1990-01-01",
                        query->end_date ? query->end_date
                        : today         ? today
                                        : "2100-01-01");
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

static void put_numbers(struct provider_request *request, struct buf *url)
{
    const struct search_query *query = request->query;
    if (query->type == SEARCH_IMAGES) {
        buf_printf(url, "&count=%zu", provider_count_up_to(request, MOST_IMAGES));
        return;
    }
    buf_printf(url, "&count=%zu", query->count);
    if (query->page > 1) {
        buf_printf(url, "&offset=%u", query->page <= MOST_PAGES ? query->page - 1 : MOST_PAGES - 1);
    }
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    struct buf url;
    const char *text = words(request);
    if (!text) {
        return ERR_NOMEM;
    }
    if (query->type == SEARCH_SCHOLAR) {
        provider_left_out(request, "type: Brave has no scholar search; these are results of the "
                                   "web");
    }
    buf_init(&url, LIMIT_SEARCH_REQUEST_BYTES);
    buf_printf(&url, "%s%s?", request->base, PATHS[query->type]);
    buf_puts(&url, "q=");
    url_encode(&url, text, strlen(text));
    put_numbers(request, &url);
    query_put(&url, "country", country(request));
    query_put(&url, "search_lang", language(request));
    query_put(&url, "freshness", freshness(request));
    if (query->type == SEARCH_WEB || query->type == SEARCH_SCHOLAR) {
        buf_puts(&url, "&text_decorations=false&result_filter=web");
    }
    request->url = buf_error(&url) ? NULL : arena_strndup(request->arena, url.data, url.length);
    buf_done(&url);
    provider_header(request, "X-Subscription-Token", request->key, true);
    return request->url ? OK : ERR_NOMEM;
}

/* ---- answers ---- */

static void add_hit(struct arena *arena, struct hits *hits, yyjson_val *item, bool images)
{
    const char *published = json_string(item, "page_age");
    yyjson_val *picture = yyjson_obj_get(item, "properties");
    hits_add(hits,
             &(struct hit){
                 .title = plain_text(arena, json_string(item, "title")),
                 .link = json_string(item, "url"),
                 .snippet = plain_text(arena, json_string(item, images ? "source" : "description")),
                 .published = published ? published : json_string(item, "age"),
                 .image = images ? json_string(picture, "url") : NULL,
             });
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    bool apart = query->type == SEARCH_NEWS || query->type == SEARCH_IMAGES;
    yyjson_val *list = yyjson_obj_get(apart ? answer : yyjson_obj_get(answer, "web"), "results");
    if (!list && !apart && !yyjson_obj_get(answer, "web") && json_string(answer, "type")) {
        return OK; /* nothing was found */
    }
    if (!yyjson_is_arr(list)) {
        return ERR_INVALID;
    }
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(list, index, max, item)
    {
        add_hit(arena, hits, item, query->type == SEARCH_IMAGES);
    }
    return OK;
}

const struct provider PROVIDER_BRAVE = {
    .name = "brave",
    .title = "Brave",
    .key_variable = "BRAVE_API_KEY",
    .base_variable = "BRAVE_BASE_URL",
    .one_at_a_time = true,
    .wait_header = "x-ratelimit-reset",
    .key_refused = "SUBSCRIPTION_TOKEN_INVALID",
    .build = build,
    .parse = parse,
};
