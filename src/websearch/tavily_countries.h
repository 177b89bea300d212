/* Countries as Tavily writes them: by names of its own. */
#ifndef FORAGE_WEBSEARCH_TAVILY_COUNTRIES_H
#define FORAGE_WEBSEARCH_TAVILY_COUNTRIES_H

/* The name for an ISO 3166-1 code in capitals; NULL when Tavily does not know the country. */
const char *tavily_country(const char *code);

#endif
