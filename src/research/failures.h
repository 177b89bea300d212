/* Why a worker failed, and what to do about it: one table for exit codes and for what workers say.
 */
#ifndef FORAGE_RESEARCH_FAILURES_H
#define FORAGE_RESEARCH_FAILURES_H

#include "base/proc.h"
#include "research/worker.h"

struct failure {
    const char *code;    /* of call/errors.h */
    const char *message; /* what happened and what to do */
};

/* By its words; NULL when they are nothing that is known. */
const struct failure *failure_of_words(const char *words);
/* By its last words, its exit, and then what it wrote to stderr, which is noisy even when all is
 * well; `words` may be NULL. Never NULL. */
const struct failure *failure_find(const struct worker *worker, const struct proc_exit *exit,
                                   const char *words, const char *errors);

#endif
