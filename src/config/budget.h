/* What the client that forage was started for (FORAGE_CONTEXT) takes. How large a result may be:
 * what the operator set, else what suits that client, else the default of FORAGE_MAX_RESULT_CHARS.
 */
#ifndef FORAGE_CONFIG_BUDGET_H
#define FORAGE_CONFIG_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget {
    size_t chars;        /* that the whole result of a call may have */
    size_t bytes;        /* that the client takes, where it counts those; 0: it counts characters */
    const char *reason;  /* why so many, for people */
    const char *context; /* that was told, or NULL */
    bool known;          /* the context names a client of the table */
    bool as_text; /* and its model would not get the structured result, or would get it beside the
                     text */
};

struct budget budget_find(void);
size_t budget_chars(void);
/* How long that client waits for the result of a call, somewhat less: INT64_MAX for as long as it
 * takes, 0 where nobody knows. */
int64_t budget_patience_ms(void);
/* The characters of the budget that a text of so many characters and bytes takes: its own, or more
 * where the client counts bytes and the text has many for a character, as Japanese has. */
size_t budget_taken(size_t chars, size_t bytes);
/* Shares `room` fairly: the most that each may have so that all together fit, where what the short
 * ones leave goes to the long ones. SIZE_MAX when all fit whole. */
size_t budget_share(const size_t *needs, size_t count, size_t room);

#endif
