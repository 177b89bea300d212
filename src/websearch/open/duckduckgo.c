/* DuckDuckGo's pages for browsers without scripts: POST /html/ with a form of q, b, kl and df. This
 * is no interface that its operator offers, so it is the last that is asked: it answers who looks
 * like a browser, and shows everybody else, or who asks too often, a page with a question.
 *
 * A page beyond the first wants a token of the one before, and is answered with that question
 * without it. Two requests for one search are more than an unasked guest should make: there is one
 * page.
 *
 * What cannot be read as results, or as "no results", is a page that stands before them. */
#include "core/status.h"
#include "html/dom.h"
#include "html/parse.h"
#include "tables.h"
#include "text/url.h"
#include "websearch/open/sources.h"

#include <string.h>

#define MOST_RESULTS  10
#define LONGEST_QUERY 499 /* characters */
#define ANYWHERE      "wt-wt"

/* ---- asking ---- */

/* Its word for a country and a language in it, "ch-fr". */
static const char *region(struct provider_request *request)
{
    const char *country = request->query->region;
    const char *language = request->query->language;
    const char *known = NULL;
    if (language && country) {
        const char *both =
            arena_printf(request->arena, "%s-%.*s", country, (int)strcspn(language, "-"), language);
        known = both ? words_text(&duckduckgo_regions, both, strlen(both)) : NULL;
    }
    if (language && !known) {
        provider_left_out(request, "language: DuckDuckGo knows it only as one of a region");
    }
    if (country && !known) {
        known = words_text(&duckduckgo_regions, country, strlen(country));
    }
    if (country && !known) {
        provider_left_out(request, "region: DuckDuckGo does not know the country %s", country);
    }
    return known ? known : ANYWHERE;
}

/* What a browser sends with a form that a person filled in on the page before. */
static const char *const HEADERS[][2] = {
    {"Accept-Language", "en-US,en;q=0.5"}, {"Referer", "https://html.duckduckgo.com/"},
    {"Sec-Fetch-Dest", "document"},        {"Sec-Fetch-Mode", "navigate"},
    {"Sec-Fetch-Site", "same-origin"},     {"Sec-Fetch-User", "?1"},
    {"Upgrade-Insecure-Requests", "1"},
};

static int build(struct provider_request *request)
{
    static const char *const FRESHNESS[] = {NULL, "d", "w", "m", "y"};
    const char *text = source_query(request, LONGEST_QUERY);
    const char *place = region(request);
    const char *fresh = FRESHNESS[request->query->freshness];
    for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++) {
        provider_header(request, HEADERS[i][0], HEADERS[i][1]);
    }
    provider_header(
        request, "Cookie",
        arena_printf(request->arena, "kl=%s%s%s", place, fresh ? "; df=" : "", fresh ? fresh : ""));
    provider_put(request, "q", text);
    provider_put(request, "b", "");
    provider_put(request, "kl", place);
    provider_put(request, "df", fresh);
    source_one_page(request, MOST_RESULTS);
    source_lacks(request, LACKS_DATES);
    return text ? OK : ERR_NOMEM;
}

/* ---- reading ---- */

/* The first element below `root` with a class; NULL when there is none. */
static const lxb_dom_node_t *find_class(const lxb_dom_node_t *root, const char *name)
{
    const lxb_dom_node_t *node = root;
    while ((node = dom_next(node, root, true))) {
        if (dom_tag(node) != LXB_TAG__UNDEF && dom_has_word(dom_class(node), name)) {
            return node;
        }
    }
    return NULL;
}

static bool is_advert(const struct url *url)
{
    return strcmp(url->host, "duckduckgo.com") == 0 && strcmp(url->path, "/y.js") == 0;
}

/* Where a link leads: it may go through a page of DuckDuckGo that counts it, with the address as a
 * parameter. NULL when it is an advertisement, or no address. */
static const char *target(struct arena *arena, const char *link)
{
    static const char THROUGH[] = "uddg=";
    struct url base, url;
    if (!link || url_parse(arena, "https://html.duckduckgo.com/", &base, NULL) != OK ||
        url_resolve(arena, &base, link, &url, NULL) != OK) {
        return NULL;
    }
    bool through = strcmp(url.host, "duckduckgo.com") == 0 && strcmp(url.path, "/l/") == 0;
    const char *parameter = through ? url.query : NULL;
    while (parameter && strncmp(parameter, THROUGH, sizeof THROUGH - 1) != 0) {
        parameter = strchr(parameter, '&');
        parameter += parameter ? 1 : 0;
    }
    if (parameter) {
        size_t decoded;
        parameter += sizeof THROUGH - 1;
        const char *inner = url_decode(arena, parameter, strcspn(parameter, "&"), &decoded);
        if (!inner || url_parse(arena, inner, &url, NULL) != OK) {
            return NULL;
        }
    }
    return is_advert(&url) ? NULL : url.text;
}

static void read_result(struct arena *arena, const lxb_dom_node_t *node, struct hits *hits)
{
    const lxb_dom_node_t *title = find_class(node, "result__a");
    const lxb_dom_node_t *snippet = find_class(node, "result__snippet");
    if (!title) {
        return;
    }
    hits_add(hits, &(struct hit){
                       .title = dom_collect_text(arena, title),
                       .link = target(arena, dom_known_attr(title, LXB_DOM_ATTR_HREF)),
                       .snippet = snippet ? dom_collect_text(arena, snippet) : NULL,
                   });
}

/* Whether there are results, or none were found: otherwise this is another page. */
static bool read_results(struct arena *arena, const lxb_dom_node_t *body, struct hits *hits)
{
    bool answered = find_class(body, "no-results") || find_class(body, "result--no-result");
    const lxb_dom_node_t *node = body;
    bool below = true;
    while ((node = dom_next(node, body, below))) {
        const char *classes = dom_tag(node) == LXB_TAG_DIV ? dom_class(node) : NULL;
        bool result = dom_has_word(classes, "web-result");
        below = !result;
        if (result && !dom_has_word(classes, "result--ad") &&
            !dom_has_word(classes, "result--no-result")) {
            read_result(arena, node, hits);
            answered = true;
        }
    }
    return answered;
}

static int read_answer(struct arena *arena, const char *body, size_t length,
                       const struct search_query *query, struct hits *hits)
{
    (void)query;
    struct page page = {.arena = arena};
    int status = parse_html(&page, body, length);
    if (status == OK && !read_results(arena, page.body, hits)) {
        status = ERR_INVALID;
    }
    parse_done(&page);
    return status;
}

/* ---- terms ---- */

/* As markup: a page about them may be among the results. */
static const char *const WALLS[] = {"class=\"anomaly-modal", "id=\"challenge-form\"",
                                    "duckduckgo.com/anomaly.js?", NULL};

/* It gives no numbers; a person who searches is not quicker. */
static const struct source_terms TERMS = {
    .pace = {.windows = {{1, 3000}, {10, 60000}}, .at_once = 1},
    .index = "bing",
    .walls = WALLS,
    .wall_status = 202,
};

const struct provider SOURCE_DUCKDUCKGO = {
    .name = "duckduckgo",
    .title = "DuckDuckGo",
    .base_variable = "DUCKDUCKGO_BASE_URL",
    .form = true,
    .accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    .agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    .open = &TERMS,
    .paths = {[SEARCH_WEB] = "/html/"},
    .build = build,
    .read = read_answer,
};
