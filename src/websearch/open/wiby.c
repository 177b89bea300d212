/* Wiby (https://wiby.me/about/): GET /json/ with q. An index of small, old-fashioned pages, chosen
 * by hand. It answers with a list, not an object: [{URL, Title, Snippet, Description}], a dozen at
 * most, whose texts are HTML. */
#include "core/status.h"
#include "websearch/open/sources.h"

#define MOST_RESULTS 12

static int build(struct provider_request *request)
{
    provider_put(request, "q", request->query->text);
    source_one_page(request, MOST_RESULTS);
    source_lacks(request, LACKS_SITES | LACKS_TIME | LACKS_LANGUAGE | LACKS_REGION);
    return OK;
}

static const struct hit_shape SHAPE = {NULL, "Title", "URL", "Snippet", NULL, NULL};

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    (void)query;
    yyjson_doc *doc = json_parse(arena, body, length, NULL);
    int status = source_add_list(hits, yyjson_doc_get_root(doc), &SHAPE, "Description");
    for (size_t i = 0; i < hits->count && status == OK; i++) {
        struct hit *hit = &hits->items[i];
        hit->title = plain_text(arena, hit->title);
        hit->snippet = plain_text(arena, hit->snippet);
        status = hit->title && hit->snippet ? OK : ERR_NOMEM;
    }
    return status;
}

/* It says no numbers; this is what somebody at a keyboard would ask. */
static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 5000}}, .at_once = 1},
    .attribution = "Wiby: https://wiby.me",
};

const struct provider SOURCE_WIBY = {
    .name = "wiby",
    .title = "Wiby",
    .base_variable = "WIBY_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/json/"},
    .build = build,
    .read = read_answer,
};
