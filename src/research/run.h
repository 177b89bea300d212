/* One run of a worker, from its start to its end. */
#ifndef FORAGE_RESEARCH_RUN_H
#define FORAGE_RESEARCH_RUN_H

#include "research/sightings.h"
#include "research/worker.h"

/* How a run came to its end. */
struct run_end {
    struct proc_exit exit;
    const char *errors; /* the last of its stderr, in the call's arena; never NULL */
};

/* OK when the worker ended, however it did; ERR_LIMIT when it was ended because it began one round
 * too many or wrote a line without end; ERR_NOTFOUND or ERR_INVALID when it could not be started;
 * otherwise a status of the call. In every case it is over or ending when this returns. */
int run_worker(struct call *call, const struct worker *worker, const struct worker_job *job,
               struct sightings *sightings, struct run_end *end);

#endif
