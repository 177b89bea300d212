/* The values of variables: from text to what a getter returns, and what is allowed in words. */
#ifndef FORAGE_CONFIG_VALUES_H
#define FORAGE_CONFIG_VALUES_H

#include "config/variables.h"
#include "core/arena.h"
#include "text/text.h"

struct config_value {
    const char *text;         /* in its plain form ("true", "error"); NULL: not set */
    int64_t number;           /* integers; milliseconds; 1 or 0 */
    const char *const *items; /* of a list; NULL ends them */
    size_t item_count;
};

/* Reads `text`, which is NULL for a variable that is not set. `home` is what ~ stands for, or NULL.
 * OK, ERR_INVALID when the text is not of the variable's kind, or ERR_NOMEM. The value lives in the
 * arena. */
int value_parse(const struct variable *variable, const char *text, const char *home,
                struct arena *arena, struct config_value *value);
/* "an integer from 1 to 1024". */
void value_put_allowed(struct text_out *out, const struct variable *variable);
/* "30s": a duration as a person would write it. */
void value_put_duration(struct text_out *out, int64_t duration_ms);
/* "100MB", the same for bytes. */
void value_put_size(struct text_out *out, int64_t bytes);

#endif
