/* Open sources: searches that their operators answer without a key, in turn for manners
 * (struct source_terms). One file for each, and a row in sources.c; what they send and get is in
 * docs/providers.md. */
#ifndef FORAGE_WEBSEARCH_OPEN_SOURCES_H
#define FORAGE_WEBSEARCH_OPEN_SOURCES_H

#include "websearch/provider.h"

extern const struct provider SOURCE_ARXIV;
extern const struct provider SOURCE_BING_NEWS;
extern const struct provider SOURCE_COMMONS;
extern const struct provider SOURCE_CRATES;
extern const struct provider SOURCE_CROSSREF;
extern const struct provider SOURCE_DUCKDUCKGO;
extern const struct provider SOURCE_EUROPE_PMC;
extern const struct provider SOURCE_EXA_OPEN;
extern const struct provider SOURCE_FIRECRAWL;
extern const struct provider SOURCE_GDELT;
extern const struct provider SOURCE_GITHUB;
extern const struct provider SOURCE_GITHUB_ISSUES;
extern const struct provider SOURCE_GOOGLE_NEWS;
extern const struct provider SOURCE_GREP_APP;
extern const struct provider SOURCE_HACKERNEWS;
extern const struct provider SOURCE_KEENABLE;
extern const struct provider SOURCE_MARGINALIA;
extern const struct provider SOURCE_MDN;
extern const struct provider SOURCE_MWMBL;
extern const struct provider SOURCE_NPM;
extern const struct provider SOURCE_OPENALEX;
extern const struct provider SOURCE_OPENVERSE;
extern const struct provider SOURCE_PARALLEL;
extern const struct provider SOURCE_SEMANTIC_SCHOLAR;
extern const struct provider SOURCE_SOURCEGRAPH;
extern const struct provider SOURCE_STACKEXCHANGE;
extern const struct provider SOURCE_WIBY;
extern const struct provider SOURCE_WIKIDATA;
extern const struct provider SOURCE_WIKIPEDIA;
extern const struct provider SOURCE_YOU;

/* ---- for build functions (asking.c) ---- */

/* The words of a text: marks other than those in `kept` become blanks, and quotes that are not in
 * pairs do too. The text itself where no word is left; NULL without memory. */
const char *words_only(struct arena *arena, const char *text, const char *kept);
/* The country that was asked for, or the one of a language like "pt-BR"; NULL: none. */
const char *query_country(const struct search_query *query);
/* The address of mail in FORAGE_CONTACT, or NULL. */
const char *source_mail(void);

/* ---- for parse functions (reading.c) ---- */

/* HTML or JATS as one line of text, whatever its elements are. NULL for NULL, and without memory.
 */
const char *plain_markup(struct arena *arena, const char *markup);
/* Adds the items of an RSS or Atom feed, whose texts are HTML or plain, without those that name a
 * site that was not asked for. OK, ERR_INVALID or ERR_NOMEM. */
int feed_hits(struct arena *arena, const char *text, size_t length,
              const struct search_query *query, bool html, struct hits *hits);

/* ---- DOIs (doi.c) ---- */

/* The DOI that a text is, whichever way it is written, or NULL. */
const char *source_doi(const char *text);
/* Where a DOI leads, in one spelling for all that name it; NULL for NULL. */
const char *doi_link(struct arena *arena, const char *doi);

/* ---- what a source cannot be told, or cannot give (narrowing.c) ---- */

enum source_lack {
    LACKS_SITES = 1, /* route.c drops what is elsewhere */
    LACKS_TIME = 2,  /* freshness and dates */
    LACKS_DATES = 4, /* it knows freshness only */
    LACKS_LANGUAGE = 8,
    LACKS_REGION = 16,
};

/* Says which of these were asked for, and the source has no word for. */
void source_lacks(struct provider_request *request, unsigned what);
/* The text with its sites, as query_with_sites() has it, in so many characters at most; says what
 * is missing. NULL without memory. */
const char *source_query(struct provider_request *request, size_t most);

/* For a source that gives one page of results, `most` of them: those of the pages before are passed
 * over, and where none can be left, it says so. */
void source_one_page(struct provider_request *request, size_t most);

/* ---- lists of results (lists.c) ---- */

/* Adds the results of a list, whose place is known to the caller: shape->list does not count. A key
 * may name a list of texts, of which the first is taken; `instead` is the key of what stands in for
 * a snippet that is missing or empty, or NULL. OK, or ERR_INVALID when it is no list. */
int source_add_list(struct hits *hits, yyjson_val *list, const struct hit_shape *shape,
                    const char *instead);

/* ---- sources that are tools of an MCP server (tool_call.c) ---- */

/* How all of them are asked, for their tables. */
#define TOOL_CALL .posts = true, .accept = "application/json, text/event-stream"

/* Makes the request's members those of a call of that tool; what provider_put() adds from now on is
 * an argument of it. */
void tool_call_start(struct provider_request *request, const char *tool);
/* The result of a tool, whether it came as a document or as an event; NULL when it is no answer of
 * a tool, or the tool failed. */
yyjson_val *tool_call_result(struct arena *arena, const char *body, size_t length);
/* The text that a tool answered with, whether it came as a document or as an event; NULL when it is
 * no answer of a tool, or the tool failed. */
const char *tool_call_text(struct arena *arena, const char *body, size_t length);
/* The same of a tool that answers with an object: its structured content, or else its text as JSON.
 */
yyjson_val *tool_call_object(struct arena *arena, const char *body, size_t length);

#endif
