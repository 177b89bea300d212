/* Which variables a client should hand on to forage. */
#ifndef FORAGE_SETUP_KEYS_H
#define FORAGE_SETUP_KEYS_H

#include "core/limits.h"

#include <stddef.h>

struct keys {
    const char *names[LIMIT_SETUP_KEYS]; /* of data/variables.txt */
    size_t count;
};

/* Those that are set in the environment and that forage can use when a client has started it: keys,
 * tokens and addresses of services. */
void keys_from_environment(struct keys *keys);
/* Those that a list names, separated by commas. ERR_INVALID with words when forage does not know
 * one, or there are too many. */
int keys_parse(struct keys *keys, const char *list, char *problem, size_t size);

#endif
