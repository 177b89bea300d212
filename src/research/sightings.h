/* What a worker was seen to do: what it searched for, which pages it really read, in how many
 * rounds, and what it said. Made from its events; what it claims in its answer does not count. */
#ifndef FORAGE_RESEARCH_SIGHTINGS_H
#define FORAGE_RESEARCH_SIGHTINGS_H

#include "call/call.h"
#include "core/buf.h"
#include "evidence/evidence.h"
#include "research/worker.h"

#include <stdbool.h>
#include <stddef.h>

struct sightings_list {
    const char **items; /* in the call's arena, each once */
    size_t count;
    size_t capacity;
};

struct sightings {
    struct call *call;
    int max_rounds;
    bool is_one_search; /* a further one is told, and the next ends the worker */
    struct sightings_list queries;
    struct sightings_list sources; /* URLs of pages that were read */
    struct evidence *evidence;     /* the same pages, with their texts where they are known */
    struct sightings_list warnings;
    int searches;
    int rounds;            /* turns in which it searched */
    int turns;             /* in which it used tools */
    bool in_turn;          /* tools are asked for, and none has answered yet */
    bool counted;          /* this turn is a round already */
    struct use *pending;   /* uses without their result */
    bool shows_events;     /* else it is a program that only prints its answer */
    struct buf said;       /* everything; of a worker without events, all that it printed */
    size_t answer_start;   /* what comes after its last use of a tool */
    bool is_done;          /* it came to its end in order */
    int http_status;       /* that the service behind it failed with, or 0 */
    const char *failure;   /* its own words for why not, or NULL */
    const char *complaint; /* its last words for what went wrong on the way, or NULL */
};

/* OK or ERR_NOMEM. */
MUST_CHECK int sightings_init(struct sightings *sightings, struct call *call, int max_rounds);
/* Whether the worker began a round too many, or a search too many where one is all. */
bool sightings_are_too_many(const struct sightings *sightings);
/* Whether a text names a page that was read. */
bool sightings_have_page_of(struct sightings *sightings, const char *text);
/* Where a worker's events go. ERR_LIMIT when it begins one round or one turn too many. */
struct worker_sink sightings_sink(struct sightings *sightings);
/* Adds `text` to a list unless it is there or the list is full. False without memory. */
bool sightings_add(struct sightings *sightings, struct sightings_list *list, const char *text);
void sightings_done(struct sightings *sightings);
/* Tells what the research has come to (call/journal.h; progress.c). */
void sightings_tell(const struct sightings *sightings);

/* Reports progress of a call that has no end to count towards: the seconds that it has taken. */
void progress_say(struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
