/* Hacker News (https://hn.algolia.com/api): GET /api/v1/search with query, tags, hitsPerPage, page
 * and numericFilters. A story leads to the page that it is about, or to its own thread. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>
#include <time.h>

/* The moment at which a day begins, or the one after it. */
static long long moment_of(const char *date, int days)
{
    struct tm parts = {0};
    if (!strptime(date, "%Y-%m-%d", &parts)) {
        return 0;
    }
    return (long long)timegm(&parts) + days * 24LL * 60 * 60;
}

static const char *time_filter(struct provider_request *request)
{
    const char *since = query_since(request->arena, request->query);
    const char *until = request->query->end_date;
    const char *from =
        since ? arena_printf(request->arena, "created_at_i>=%lld", moment_of(since, 0)) : "";
    const char *to =
        until ? arena_printf(request->arena, "created_at_i<%lld", moment_of(until, 1)) : "";
    if (!since && !until) {
        return NULL;
    }
    return from && to ? arena_printf(request->arena, "%s%s%s", from, since && until ? "," : "", to)
                      : NULL;
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    provider_put(request, "query", query->text);
    provider_put(request, "tags", "story");
    provider_put_number(request, "hitsPerPage", query->count);
    provider_put_number(request, "page", query->page - 1);
    provider_put(request, "numericFilters", time_filter(request));
    source_lacks(request, LACKS_SITES | LACKS_REGION | LACKS_LANGUAGE);
    return OK;
}

static struct hit read_story(struct arena *arena, yyjson_val *item,
                             const struct search_query *query)
{
    (void)query;
    const char *id = json_string(item, "objectID");
    const char *link = json_string(item, "url");
    const char *text = json_string(item, "story_text");
    if (!id || id[strspn(id, "0123456789")]) {
        return (struct hit){0};
    }
    const char *thread = arena_printf(arena, "https://news.ycombinator.com/item?id=%s", id);
    const char *about =
        arena_printf(arena, "%lld points, %lld comments: %s",
                     (long long)yyjson_get_sint(yyjson_obj_get(item, "points")),
                     (long long)yyjson_get_sint(yyjson_obj_get(item, "num_comments")), thread);
    return (struct hit){
        .title = json_string(item, "title"),
        .link = link && *link ? link : thread,
        .snippet = text && *text ? plain_markup(arena, text) : about,
        .published = json_string(item, "created_at"),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    return hits_add_each(arena, yyjson_obj_get(answer, "hits"), query, hits, read_story);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{5, 1000}, {10000, 3600000}}, .at_once = 2},
};

const struct provider SOURCE_HACKERNEWS = {
    .name = "hackernews",
    .title = "Hacker News",
    .base_variable = "HACKERNEWS_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_NEWS] = "/api/v1/search"},
    .build = build,
    .parse = parse,
};
