/* The registry of Rust's packages (https://doc.rust-lang.org/cargo/reference/registry-web-api.html
 * and https://crates.io/data-access): GET /api/v1/crates with q, page and per_page. It insists on a
 * contact, and on one request a second. */
#include "core/status.h"
#include "text/url.h"
#include "websearch/open/sources.h"

#include <string.h>

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    provider_put(request, "q", query->text);
    provider_put_number(request, "per_page", query->count);
    provider_put_number(request, "page", query->page);
    source_lacks(request, LACKS_TIME | LACKS_LANGUAGE | LACKS_REGION);
    return OK;
}

static const char *link_to(struct arena *arena, const char *name)
{
    struct buf link;
    buf_init(&link, LIMIT_SEARCH_LINK_BYTES);
    buf_puts(&link, "https://crates.io/crates/");
    url_encode(&link, name, strlen(name));
    return buf_to_arena(&link, arena);
}

static struct hit read_package(struct arena *arena, yyjson_val *item,
                               const struct search_query *query)
{
    (void)query;
    const char *name = json_string(item, "name");
    const char *version = json_string(item, "max_version");
    if (!name || !*name) {
        return (struct hit){0};
    }
    return (struct hit){
        .title = version ? arena_printf(arena, "%s %s", name, version) : name,
        .link = link_to(arena, name),
        .snippet = json_string(item, "description"),
        .published = json_string(item, "updated_at"),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    return hits_add_each(arena, yyjson_obj_get(answer, "crates"), query, hits, read_package);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1000}}, .at_once = 1},
    .contact = CONTACT_NEEDED,
};

const struct provider SOURCE_CRATES = {
    .name = "crates",
    .title = "crates.io",
    .base_variable = "CRATES_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_CODE] = "/api/v1/crates"},
    .build = build,
    .parse = parse,
};
