/* Countries by their ISO 3166-1 codes: the table is data/countries.txt. Pure. */
#ifndef FORAGE_WORLD_COUNTRIES_H
#define FORAGE_WORLD_COUNTRIES_H

#include "core/arena.h"

/* The code in capitals, given in any case of letters; "UK" is what everybody writes for GB. NULL
 * when there is none, or no memory. */
const char *country_code(struct arena *arena, const char *text);
/* The name of the country with a code, in any case; NULL when there is none, or no memory. */
const char *country_name(struct arena *arena, const char *code);

#endif
