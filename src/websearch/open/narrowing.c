/* What open sources cannot be told of a search, or cannot give, and how they say so. */
#include "text/text.h"
#include "websearch/open/sources.h"

#include <string.h>

static void say(struct provider_request *request, bool wanted, const char *what)
{
    if (wanted) {
        provider_left_out(request, "%s: %s has none", what, request->provider->title);
    }
}

void source_lacks(struct provider_request *request, unsigned what)
{
    const struct search_query *query = request->query;
    const char *title = request->provider->title;
    if (what & LACKS_SITES && (query->site_count || query->exclude_site_count)) {
        provider_left_out(request, "sites: %s cannot be told; what it found elsewhere was dropped",
                          title);
    }
    bool dated = query->start_date || query->end_date;
    say(request, what & LACKS_TIME && (dated || query->freshness != FRESH_ANY),
        "freshness and dates");
    say(request, what & LACKS_DATES && !(what & LACKS_TIME) && dated, "start_date and end_date");
    say(request, what & LACKS_LANGUAGE && query->language, "language");
    say(request, what & LACKS_REGION && query->region, "region");
}

const char *source_query(struct provider_request *request, size_t most)
{
    struct arena *arena = request->arena;
    struct search_query shorter = *request->query;
    const char *whole = query_with_sites(arena, &shorter);
    size_t length = whole ? text_count(whole, strlen(whole)) : 0;
    if (length <= most) {
        return whole;
    }
    size_t sites = length - text_count(shorter.text, strlen(shorter.text));
    bool cut, told = sites <= most / 2;
    shorter.text = query_clip(arena, shorter.text, told ? most - sites : most, &cut);
    if (cut) {
        provider_left_out(request, "query: %s takes %zu characters; the rest was dropped",
                          request->provider->title, most);
    }
    if (!told) {
        source_lacks(request, LACKS_SITES);
    }
    return told && shorter.text ? query_with_sites(arena, &shorter) : shorter.text;
}

void source_one_page(struct provider_request *request, size_t most)
{
    request->skip = request->query->count * (request->query->page - 1);
    if (request->skip >= most) {
        provider_left_out(request, "page: %s gives at most %zu results to a search",
                          request->provider->title, most);
    }
}
