/* OpenAlex (https://developers.openalex.org): GET /works with search, per_page, page, filter and
 * select. Without a key it answers a few searches a day, with a free one (OPENALEX_API_KEY) a
 * thousand. An abstract comes as the places of its words. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>

/* "from_publication_date:2026-01-31,language:de", or "" for nothing. NULL without memory. */
static const char *filter(struct provider_request *request, const char *doi)
{
    struct buf text;
    const struct search_query *query = request->query;
    const char *since = query_since(request->arena, query);
    buf_init(&text, LIMIT_SEARCH_REQUEST_BYTES);
    if (doi) {
        buf_printf(&text, ",doi:%s", doi);
    }
    if (since) {
        buf_printf(&text, ",from_publication_date:%s", since);
    }
    if (query->end_date) {
        buf_printf(&text, ",to_publication_date:%s", query->end_date);
    }
    if (query->language) {
        buf_printf(&text, ",language:%.*s", (int)strcspn(query->language, "-"), query->language);
    }
    const char *whole = buf_to_arena(&text, request->arena);
    return whole && *whole ? whole + 1 : whole;
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *doi = source_doi(query->text);
    doi = doi && !strpbrk(doi, ",|") ? doi : NULL;
    /* A phrase between quotes is looked for letter by letter, and seldom found. */
    const char *words = words_only(request->arena, query->text, "!#$%&'()*+,-./:;<=>?@[]^_{|}~");
    const char *narrowed = filter(request, doi);
    provider_put(request, "search", doi ? NULL : words);
    provider_put_number(request, "per_page", query->count);
    provider_put_number(request, "page", query->page);
    provider_put(request, "filter", narrowed && *narrowed ? narrowed : NULL);
    provider_put(request, "select",
                 "id,doi,display_name,publication_date,open_access,abstract_inverted_index");
    source_lacks(request, LACKS_SITES | LACKS_REGION);
    return words && narrowed ? OK : ERR_NOMEM;
}

/* ---- answers ---- */

/* {"of": [1], "Origin": [0], "species": [2]} as the text that it was. */
static const char *abstract_of(struct arena *arena, yyjson_val *places)
{
    const char **words = places ? arena_zalloc(arena, LIMIT_ABSTRACT_WORDS * sizeof *words) : NULL;
    size_t index, max, nth, most;
    yyjson_val *word, *list, *place;
    if (!words) {
        return NULL;
    }
    yyjson_obj_foreach(places, index, max, word, list)
    {
        yyjson_arr_foreach(list, nth, most, place)
        {
            if (yyjson_is_uint(place) && yyjson_get_uint(place) < LIMIT_ABSTRACT_WORDS) {
                words[yyjson_get_uint(place)] = yyjson_get_str(word);
            }
        }
    }
    struct buf text;
    buf_init(&text, LIMIT_SEARCH_ANSWER_BYTES);
    for (size_t i = 0; i < LIMIT_ABSTRACT_WORDS; i++) {
        buf_puts(&text, words[i] && text.length ? " " : "");
        buf_puts(&text, words[i] ? words[i] : "");
    }
    return plain_markup(arena, buf_to_arena(&text, arena));
}

static struct hit read_work(struct arena *arena, yyjson_val *item, const struct search_query *query)
{
    (void)query;
    const char *copy = json_string(yyjson_obj_get(item, "open_access"), "oa_url");
    const char *doi = doi_link(arena, json_string(item, "doi"));
    return (struct hit){
        .title = plain_markup(arena, json_string(item, "display_name")),
        .link = copy && *copy ? copy
                : doi         ? doi
                              : json_string(item, "id"),
        .snippet = abstract_of(arena, yyjson_obj_get(item, "abstract_inverted_index")),
        .published = json_string(item, "publication_date"),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    return hits_add_each(arena, yyjson_obj_get(answer, "results"), query, hits, read_work);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{10, 1000}, {100, 86400000}}, .at_once = 2},
    .shared = true, /* what a day without a key is worth has changed, and may be spent */
    .contact = CONTACT_WELCOME,
};

const struct provider SOURCE_OPENALEX = {
    .name = "openalex",
    .title = "OpenAlex",
    .key_variable = "OPENALEX_API_KEY",
    .base_variable = "OPENALEX_BASE_URL",
    .key_header = "Authorization",
    .open = &TERMS,
    .paths = {[SEARCH_SCHOLAR] = "/works"},
    .build = build,
    .parse = parse,
};
