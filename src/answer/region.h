/* Countries by their ISO 3166-1 code: the table is data/countries.txt. Pure. */
#ifndef FORAGE_ANSWER_REGION_H
#define FORAGE_ANSWER_REGION_H

#include "base/arena.h"

/* The name of the country with a code of two letters, in any case; NULL when there is none, or no
 * memory. */
const char *region_name(struct arena *arena, const char *code);

#endif
