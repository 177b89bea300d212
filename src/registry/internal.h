/* The registry's own view of itself. */
#ifndef FORAGE_REGISTRY_INTERNAL_H
#define FORAGE_REGISTRY_INTERNAL_H

#include "registry/registry.h"

#define MOST_TOOLS     64
#define MOST_RESOURCES 32
#define MOST_PROMPTS   32

struct registry {
    struct arena *arena;
    struct gate gate;
    size_t tool_count;
    size_t resource_count;
    size_t prompt_count;
    struct entry tools[MOST_TOOLS];
    const struct resource *resources[MOST_RESOURCES];
    const struct prompt *prompts[MOST_PROMPTS];
};

#endif
