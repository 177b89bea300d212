/* The worker pool: threads for calls that wait for the outside world. It is bounded and has no
 * queue: a job gets a thread at once, or ERR_BUSY. Threads start when they are needed and leave
 * when they have been idle for a while, so that an idle server is small. */
#ifndef FORAGE_CALL_POOL_H
#define FORAGE_CALL_POOL_H

#include "core/status.h"

#include <stddef.h>

struct call;
struct pool;
typedef void (*pool_job)(void *context);

struct pool *pool_new(size_t workers);
/* Runs the job, which works on `call`. OK, ERR_BUSY when all workers have work, ERR_NOMEM when no
 * thread could be had. */
MUST_CHECK int pool_run(struct pool *pool, struct call *call, pool_job job, void *context);
size_t pool_running(struct pool *pool);
size_t pool_limit(const struct pool *pool);
/* Shows the call of each running job to `look`, which must not wait. */
void pool_look(struct pool *pool, void (*look)(void *context, const struct call *call),
               void *context);
/* Cancels the calls of all running jobs. */
void pool_cancel_all(struct pool *pool);
/* Waits for the running jobs to end, then for the threads. No job may be added any more. */
struct pool *pool_free(struct pool *pool);

#endif
