/* The writer: every change of the store goes through here. Where a commit is dear (it waits for the
 * disk), the changes of callers that come at the same time share one: the first becomes the leader
 * and writes for all that wait; each keeps its own outcome. What writer_run() returned OK for is on
 * the disk. */
#ifndef FORAGE_MEMORY_WRITER_H
#define FORAGE_MEMORY_WRITER_H

#include "memory/rules.h"

struct writer_job {
    struct call *call;
    struct memory_space space;
    /* Does the work inside a transaction. OK, ERR_FAILED after call_fail(work->call), or a status
     * of the session; then nothing of it is written. It may be called again when the database asks
     * for another try. */
    int (*apply)(const struct rules_work *work, void *context);
    void *context;
};

/* OK; ERR_FAILED with the call's error set; ERR_CANCELLED or ERR_DEADLINE when it was not begun. */
int writer_run(const struct writer_job *job);

#endif
