/* The worker pool: threads for calls that wait for the outside world. It has no queue: a job gets a
 * thread at once, or a refusal. How many there are is a stock (core/stock.h), of which each caller
 * has its share. Of several callers the one that takes most of the processors lets the others go
 * first. Threads start when they are needed and leave when they have been idle for a while,
 * so that an idle server is small. */
#ifndef FORAGE_CALL_POOL_H
#define FORAGE_CALL_POOL_H

#include "core/status.h"
#include "core/stock.h"

#include <stdbool.h>
#include <stddef.h>

struct call;
struct pool;
typedef void (*pool_job)(void *context);

/* One thread is one unit of the rule. */
struct pool *pool_new(struct stocks *stocks, const struct stock_rule *rule);
/* Before the first job: how long a thread stays idle, and what the last idle one calls before it
 * leaves. Jobs may run meanwhile, and new ones begin. */
void pool_at_rest(struct pool *pool, int64_t idle_ms, void (*rest)(void *context), void *context);
/* Runs the job, which works on `call` and is counted as its owner's; `from_kept`: it may have one
 * of the threads that are kept back. OK, ERR_BUSY when all threads have work, ERR_LIMIT when the
 * owner has its share of them, ERR_NOMEM when no thread could be had. */
MUST_CHECK int pool_run(struct pool *pool, struct call *call, bool from_kept, pool_job job,
                        void *context);
/* The job on this thread has done its work and only hands over what came of it: what it took of the
 * stock is free again, so that whoever gets the answer can ask the next question at once. */
void pool_work_is_done(void);
/* The job on this thread takes long from here on: where there are several callers it lets those
 * that are quick go first. */
void pool_step_back(void);
/* What whoever asked is told when pool_run() did not return OK. */
const char *pool_refusal(int status);
size_t pool_running(struct pool *pool);
/* Shows the call of each running job to `look`, which must not wait. */
void pool_look(struct pool *pool, void (*look)(void *context, const struct call *call),
               void *context);
/* Cancels the calls of all running jobs. */
void pool_cancel_all(struct pool *pool);
/* Waits for the running jobs to end, then for the threads. No job may be added any more. */
struct pool *pool_free(struct pool *pool);
/* For a program that ends without that, and leaves threads that it cannot wait for. */
void pool_leave(struct pool *pool);

#endif
