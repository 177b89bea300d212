/* How large a result may be: what the operator set, else what suits the client that forage was
 * started for (FORAGE_CONTEXT), else the default of FORAGE_MAX_RESULT_CHARS. */
#ifndef FORAGE_CONFIG_BUDGET_H
#define FORAGE_CONFIG_BUDGET_H

#include <stddef.h>

struct budget {
    size_t chars;        /* that the whole result of a call may have */
    const char *reason;  /* why so many, for people */
    const char *context; /* that was told, or NULL */
};

struct budget budget_find(void);
size_t budget_chars(void);
/* Shares `room` fairly: the most that each may have so that all together fit, where what the short
 * ones leave goes to the long ones. SIZE_MAX when all fit whole. */
size_t budget_share(const size_t *needs, size_t count, size_t room);

#endif
