/* Wikimedia Commons (https://www.mediawiki.org/wiki/API:Search): GET /w/api.php, the generator
 * "search" among the files, with the properties of each picture. What is wrong with a search it
 * says with HTTP 200. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <stdlib.h>
#include <string.h>

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *text = arena_printf(request->arena, "filetype:bitmap|drawing %s", query->text);
    const char *language = query->language ? query->language : "en";
    provider_put(request, "action", "query");
    provider_put(request, "format", "json");
    provider_put(request, "formatversion", "2");
    provider_put(request, "generator", "search");
    provider_put(request, "gsrsearch", text);
    provider_put(request, "gsrnamespace", "6");
    provider_put_number(request, "gsrlimit", query->count);
    if (query->page > 1) {
        provider_put_number(request, "gsroffset", query->count * (query->page - 1));
    }
    provider_put(request, "prop", "imageinfo");
    provider_put(request, "iiprop", "url|extmetadata");
    provider_put(request, "iiextmetadatafilter", "ImageDescription|Artist|LicenseShortName");
    provider_put(request, "iiextmetadatalanguage",
                 arena_strndup(request->arena, language, strcspn(language, "-")));
    source_lacks(request, LACKS_SITES | LACKS_REGION | LACKS_TIME);
    return text ? OK : ERR_NOMEM;
}

/* ---- answers ---- */

/* Pages come in no order, each with its place. */
static int by_place(const void *left, const void *right)
{
    int64_t first = yyjson_get_sint(yyjson_obj_get(*(yyjson_val *const *)left, "index"));
    int64_t second = yyjson_get_sint(yyjson_obj_get(*(yyjson_val *const *)right, "index"));
    return (first > second) - (first < second);
}

static const char *fact(struct arena *arena, yyjson_val *facts, const char *name)
{
    return plain_markup(arena, json_string(yyjson_obj_get(facts, name), "value"));
}

/* What is on it, who made it, and under which licence. */
static const char *snippet_of(struct arena *arena, yyjson_val *facts)
{
    static const char *const NAMES[] = {"ImageDescription", "Artist", "LicenseShortName"};
    struct buf text;
    buf_init(&text, LIMIT_SEARCH_ANSWER_BYTES);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *value = fact(arena, facts, NAMES[i]);
        if (value && *value) {
            buf_printf(&text, "%s%s", text.length ? " · " : "", value);
        }
    }
    return buf_to_arena(&text, arena);
}

static void add_picture(struct arena *arena, struct hits *hits, yyjson_val *page)
{
    static const char PREFIX[] = "File:";
    const char *title = json_string(page, "title");
    yyjson_val *picture = yyjson_arr_get_first(yyjson_obj_get(page, "imageinfo"));
    bool file = title && strncmp(title, PREFIX, sizeof PREFIX - 1) == 0;
    hits_add(hits, &(struct hit){
                       .title = file ? title + sizeof PREFIX - 1 : title,
                       .link = json_string(picture, "descriptionurl"),
                       .snippet = snippet_of(arena, yyjson_obj_get(picture, "extmetadata")),
                       .image = json_string(picture, "url"),
                   });
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    (void)query;
    yyjson_val *list = yyjson_obj_get(yyjson_obj_get(answer, "query"), "pages");
    if (!yyjson_is_arr(list)) {
        /* Nothing was found: it says that this is all, and nothing else. */
        bool whole = yyjson_obj_get(answer, "batchcomplete") && !yyjson_obj_get(answer, "query");
        return whole && !yyjson_obj_get(answer, "error") ? OK : ERR_INVALID;
    }
    yyjson_val *pages[LIMIT_SEARCH_HITS];
    size_t count = 0;
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(list, index, max, item)
    {
        if (count < LIMIT_SEARCH_HITS) {
            pages[count++] = item;
        }
    }
    qsort(pages, count, sizeof *pages, by_place);
    for (size_t i = 0; i < count; i++) {
        add_picture(arena, hits, pages[i]);
    }
    return OK;
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{10, 60000}}, .at_once = 3},
    .contact = CONTACT_WELCOME,
    .attribution = "Wikimedia Commons: each picture is under the licence that its snippet names",
};

const struct provider SOURCE_COMMONS = {
    .name = "commons",
    .title = "Wikimedia Commons",
    .base_variable = "COMMONS_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_IMAGES] = "/w/api.php"},
    .build = build,
    .parse = parse,
};
