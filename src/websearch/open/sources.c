/* The list of open sources: those that answer without a key. */
#include "websearch/open/sources.h"

/* clang-format off */
/* One row for each, in the order of their names. */
const struct provider *const OPEN_SOURCES[] = {
    &SOURCE_ARXIV,
    &SOURCE_BING_NEWS,
    &SOURCE_COMMONS,
    &SOURCE_CRATES,
    &SOURCE_CROSSREF,
    &SOURCE_DUCKDUCKGO,
    &SOURCE_EUROPE_PMC,
    &SOURCE_EXA_OPEN,
    &SOURCE_FIRECRAWL,
    &SOURCE_GDELT,
    &SOURCE_GITHUB,
    &SOURCE_GITHUB_ISSUES,
    &SOURCE_GOOGLE_NEWS,
    &SOURCE_GREP_APP,
    &SOURCE_HACKERNEWS,
    &SOURCE_KEENABLE,
    &SOURCE_MARGINALIA,
    &SOURCE_MDN,
    &SOURCE_MWMBL,
    &SOURCE_NPM,
    &SOURCE_OPENALEX,
    &SOURCE_OPENVERSE,
    &SOURCE_PARALLEL,
    &SOURCE_SEMANTIC_SCHOLAR,
    &SOURCE_SOURCEGRAPH,
    &SOURCE_STACKEXCHANGE,
    &SOURCE_WIBY,
    &SOURCE_WIKIDATA,
    &SOURCE_WIKIPEDIA,
    &SOURCE_YOU,
    NULL,
};
/* clang-format on */
