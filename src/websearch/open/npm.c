/* A registry of npm's packages (https://github.com/npm/registry, "registry search"):
 * GET /-/v1/search with text, size and from, as the npm program asks. No registry is asked that the
 * operator has not named. */
#include "core/status.h"
#include "websearch/open/sources.h"

#define LONGEST_QUERY 64 /* characters */

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    bool cut;
    const char *text = query_clip(request->arena, query->text, LONGEST_QUERY, &cut);
    if (cut) {
        provider_left_out(request, "query: npm takes %d characters; the rest was dropped",
                          LONGEST_QUERY);
    }
    provider_put(request, "text", text);
    provider_put_number(request, "size", query->count);
    provider_put_number(request, "from", query->count * (query->page - 1));
    source_lacks(request, LACKS_TIME | LACKS_LANGUAGE | LACKS_REGION);
    return text ? OK : ERR_NOMEM;
}

static struct hit read_package(struct arena *arena, yyjson_val *item,
                               const struct search_query *query)
{
    (void)query;
    yyjson_val *package = yyjson_obj_get(item, "package");
    yyjson_val *links = yyjson_obj_get(package, "links");
    const char *name = json_string(package, "name");
    const char *version = json_string(package, "version");
    const char *link = json_string(links, "npm");
    return (struct hit){
        .title = name && version ? arena_printf(arena, "%s %s", name, version) : name,
        .link = link ? link : json_string(links, "homepage"),
        .snippet = json_string(package, "description"),
        .published = json_string(package, "date"),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    return hits_add_each(arena, yyjson_obj_get(answer, "objects"), query, hits, read_package);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}}, .at_once = 1},
    .contact = CONTACT_WELCOME,
    .no_address = true,
};

const struct provider SOURCE_NPM = {
    .name = "npm",
    .title = "npm",
    .base_variable = "NPM_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_CODE] = "/-/v1/search"},
    .build = build,
    .parse = parse,
};
