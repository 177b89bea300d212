/* Takes steps of earlier runs one after the other, and hands new ones to whoever keeps them. */
#include "call/journal.h"

#include "core/clock.h"

#include <string.h>

struct journal {
    struct journal_options options;
    size_t next;              /* step, of this run or an earlier one */
    int64_t last_ms;          /* when the last step ended, in time that was worked */
    int64_t taken_ms;         /* the same of the last one that was taken */
    int64_t goes_on_since_ms; /* nothing more is taken; 0: something may be */
};

struct journal *journal_new(struct arena *arena, const struct journal_options *options)
{
    struct journal *journal = arena_zalloc(arena, sizeof *journal);
    if (journal) {
        journal->options = *options;
    }
    return journal;
}

/* The next step of an earlier run; NULL, from then on for good, where there is none. */
static const struct journal_step *next_step(struct journal *journal)
{
    if (!journal->goes_on_since_ms && journal->next < journal->options.step_count) {
        return &journal->options.steps[journal->next];
    }
    if (!journal->goes_on_since_ms) {
        journal->goes_on_since_ms = clock_now_ms();
    }
    return NULL;
}

const char *journal_take(struct call *call, const char *kind)
{
    struct journal *journal = call_journal(call);
    const struct journal_step *step = journal ? next_step(journal) : NULL;
    if (!step) {
        return NULL;
    }
    if (strcmp(step->kind, kind) != 0) {
        journal->goes_on_since_ms = clock_now_ms(); /* another version, or other settings */
        return NULL;
    }
    journal->last_ms = journal->taken_ms = step->at_ms;
    if (journal->options.took) {
        journal->options.took(journal->options.context, journal->next);
    }
    journal->next++;
    return step->body;
}

int journal_may_act(struct call *call)
{
    const struct journal *journal = call_journal(call);
    return journal && journal->options.may_act ? journal->options.may_act(journal->options.context)
                                               : OK;
}

int journal_add(struct call *call, const char *kind, const char *body)
{
    struct journal *journal = call_journal(call);
    if (!journal) {
        return OK;
    }
    struct journal_step step = {kind, body, journal_worked_ms(call)};
    size_t index = journal->next++;
    journal->last_ms = step.at_ms;
    return journal->options.add ? journal->options.add(journal->options.context, index, &step) : OK;
}

int64_t journal_worked_ms(struct call *call)
{
    struct journal *journal = call_journal(call);
    if (!journal) {
        return clock_now_ms() - call_started_ms(call);
    }
    next_step(journal);
    return journal->taken_ms +
           (journal->goes_on_since_ms ? clock_now_ms() - journal->goes_on_since_ms : 0);
}

int64_t journal_last_ms(struct call *call)
{
    const struct journal *journal = call_journal(call);
    return journal ? journal->last_ms : journal_worked_ms(call);
}

int64_t journal_past_ms(const struct call *call)
{
    const struct journal *journal = call_journal(call);
    size_t count = journal ? journal->options.step_count : 0;
    return count ? journal->options.steps[count - 1].at_ms : 0;
}

int64_t journal_begun_ms(const struct call *call)
{
    const struct journal *journal = call_journal(call);
    return journal ? journal->options.begun_ms : clock_wall_ms();
}

unsigned journal_run(const struct call *call)
{
    const struct journal *journal = call_journal(call);
    return journal ? journal->options.run : 1;
}

void journal_tell(struct call *call, const char *state)
{
    struct journal *journal = call_journal(call);
    if (journal && journal->options.tell && state) {
        journal->options.tell(journal->options.context, state);
    }
}

void journal_leave(struct call *call, const char *text)
{
    struct journal *journal = call_journal(call);
    if (journal && journal->options.leave && text) {
        journal->options.leave(journal->options.context, text);
    }
}
