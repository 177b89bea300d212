/* Europe PMC (https://europepmc.org/RestfulWebService): papers of the life sciences, PubMed's among
 * them. GET /search with query, format, resultType and pageSize. What is wrong with a search it may
 * say with HTTP 200. */
#include "core/status.h"
#include "websearch/open/sources.h"

#include <string.h>

#define MOST_RESULTS 1000

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *since = query_since(request->arena, query);
    const char *until = query->end_date ? query->end_date : query_days_ago(request->arena, 0);
    const char *doi = source_doi(query->text);
    const char *text = doi ? arena_printf(request->arena, "DOI:\"%s\"", doi)
                           : words_only(request->arena, query->text, "\"-'.+");
    if (text && (since || query->end_date)) {
        text = arena_printf(request->arena, "(%s) AND FIRST_PDATE:[%s TO %s]", text,
                            since ? since : "1700-01-01", until);
    }
    provider_put(request, "query", text);
    provider_put(request, "format", "json");
    provider_put(request, "resultType", "core"); /* with abstracts */
    provider_put_number(request, "pageSize", provider_count_up_to(request, MOST_RESULTS));
    source_lacks(request, LACKS_SITES | LACKS_REGION | LACKS_LANGUAGE);
    return text && until ? OK : ERR_NOMEM;
}

/* ---- answers ---- */

static const char *link_of(struct arena *arena, yyjson_val *item)
{
    const char *copy = json_string(item, "pmcid");
    const char *doi = doi_link(arena, json_string(item, "doi"));
    const char *source = json_string(item, "source");
    const char *id = json_string(item, "id");
    if (copy && strncmp(copy, "PMC", 3) == 0 && !copy[3 + strspn(copy + 3, "0123456789")]) {
        return arena_printf(arena, "https://pmc.ncbi.nlm.nih.gov/articles/%s/", copy);
    }
    if (doi || !source || !id) {
        return doi;
    }
    return arena_printf(arena, "https://europepmc.org/article/%s/%s", source, id);
}

static struct hit read_paper(struct arena *arena, yyjson_val *item,
                             const struct search_query *query)
{
    (void)query;
    const char *abstract = json_string(item, "abstractText");
    return (struct hit){
        .title = plain_markup(arena, json_string(item, "title")),
        .link = link_of(arena, item),
        .snippet = plain_markup(arena, abstract ? abstract : json_string(item, "authorString")),
        .published = json_string(item, "firstPublicationDate"),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    return hits_add_each(arena, yyjson_obj_get(yyjson_obj_get(answer, "resultList"), "result"),
                         query, hits, read_paper);
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{5, 1000}}, .at_once = 2},
};

const struct provider SOURCE_EUROPE_PMC = {
    .name = "europe-pmc",
    .title = "Europe PMC",
    .base_variable = "EUROPE_PMC_BASE_URL",
    .open = &TERMS,
    .paths = {[SEARCH_SCHOLAR] = "/search"},
    .build = build,
    .parse = parse,
};
