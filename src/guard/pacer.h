/* The pacer gives calls their turns at sources that set a pace (guard/pace.h). Whoever wants to ask
 * such a source takes a turn, which waits until its time has come, asks, and leaves.
 *
 * One call of a process at a time has a time of its own and waits for it; the others stand behind
 * it. Of those the next is the caller's who had fewest turns, and of one caller's calls the one
 * that came first: so a hundred calls of one caller do not keep another waiting, nor those of one
 * process another process. Turns are in the store that processes share; where it cannot be used,
 * this process counts by itself. */
#ifndef FORAGE_GUARD_PACER_H
#define FORAGE_GUARD_PACER_H

#include "guard/pace.h"

struct pacer;

/* `store` may have no functions: then nothing is shared. NULL without memory. */
struct pacer *pacer_new(const struct pace_store *store);
/* No turn may be held any more. */
struct pacer *pacer_free(struct pacer *pacer);

struct pace_turn {
    /* With ERR_BUSY: */
    int64_t wait_ms; /* until a turn could come, as far as anybody knows */
    bool rests;      /* the source wants to be left alone for so long */
    /* The pacer's own. */
    struct pacer *pacer;
    struct paced *paced;
    struct call *call;
    const struct pace *pace;
    char id[ID_SIZE];
    bool probe;
};

/* OK when the turn has come, of which nothing may be sent later than now: pace_leave() must follow.
 * ERR_BUSY when it would come later than `patience_ms` or the call's deadline allows, or the source
 * rests: nothing is taken. ERR_CANCELLED, ERR_DEADLINE, ERR_IO, ERR_NOMEM. A transfer must not
 * take longer than TIME_SEARCH_TRY_MS. In a program without a pacer every turn comes at once. */
MUST_CHECK int pace_take(struct call *call, const char *source, const struct pace *pace,
                         int64_t patience_ms, struct pace_turn *turn);
/* After the transfer. `rest_ms`: 0 when the source answered; for how long it is to be left alone
 * when it refused, by every process; PACE_UNKNOWN where neither is known. */
void pace_leave(struct pace_turn *turn, int64_t rest_ms);

#endif
