/* Wikidata (https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities): things by
 * their names, each with a few words on what it is. Errors come with HTTP 200 and have no list. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>

#define MOST_RESULTS 50

static const char *language(struct provider_request *request)
{
    const char *wanted = request->query->language ? request->query->language : "en";
    return arena_strndup(request->arena, wanted, strcspn(wanted, "-"));
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *code = language(request);
    provider_put(request, "action", "wbsearchentities");
    provider_put(request, "format", "json");
    provider_put(request, "formatversion", "2");
    provider_put(request, "search", query->text);
    provider_put(request, "language", code);
    provider_put(request, "uselang", code);
    provider_put(request, "type", "item");
    provider_put_number(request, "limit", provider_count_up_to(request, MOST_RESULTS));
    source_lacks(request, LACKS_TIME | LACKS_REGION);
    return code ? OK : ERR_NOMEM;
}

/* "Q42" */
static bool is_item(const char *id)
{
    return id && id[0] == 'Q' && id[1] && id[1 + strspn(id + 1, "0123456789")] == '\0';
}

static struct hit read_thing(struct arena *arena, yyjson_val *item,
                             const struct search_query *query)
{
    (void)query;
    const char *id = json_string(item, "id");
    const char *link =
        is_item(id) ? arena_printf(arena, "https://www.wikidata.org/wiki/%s", id) : NULL;
    return (struct hit){
        .title = json_string(item, "label"),
        .link = link,
        .snippet = json_string(item, "description"),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    return hits_add_each(arena, yyjson_obj_get(answer, "search"), query, hits, read_thing);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{10, 60000}}, .at_once = 3},
    .known = {.windows = {{200, 60000}}, .at_once = 3},
    .contact = CONTACT_WELCOME,
};

const struct provider SOURCE_WIKIDATA = {
    .name = "wikidata",
    .title = "Wikidata",
    .base_variable = "WIKIDATA_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/w/api.php"},
    .build = build,
    .parse = parse,
};
