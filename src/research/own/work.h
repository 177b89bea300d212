/* One research of our own while it runs, and the work that its model asks for. */
#ifndef FORAGE_RESEARCH_OWN_WORK_H
#define FORAGE_RESEARCH_OWN_WORK_H

#include "core/id.h"
#include "evidence/evidence.h"
#include "research/own/allowance.h"
#include "research/own/moves.h"
#include "research/own/own.h"
#include "research/own/sources.h"
#include "research/own/talk.h"
#include "research/sightings.h"

#define OWN_OPEN 16 /* questions */

/* A part of the plan, or the whole question where there is none. */
struct plan_part {
    const char *question;
    struct allowance allowance;
};

struct own {
    struct call *call;
    const struct research_request *request;
    const char *question; /* of the request; where it follows on another, so that it stands alone */
    struct model *model;
    struct evidence *evidence;
    struct sources sources;
    struct talk talk;
    struct allowance allowance;
    struct plan_part parts[ALLOWANCE_PARTS];
    size_t part_count; /* at least one */
    bool planned;
    char tag[ID_SECRET_SIZE]; /* around the words of strangers */
    bool plain;               /* the model does not call tools */
    int speechless;           /* turns in a row from which no move could be read */
    int turns, most_turns;
    int steps;              /* that were told */
    int stale_rounds;       /* since the last new fact */
    int stale_turns;        /* the same, of turns */
    int repeats;            /* turns that only repeated earlier ones */
    size_t notes;           /* the highest number of a note */
    size_t facts;           /* notes whose quote was found */
    bool closing;           /* the next turn is the last one: nothing is searched or read in it */
    bool finished;          /* the model says that it is done */
    bool uncovered;         /* and that the question is not covered */
    bool refused_finish;    /* it was told that there are no notes yet */
    const char *stopped;    /* why it ended; NULL: it goes on */
    const char *closed_by;  /* why it is closing */
    int64_t last_part;      /* that the model worked on; 0: none */
    bool writing;           /* what was kept back may be used */
    size_t asked_bytes;     /* of the last request */
    double tokens_per_byte; /* the most that the model counted; 0: it did not yet */
    struct model_tool tools[MOVE_KINDS];
    const char *prompt, *plain_prompt, *report_prompt, *judge_prompt;
    const char **done; /* keys of moves */
    size_t done_count, done_capacity;
    struct sightings seen; /* queries, pages, hosts and warnings, as of a worker */
    const char *open[OWN_OPEN];
    size_t open_count;
    const char *disputed[OWN_OPEN];
    size_t disputed_count;
};

/* The words of strangers, between tags that they cannot know. */
void own_put_data(const struct own *own, struct buf *out, const char *text);
/* Tells the client what happens; a client hears only of numbers that grow, so steps are counted. */
void own_say(struct own *own, const char *format, ...) __attribute__((format(printf, 2, 3)));
void own_warn(struct own *own, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Nothing more is searched because of that, and the next turn is the last; the first reason stays.
 */
void own_close(struct own *own, const char *why);
/* Takes what the call has used since the last time, for the part that it was used for; NULL: for
 * the whole alone, as the report is. */
void own_count(struct own *own, struct plan_part *part);
/* Whether a part may go on. Where not, the model is told, and where nothing is left at all the next
 * turn is its last. */
bool own_may_use(struct own *own, struct plan_part *part, enum allowance_kind kind,
                 struct buf *out);
/* When searching, reading and thinking have to be over, so that there is time to write: of
 * journal_worked_ms(), and the same moment of the monotonic clock. */
int64_t own_until(const struct own *own);
int64_t own_until_now(const struct own *own);
struct plan_part *own_part(struct own *own, int64_t number);

/* Does what the model wants and says what came of it; `failed`: it could not be done. The text is
 * never NULL but without memory. A status of the call. */
MUST_CHECK int work_do(struct own *own, const struct move *move, const char **text, bool *failed);

/* ---- reading (reading.c) ---- */

/* Reads sources side by side, those that were read before from memory, and shows what answers the
 * question. Appends to `out`. A status of the call. */
MUST_CHECK int reading_run(struct own *own, const struct move *move, struct plan_part *part,
                           struct buf *out);

/* ---- the report (writing.c) ---- */

/* Writes the report from the notes: by the model, or as a list where it cannot. There are notes. A
 * status of the call. */
MUST_CHECK int writing_run(struct own *own, const char **markdown);

/* ---- asking (own.c) ---- */

/* One request, within what is left of the tokens; usage is counted for `part`, which
 * may be NULL. As model_ask();
 * ERR_LIMIT also where the tokens or the money do not suffice, and then own->stopped says so. */
MUST_CHECK int own_ask(struct own *own, struct model *model, struct plan_part *part,
                       struct model_request *request, struct model_reply *reply);

#endif
