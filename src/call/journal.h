/* The journal of a call that is kept (jobs/): what it did that must not be done twice, since it
 * costs money or time. When the process that worked on such a call was killed, another one begins
 * it anew and takes each step that the journal holds from there, in place of doing it: so it comes
 * to where the call was without asking anybody, and goes on.
 *
 * Whoever works on a call with a journal must therefore do the same after the same steps; what
 * depends on time goes by journal_last_ms().
 *
 * A call without a journal takes no step from anywhere, and everything that it adds is lost: the
 * functions below may be called all the same. For the thread that works on the call. */
#ifndef FORAGE_CALL_JOURNAL_H
#define FORAGE_CALL_JOURNAL_H

#include "call/call.h"

struct journal;

struct journal_step {
    const char *kind; /* "search" */
    const char *body; /* what came of it, JSON */
    int64_t at_ms;    /* of journal_worked_ms() */
};

/* Who keeps the steps. */
struct journal_options {
    const struct journal_step *steps; /* of earlier runs; they outlive the journal */
    size_t step_count;
    unsigned run;     /* the first is 1 */
    int64_t begun_ms; /* when the call was begun first, since 1970 */
    void *context;
    /* A step of an earlier run, by its index, takes the place of what the call would do now. */
    void (*took)(void *context, size_t index);
    /* Stores a step, in place of what is stored with that index or a later one. OK, or a status
     * that ends the call. */
    int (*add)(void *context, size_t index, const struct journal_step *step);
    /* Whether the call may do something outside now. OK, or a status that ends it. */
    int (*may_act)(void *context);
    /* What the call has come to, as JSON, for people who look at it. */
    void (*tell)(void *context, const char *state);
    /* What a later call that follows on this one needs of it, as JSON. */
    void (*leave)(void *context, const char *text);
};

/* In the arena; NULL without memory. */
struct journal *journal_new(struct arena *arena, const struct journal_options *options);

/* What came of the next step in an earlier run, which must be of that kind; where it is of another
 * one, the rest of the journal counts no more. NULL: it has to be done now. */
const char *journal_take(struct call *call, const char *kind);
/* Before something is done outside that costs: OK, or a status that ends the call. */
MUST_CHECK int journal_may_act(struct call *call);
/* Stores what came of a step before anything follows from it. OK, or a status that ends the call.
 */
MUST_CHECK int journal_add(struct call *call, const char *kind, const char *body);
/* The time that the call was worked on, in this run and in those before. It stands still while
 * steps are taken from the journal. */
int64_t journal_worked_ms(struct call *call);
/* The same at the end of the last step, which is the time to decide by: it is the same in every
 * run. */
int64_t journal_last_ms(struct call *call);
/* The same at the end of all earlier runs. */
int64_t journal_past_ms(const struct call *call);
/* When the call was begun first, since 1970: the same in every run. */
int64_t journal_begun_ms(const struct call *call);
/* Which run of the call this is, from 1. */
unsigned journal_run(const struct call *call);
/* Tells what the call has come to, as JSON. */
void journal_tell(struct call *call, const char *state);
/* Leaves what a later call that follows on this one needs of it, as JSON. */
void journal_leave(struct call *call, const char *text);

#endif
