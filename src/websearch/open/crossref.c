/* Crossref (https://api.crossref.org): what publishers say about their works. GET /works with
 * query, rows, offset, filter and select. A search with an address of mail in it is answered by
 * servers that are less busy. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>

static const char *filter(struct provider_request *request)
{
    const char *since = query_since(request->arena, request->query);
    const char *until = request->query->end_date;
    const char *doi = source_doi(request->query->text);
    if (doi && !strchr(doi, ',')) {
        return arena_printf(request->arena, "doi:%s", doi);
    }
    if (!since && !until) {
        return NULL;
    }
    return arena_printf(request->arena, "%s%s%s%s%s", since ? "from-pub-date:" : "",
                        since ? since : "", since && until ? "," : "",
                        until ? "until-pub-date:" : "", until ? until : "");
}

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *narrowed = filter(request);
    bool known = narrowed && strncmp(narrowed, "doi:", 4) == 0;
    provider_put(request, "query", known ? NULL : query->text);
    provider_put_number(request, "rows", query->count);
    if (query->page > 1) {
        provider_put_number(request, "offset", query->count * (query->page - 1));
    }
    provider_put(request, "filter", narrowed);
    /* Without this each work comes with the list of all that it cites. */
    provider_put(request, "select", "DOI,URL,title,abstract,container-title,issued");
    provider_put(request, "mailto", source_mail());
    source_lacks(request, LACKS_SITES | LACKS_REGION | LACKS_LANGUAGE | (known ? LACKS_TIME : 0));
    return OK;
}

/* ---- answers ---- */

/* "2020-10-03" of [[2020, 10, 3]], of which the last may be missing; NULL when there is no year. */
static const char *date_of(struct arena *arena, yyjson_val *date)
{
    yyjson_val *parts = yyjson_arr_get_first(yyjson_obj_get(date, "date-parts"));
    int year = yyjson_get_int(yyjson_arr_get(parts, 0));
    int month = yyjson_get_int(yyjson_arr_get(parts, 1));
    int day = yyjson_get_int(yyjson_arr_get(parts, 2));
    if (year < 1 || year > 9999) {
        return NULL;
    }
    if (month < 1 || month > 12) {
        return arena_printf(arena, "%04d", year);
    }
    return day < 1 || day > 31 ? arena_printf(arena, "%04d-%02d", year, month)
                               : arena_printf(arena, "%04d-%02d-%02d", year, month, day);
}

static const char *first_text(struct arena *arena, yyjson_val *item, const char *name)
{
    return plain_markup(arena, yyjson_get_str(yyjson_arr_get_first(yyjson_obj_get(item, name))));
}

static struct hit read_work(struct arena *arena, yyjson_val *item, const struct search_query *query)
{
    (void)query;
    const char *link = doi_link(arena, json_string(item, "DOI"));
    const char *abstract = plain_markup(arena, json_string(item, "abstract"));
    return (struct hit){
        .title = first_text(arena, item, "title"),
        .link = link ? link : json_string(item, "URL"),
        .snippet = abstract ? abstract : first_text(arena, item, "container-title"),
        .published = date_of(arena, yyjson_obj_get(item, "issued")),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    return hits_add_each(arena, yyjson_obj_get(yyjson_obj_get(answer, "message"), "items"), query,
                         hits, read_work);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{5, 1000}}, .at_once = 1},
    .contact = CONTACT_WELCOME,
};

const struct provider SOURCE_CROSSREF = {
    .name = "crossref",
    .title = "Crossref",
    .base_variable = "CROSSREF_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_SCHOLAR] = "/works"},
    .build = build,
    .parse = parse,
};
