/* Countries, as callers and providers write them. */
#ifndef FORAGE_WEBSEARCH_COUNTRIES_H
#define FORAGE_WEBSEARCH_COUNTRIES_H

/* The ISO 3166-1 alpha-2 code in capitals, given in any case of letters; NULL when there is none.
 */
const char *country_code(const char *text);
/* The name that Tavily wants for a code; NULL when it does not know the country. */
const char *country_tavily_name(const char *code);

#endif
