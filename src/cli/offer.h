/* The offer of open search: sources that need no key, for whoever has none. A person is told who
 * would get the words of searches, and asked; programs never are. */
#ifndef FORAGE_CLI_OFFER_H
#define FORAGE_CLI_OFFER_H

#include <stdbool.h>

/* Whether nothing searches the web here, and FORAGE_SEARCH_PROVIDERS says nothing of it. The
 * configuration must be loaded. */
bool offer_makes_sense(void);
/* Tells on the terminal which services would get the words of searches, and asks. */
bool offer_ask(const char *question);
/* On a terminal, where it makes sense: asks, and writes a yes into the settings file, which is read
 * from then on. Comes before the configuration is loaded. */
void offer_before_search(void);

#endif
