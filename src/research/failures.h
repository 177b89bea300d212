/* Why a worker failed, and what to do about it: one table for exit codes and for what workers say.
 */
#ifndef FORAGE_RESEARCH_FAILURES_H
#define FORAGE_RESEARCH_FAILURES_H

#include "proc/proc.h"
#include "research/worker.h"

struct failure {
    const char *code;    /* of call/errors.h */
    const char *message; /* what happened and what to do */
};

/* By its words; NULL when they are nothing that is known. */
const struct failure *failure_of_words(const char *words);
/* How a worker ended, as far as it told. */
struct failure_signs {
    const char *words; /* its last ones, or NULL */
    int http_status;   /* that the service behind it failed with, or 0 */
    int exit_code;
    const char *errors; /* what it wrote to stderr, which is noisy even when all is well */
};

/* By its words, the status, its exit, and then stderr. Never NULL. */
const struct failure *failure_find(const struct worker *worker, const struct failure_signs *signs);

#endif
