/* What the model is told: prompts/answer.md with its blanks filled in. The same wishes at the same
 * time give the same words. Pure. */
#ifndef FORAGE_ANSWER_PROMPT_H
#define FORAGE_ANSWER_PROMPT_H

#include "core/arena.h"

#include <stdint.h>

struct prompt_wishes {
    int max_results;
    int freshness_hours; /* 0: any age */
    const char *country; /* its name; NULL: anywhere */
    int64_t now;         /* seconds since 1970 */
};

/* NULL without memory. */
const char *prompt_write(struct arena *arena, const struct prompt_wishes *wishes);

#endif
