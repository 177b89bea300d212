/* Effort: how much processor time callers took of late, and which of them takes so much that its
 * work should let that of the others go first. Nobody is refused anything for it.
 *
 * Not thread-safe: its owner holds a lock. */
#ifndef FORAGE_CALL_EFFORT_H
#define FORAGE_CALL_EFFORT_H

#include <stdbool.h>
#include <stdint.h>

#define EFFORT_OWNERS 32 /* that are told apart; who took least is forgotten for a new one */

/* Zeroed is empty. */
struct effort {
    struct effort_owner {
        uint64_t name; /* a hash of it; 0: free */
        double us;     /* of processor time, each second worth half of the one after */
        int64_t at_ms; /* when it was last counted */
    } owners[EFFORT_OWNERS];
};

/* An owner took so many microseconds of processor time. NULL is forage itself. */
void effort_add(struct effort *effort, const char *owner, int64_t us, int64_t now_ms);
/* Whether it takes more than all others together, while there are others. */
bool effort_is_most(const struct effort *effort, const char *owner, int64_t now_ms);

#endif
