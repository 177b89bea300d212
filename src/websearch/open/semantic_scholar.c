/* Semantic Scholar (https://api.semanticscholar.org/api-docs/graph): GET /graph/v1/paper/search
 * with query, limit, offset, fields and a span of dates. All who ask without a key share one quota.
 */
#include "core/status.h"
#include "websearch/open/sources.h"

#define MOST_RESULTS 1000 /* that pages can lead to */

static int build(struct provider_request *request)
{
    const struct search_query *query = request->query;
    const char *since = query_since(request->arena, query);
    const char *until = query->end_date;
    size_t offset = query->count * (query->page - 1);
    /* It has no syntax, and finds nothing for words with a dash. */
    const char *words = words_only(request->arena, query->text, "'.+#");
    if (offset + query->count >= MOST_RESULTS) {
        provider_left_out(request, "page: Semantic Scholar gives at most %d results to a search",
                          MOST_RESULTS);
        offset = MOST_RESULTS - 1 - query->count;
    }
    provider_put(request, "query", words);
    provider_put_number(request, "offset", offset);
    provider_put_number(request, "limit", query->count);
    provider_put(request, "fields",
                 "title,abstract,tldr,url,openAccessPdf,externalIds,publicationDate,year,venue");
    if (since || until) {
        provider_put(request, "publicationDateOrYear",
                     arena_printf(request->arena, "%s:%s", since ? since : "", until ? until : ""));
    }
    source_lacks(request, LACKS_SITES | LACKS_REGION | LACKS_LANGUAGE);
    return words ? OK : ERR_NOMEM;
}

/* ---- answers ---- */

/* The copy that anybody may read, else where the paper lives. */
static const char *link_of(struct arena *arena, yyjson_val *item)
{
    yyjson_val *ids = yyjson_obj_get(item, "externalIds");
    const char *copy = json_string(yyjson_obj_get(item, "openAccessPdf"), "url");
    const char *arxiv = json_string(ids, "ArXiv");
    const char *doi = doi_link(arena, json_string(ids, "DOI"));
    if (arxiv && *arxiv) {
        return arena_printf(arena, "https://arxiv.org/abs/%s", arxiv);
    }
    if (copy && *copy) {
        return copy;
    }
    return doi ? doi : json_string(item, "url");
}

static const char *date_of(struct arena *arena, yyjson_val *item)
{
    const char *date = json_string(item, "publicationDate");
    int year = yyjson_get_int(yyjson_obj_get(item, "year"));
    return date ? date : year > 0 && year < 10000 ? arena_printf(arena, "%04d", year) : NULL;
}

static const char *snippet_of(yyjson_val *item)
{
    const char *abstract = json_string(item, "abstract");
    const char *brief = json_string(yyjson_obj_get(item, "tldr"), "text");
    return abstract ? abstract : brief ? brief : json_string(item, "venue");
}

static struct hit read_paper(struct arena *arena, yyjson_val *item,
                             const struct search_query *query)
{
    (void)query;
    return (struct hit){
        .title = plain_markup(arena, json_string(item, "title")),
        .link = link_of(arena, item),
        .snippet = plain_markup(arena, snippet_of(item)),
        .published = date_of(arena, item),
    };
}

static int parse(struct arena *arena, yyjson_val *answer, const struct search_query *query,
                 struct hits *hits)
{
    yyjson_val *list = yyjson_obj_get(answer, "data"); /* missing where nothing was found */
    if (!yyjson_is_uint(yyjson_obj_get(answer, "total"))) {
        return ERR_INVALID;
    }
    return list ? hits_add_each(arena, list, query, hits, read_paper) : OK;
}

static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 1100}, {100, 300000}}, .at_once = 1},
    .shared = true,
    .attribution = "Data from Semantic Scholar (https://www.semanticscholar.org/)",
};

const struct provider SOURCE_SEMANTIC_SCHOLAR = {
    .name = "semantic-scholar",
    .title = "Semantic Scholar",
    .base_variable = "SEMANTIC_SCHOLAR_BASE_URL",
    .one_at_a_time = true,
    .open = &TERMS,
    .paths = {[SEARCH_SCHOLAR] = "/graph/v1/paper/search"},
    .build = build,
    .parse = parse,
};
