/* How fast an upstream may be asked: its operator's own words as a table, and the one place that
 * decides by it when the next request may go out. Nothing here waits or stores: guard/pacer.h gives
 * calls their turns, and ops/ stores what processes and machines share.
 *
 * A request gets a time of its own, none earlier than one before it. In any stretch as long as a
 * window there are never more requests than the window allows: no count begins anew at a boundary,
 * so that two bursts never meet there. */
#ifndef FORAGE_GUARD_PACE_H
#define FORAGE_GUARD_PACE_H

#include "core/id.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct call;

#define PACE_WINDOWS 3

/* What is not given has no limit. */
struct pace {
    struct {
        unsigned calls; /* beyond LIMIT_PACE_CALLS it is that many */
        int64_t window_ms;
    } windows[PACE_WINDOWS]; /* one without calls ends them */
    unsigned at_once;        /* transfers side by side */
};

/* arXiv is searched, and asked about single papers: its operator wants one request in three
 * seconds, one after the other, whatever they are for. */
#define PACE_OF_ARXIV                                                                              \
    {                                                                                              \
        .windows = {{1, 3000}}, .at_once = 1                                                       \
    }

/* The time between a call and the one so many places after it: the window and a little more, since
 * requests take different times on their way. */
int64_t pace_span_ms(int64_t window_ms);
/* The calls of a window that are counted, and the time after which a call counts in none; 0 where
 * the pace has no such window, or none. */
unsigned pace_calls(const struct pace *pace, unsigned window);
int64_t pace_memory_ms(const struct pace *pace);

/* What is known of a source, in milliseconds of one clock. */
struct pace_past {
    int64_t last_ms;              /* the time of the latest call; PACE_NEVER */
    int64_t nth_ms[PACE_WINDOWS]; /* of the one as many places before as the window has calls */
    unsigned running;       /* turns that have not ended, those that wait for their time too */
    bool rested;            /* it wanted to be left alone, and nobody knows better since */
    int64_t rests_until_ms; /* then: until when */
};
#define PACE_NEVER (INT64_MIN / 4)

enum pace_answer {
    PACE_GRANTED,
    PACE_LATER, /* its time would come later than it can wait */
    PACE_FULL,  /* too many turns have not ended: nobody knows when one does */
    PACE_RESTS, /* the source wants to be left alone, or somebody tries whether it still does */
};

/* A call's wish for a turn, and what comes of it. */
struct pace_claim {
    const char *source;
    const struct pace *pace;
    char id[ID_SIZE];    /* of the turn */
    int64_t patience_ms; /* that it can wait */
    int64_t ahead_ms;    /* its time must not come sooner than that */
    int64_t lasts_ms;    /* from its time to the end of its transfer, at most */
    /* Filled in by whoever decides. */
    enum pace_answer answer;
    int64_t wait_ms;    /* from the decision to its time, or to the end of the rest; 0 when full */
    int64_t decided_ms; /* when that was, by the monotonic clock of this process */
    bool probe; /* the source has rested: this turn tries it, and what comes of it decides */
};

void pace_decide(struct pace_claim *claim, const struct pace_past *past, int64_t now_ms);

/* How a turn ended. */
struct pace_end {
    const char *source;
    const struct pace *pace;
    const char *id;
    bool unused;     /* nothing was sent: the time is free again */
    bool probe;      /* as of the claim */
    int64_t rest_ms; /* that the source wants; 0: it answered; PACE_UNKNOWN */
};
#define PACE_UNKNOWN (-1) /* nobody can say whether the source would answer */

/* Turns that several processes share. */
struct pace_store {
    void *context;
    /* Decides by what is stored of the source, and stores a turn that is granted. OK when it is
     * decided; ERR_CANCELLED or ERR_DEADLINE of the call; any other status when nobody can say now.
     */
    int (*take)(void *context, struct call *call, struct pace_claim *claim);
    /* Stores how a turn ended, later: nobody waits for it. */
    void (*end)(void *context, struct call *call, const struct pace_end *end);
};

#endif
