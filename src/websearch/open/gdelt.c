/* GDELT (https://blog.gdeltproject.org/gdelt-doc-2-0-api-debuts): news of the last months in all
 * languages. GET /api/v2/doc/doc with query, mode, format, maxrecords and a span of time. What is
 * wrong with a search it says in plain words, with HTTP 200; its JSON may hold bytes that none may.
 * It asks for one request in five seconds. */
#include "core/status.h"
#include "tables.h"
#include "websearch/open/sources.h"

#include <string.h>

#define MOST_RESULTS 250

/* A domain with a dash finds nothing there; what follows the dash finds it, and more. */
static const char *searchable(const char *site)
{
    const char *dash = strrchr(site, '-');
    return dash ? dash + 1 : site;
}

static void put_sites(struct buf *text, const struct search_query *query)
{
    for (size_t i = 0; i < query->site_count; i++) {
        bool several = query->site_count > 1;
        buf_printf(text, "%s%sdomain:%s%s", i ? " OR " : " ", several && i == 0 ? "(" : "",
                   searchable(query->sites[i]), several && i + 1 == query->site_count ? ")" : "");
    }
    for (size_t i = 0; i < query->exclude_site_count; i++) {
        if (!strchr(query->exclude_sites[i], '-')) {
            buf_printf(text, " -domain:%s", query->exclude_sites[i]);
        }
    }
}

static void put_country(struct buf *text, struct provider_request *request)
{
    const char *region = request->query->region;
    const char *code = region ? words_text(&gdelt_countries, region, strlen(region)) : NULL;
    if (code) {
        buf_printf(text, " sourcecountry:%s", code);
    } else if (region) {
        provider_left_out(request, "region: GDELT is not asked for the country %s", region);
    }
}

static void put_language(struct buf *text, struct provider_request *request)
{
    const char *wanted = request->query->language;
    const char *name = wanted ? words_text(&gdelt_languages, wanted, strcspn(wanted, "-")) : NULL;
    if (name) {
        buf_printf(text, " sourcelang:%s", name);
    } else if (wanted) {
        provider_left_out(request, "language: GDELT does not know %s", wanted);
    }
}

static const char *moment(struct arena *arena, const char *date, const char *time)
{
    return date ? arena_printf(arena, "%.4s%.2s%.2s%s", date, date + 5, date + 8, time) : NULL;
}

static void put_time(struct provider_request *request)
{
    static const char *const SPANS[] = {NULL, "1d", "1w", "1m", "12m"};
    const struct search_query *query = request->query;
    struct arena *arena = request->arena;
    provider_put(request, "timespan", SPANS[query->freshness]);
    if (query->start_date || query->end_date) {
        const char *start = query->start_date ? query->start_date : "2017-01-01";
        const char *end = query->end_date ? query->end_date : query_days_ago(arena, 0);
        provider_put(request, "startdatetime", moment(arena, start, "000000"));
        provider_put(request, "enddatetime", moment(arena, end, "235959"));
    }
}

static int build(struct provider_request *request)
{
    struct buf text;
    const char *words = words_only(request->arena, request->query->text, "\"-'");
    buf_init(&text, LIMIT_SEARCH_REQUEST_BYTES);
    buf_puts(&text, words ? words : "");
    put_sites(&text, request->query);
    put_country(&text, request);
    put_language(&text, request);
    const char *whole = buf_to_arena(&text, request->arena);
    provider_put(request, "query", whole);
    provider_put(request, "mode", "artlist");
    provider_put(request, "format", "json");
    provider_put_number(request, "maxrecords", provider_count_up_to(request, MOST_RESULTS));
    provider_put(request, "sort", "hybridrel");
    put_time(request);
    return words && whole ? OK : ERR_NOMEM;
}

/* ---- answers ---- */

/* Takes what JSON does not allow out of its strings: control characters, and backslashes that
 * escape nothing. */
static void mend(char *text)
{
    char *out = text;
    for (const char *at = text; *at; at++) {
        bool escape = *at == '\\' && at[1];
        if (escape && !strchr("\"\\/bfnrtu", at[1])) {
            continue;
        }
        *out++ = (unsigned char)*at < ' ' ? ' ' : *at;
        if (escape) {
            *out++ = *++at;
        }
    }
    *out = '\0';
}

/* "2026-02-03T04:15:00Z" of "20260203T041500Z"; what is no such time stays as it is. */
static const char *time_of(struct arena *arena, const char *seen)
{
    bool known = seen && strlen(seen) == 16 && strspn(seen, "0123456789") == 8 && seen[8] == 'T' &&
                 strspn(seen + 9, "0123456789") == 6;
    return known ? arena_printf(arena, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", seen, seen + 4, seen + 6,
                                seen + 9, seen + 11, seen + 13)
                 : seen;
}

static struct hit read_article(struct arena *arena, yyjson_val *item,
                               const struct search_query *query)
{
    (void)query;
    return (struct hit){
        .title = plain_text(arena, json_string(item, "title")),
        .link = json_string(item, "url"),
        .snippet = json_string(item, "domain"),
        .published = time_of(arena, json_string(item, "seendate")),
    };
}

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    char *text = arena_strndup(arena, body, length);
    if (!text) {
        return ERR_NOMEM;
    }
    mend(text);
    yyjson_val *answer = yyjson_doc_get_root(json_parse(arena, text, strlen(text), NULL));
    yyjson_val *list = yyjson_obj_get(answer, "articles");
    /* An empty object is what it answers when nothing was found. */
    bool nothing = yyjson_is_obj(answer) && yyjson_obj_size(answer) == 0;
    return nothing ? OK : hits_add_each(arena, list, query, hits, read_article);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 5000}}, .at_once = 1},
    .attribution = "The GDELT Project (https://www.gdeltproject.org/)",
};

const struct provider SOURCE_GDELT = {
    .name = "gdelt",
    .title = "GDELT",
    .base_variable = "GDELT_BASE_URL",
    .one_at_a_time = true,
    .open = &TERMS,
    .paths = {[SEARCH_NEWS] = "/api/v2/doc/doc"},
    .build = build,
    .read = read_answer,
};
