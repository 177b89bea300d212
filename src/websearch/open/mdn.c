/* MDN, the documentation of what browsers run (https://developer.mozilla.org): GET /api/v1/search
 * with q, locale and page. It gives ten results to a page, however many are wanted. */
#include "core/status.h"
#include "tables.h"
#include "websearch/open/sources.h"

#include <string.h>

#define PAGE_RESULTS 10
#define SITE         "https://developer.mozilla.org"

static const char *locale(struct provider_request *request)
{
    const char *wanted = request->query->language;
    const char *known = wanted ? words_text(&mdn_languages, wanted, strlen(wanted)) : NULL;
    if (wanted && !known) {
        known = words_text(&mdn_languages, wanted, strcspn(wanted, "-"));
    }
    if (wanted && !known) {
        provider_left_out(request, "language: MDN is not written in %s", wanted);
    }
    return known;
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    size_t before = query->count * (query->page - 1);
    provider_put(request, "q", query->text);
    provider_put(request, "locale", locale(request));
    if (before >= PAGE_RESULTS) {
        provider_put_number(request, "page", before / PAGE_RESULTS + 1);
    }
    request->skip = before % PAGE_RESULTS;
    source_lacks(request, LACKS_TIME | LACKS_REGION);
    return OK;
}

static struct hit read_document(struct arena *arena, yyjson_val *item,
                                const struct search_query *query)
{
    (void)query;
    const char *path = json_string(item, "mdn_url");
    bool rooted = path && path[0] == '/'; /* anything else could lead to another host */
    return (struct hit){
        .title = plain_text(arena, json_string(item, "title")),
        .link = rooted ? arena_printf(arena, SITE "%s", path) : NULL,
        .snippet = plain_text(arena, json_string(item, "summary")),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    return hits_add_each(arena, yyjson_obj_get(answer, "documents"), query, hits, read_document);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}, {30, 60000}}, .at_once = 1},
    .contact = CONTACT_WELCOME,
    .attribution = "MDN Web Docs by Mozilla Contributors: CC BY-SA 2.5",
};

const struct provider SOURCE_MDN = {
    .name = "mdn",
    .title = "MDN",
    .base_variable = "MDN_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_CODE] = "/api/v1/search"},
    .build = build,
    .parse = parse,
};
