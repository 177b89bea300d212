/* The resources, the prompts and the skill that forage offers beside its tools. */
#ifndef FORAGE_APP_OFFERS_H
#define FORAGE_APP_OFFERS_H

#include "core/status.h"
#include "registry/registry.h"

/* A status. */
MUST_CHECK int offers_register(struct registry *registry);

#endif
