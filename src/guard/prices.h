/* What services and models cost: data/prices.json, and a file of the operator's that wins over it
 * (FORAGE_PRICES). An estimate; the bill is the provider's. */
#ifndef FORAGE_GUARD_PRICES_H
#define FORAGE_GUARD_PRICES_H

#include "call/call.h"

#include <stddef.h>
#include <stdint.h>

struct prices;

/* `path` may be NULL. NULL with the reason in `problem`. */
struct prices *prices_new(const char *path, char *problem, size_t size);
struct prices *prices_free(struct prices *prices);
/* The cost in billionths of a dollar. `*unknown` grows by the number of names that were used and
 * have no price. */
int64_t prices_cost(struct prices *prices, const struct call_usage *usage, int64_t *unknown);

#endif
