/* The resources and prompts that forage offers beside its tools. */
#ifndef FORAGE_APP_OFFERS_H
#define FORAGE_APP_OFFERS_H

#include "registry/registry.h"

/* A status. */
int offers_register(struct registry *registry);

#endif
