/* The resources and prompts that forage offers beside its tools. */
#ifndef FORAGE_APP_RESOURCES_H
#define FORAGE_APP_RESOURCES_H

#include "registry/registry.h"

/* A status. */
int resources_register(struct registry *registry);
int prompts_register(struct registry *registry);

#endif
