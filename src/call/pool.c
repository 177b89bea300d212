/* The worker pool. Idle threads wait in a stack; a job is handed to the one that became idle last,
 * whose caches are warm. A thread that stays idle for a while leaves, and the last one that does so
 * gives back what the calls have left behind.
 *
 * Where there are several callers, the jobs of the one that takes most of the processors are done
 * by threads of a lower priority, and so is the rest of a job that says that it is long. The system
 * lets a thread lower its priority but not raise it again, so there are two stacks of idle threads.
 *
 * Each thread is joined, by the next one that leaves or by pool_free(): libraries clean up after a
 * thread when it ends, and must have done so before the program runs its exit handlers. */
#include "call/pool.h"

#include "call/call.h"
#include "call/effort.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/heap.h"
#include "core/limits.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NICENESS    10  /* of threads that let others go first */
#define SHORT_US    200 /* by the clock: a job below that is counted without asking the system */
#define STACK_BYTES ((size_t)512 * 1024)

struct pool_worker {
    struct pool *pool;
    pthread_cond_t has_job;
    pool_job job; /* NULL while idle */
    void *context;
    struct call *call;      /* a reference, while it has a job */
    atomic_uint references; /* its thread's, and whoever is about to wake it */
    struct holding unit;
    bool steps_back; /* it lets other threads go first, for good */
    int64_t cpu_us;  /* processor time of the thread that is counted */
    struct pool_worker *next_idle;
    struct pool_worker *previous, *next; /* all workers */
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t all_gone;
    struct stock *stock; /* a unit is a thread with work to do */
    size_t threads;
    size_t running; /* threads with a job */
    bool closing;
    bool shared;                 /* there are several callers */
    struct effort effort;        /* of each of them */
    int64_t idle_ms;             /* of a thread, before it leaves */
    void (*rest)(void *context); /* or NULL */
    void *rest_context;
    struct pool_worker *idle[2]; /* by whether they step back */
    struct pool_worker *all;
    pthread_t left; /* the thread that left last, while `to_join` */
    bool to_join;
    bool left_alone; /* nobody joins threads any more */
};

struct pool *pool_new(struct stocks *stocks, const struct stock_rule *rule)
{
    struct pool *pool = calloc(1, sizeof *pool);
    if (!pool) {
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->all_gone, NULL);
    pool->shared = stocks_have_others(stocks);
    pool->stock = stock_new(stocks, rule);
    pool->idle_ms = TIME_POOL_IDLE_MS;
    return pool->stock ? pool : pool_free(pool);
}

static void worker_leave(struct pool_worker *worker)
{
    if (atomic_fetch_sub(&worker->references, 1) == 1) {
        pthread_cond_destroy(&worker->has_job);
        free(worker);
    }
}

void pool_at_rest(struct pool *pool, int64_t idle_ms, void (*rest)(void *context), void *context)
{
    pool->idle_ms = idle_ms;
    pool->rest = rest;
    pool->rest_context = context;
}

static void remove_idle(struct pool *pool, struct pool_worker *worker)
{
    struct pool_worker **link = &pool->idle[worker->steps_back];
    while (*link && *link != worker) {
        link = &(*link)->next_idle;
    }
    if (*link) {
        *link = worker->next_idle;
    }
}

/* Waits for a job with the lock held. False when the thread should leave. */
static bool wait_for_job(struct pool_worker *worker)
{
    struct pool *pool = worker->pool;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += pool->idle_ms / 1000;
    until.tv_nsec += pool->idle_ms % 1000 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    worker->next_idle = pool->idle[worker->steps_back];
    pool->idle[worker->steps_back] = worker;
    while (!worker->job && !pool->closing) {
        int error = pthread_cond_timedwait(&worker->has_job, &pool->lock, &until);
        if (error == ETIMEDOUT && !worker->job) {
            break;
        }
    }
    if (!worker->job) {
        remove_idle(pool, worker);
        return false;
    }
    return true;
}

static _Thread_local struct pool_worker *this_worker; /* while it has a job */

/* On Linux a priority is that of the thread alone. Where it cannot be lowered the work is done as
 * that of others is, which is no reason to fail. */
static void step_back(void)
{
    int lowered = nice(NICENESS);
    (void)lowered;
}

/* Counts the job that this thread has just done. */
static void count_effort(struct pool_worker *worker, int64_t began_us)
{
    int64_t now_us = clock_now_us();
    int64_t took_us = now_us - began_us;
    struct timespec cpu;
    if (took_us >= SHORT_US && clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0) {
        int64_t cpu_us = (int64_t)cpu.tv_sec * 1000000 + cpu.tv_nsec / 1000;
        took_us = cpu_us - worker->cpu_us;
        worker->cpu_us = cpu_us;
    } else {
        worker->cpu_us += took_us;
    }
    effort_add(&worker->pool->effort, call_owner(worker->call), took_us, now_us / 1000);
}

static void do_job(struct pool_worker *worker)
{
    struct pool *pool = worker->pool;
    pthread_mutex_unlock(&pool->lock);
    int64_t began_us = pool->shared ? clock_now_us() : 0;
    this_worker = worker;
    worker->job(worker->context);
    this_worker = NULL;
    heap_rest();
    pthread_mutex_lock(&pool->lock);
    if (pool->shared) {
        count_effort(worker, began_us);
    }
    worker->call = call_free(worker->call);
    worker->job = NULL;
    stock_give_all(&worker->unit);
    pool->running--;
}

/* Joins those that left, with the lock held, which it gives up meanwhile: what a thread has kept
 * for itself is free when it has ended. */
static void join_left(struct pool *pool)
{
    while (pool->to_join) {
        pthread_t left = pool->left;
        pool->to_join = false;
        pthread_mutex_unlock(&pool->lock);
        pthread_join(left, NULL);
        pthread_mutex_lock(&pool->lock);
    }
}

/* The same way. */
static void rest(struct pool *pool)
{
    pthread_mutex_unlock(&pool->lock);
    if (pool->rest) {
        pool->rest(pool->rest_context);
    }
    heap_return();
    pthread_mutex_lock(&pool->lock);
}

static void add_worker(struct pool *pool, struct pool_worker *worker)
{
    worker->next = pool->all;
    if (pool->all) {
        pool->all->previous = worker;
    }
    pool->all = worker;
    pool->threads++;
}

static void remove_worker(struct pool *pool, struct pool_worker *worker)
{
    if (worker->previous) {
        worker->previous->next = worker->next;
    } else {
        pool->all = worker->next;
    }
    if (worker->next) {
        worker->next->previous = worker->previous;
    }
    pool->threads--;
}

static void *work(void *argument)
{
    struct pool_worker *worker = argument;
    struct pool *pool = worker->pool;
    if (worker->steps_back) {
        step_back();
    }
    pthread_mutex_lock(&pool->lock);
    do {
        do_job(worker);
    } while (wait_for_job(worker));
    join_left(pool);
    if (!pool->closing && !pool->idle[false] && !pool->idle[true]) {
        rest(pool);
        join_left(pool);
    }
    remove_worker(pool, worker);
    pool->left = pthread_self();
    pool->to_join = !pool->left_alone;
    if (pool->left_alone) {
        pthread_detach(pool->left);
    }
    if (pool->threads == 0) {
        pthread_cond_broadcast(&pool->all_gone);
    }
    pthread_mutex_unlock(&pool->lock);
    worker_leave(worker);
    return NULL;
}

/* A job on its way to a thread. */
struct errand {
    struct call *call;
    pool_job job;
    void *context;
    struct holding unit;
    bool steps_back;
};

static void give_job(struct pool_worker *worker, const struct errand *errand)
{
    worker->call = call_ref(errand->call);
    worker->job = errand->job;
    worker->context = errand->context;
    worker->unit = errand->unit;
}

static struct pool_worker *worker_new(struct pool *pool)
{
    struct pool_worker *worker = calloc(1, sizeof *worker);
    if (!worker) {
        return NULL;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->has_job, &attributes);
    pthread_condattr_destroy(&attributes);
    atomic_init(&worker->references, 1);
    worker->pool = pool;
    return worker;
}

/* With the lock held, so that the thread is counted before it can end. */
static int start_worker(struct pool *pool, const struct errand *errand)
{
    struct pool_worker *worker = worker_new(pool);
    if (!worker) {
        return ERR_NOMEM;
    }
    worker->steps_back = errand->steps_back;
    give_job(worker, errand);
    pthread_t thread; /* joined by what work() leaves in the pool */
    if (thread_start(&thread, STACK_BYTES, work, worker) != OK) {
        call_free(worker->call);
        worker_leave(worker);
        return ERR_NOMEM;
    }
    add_worker(pool, worker);
    return OK;
}

/* An idle thread is woken when it can take the lock, or it would wait once more. Its job may be
 * over by then. */
int pool_run(struct pool *pool, struct call *call, bool from_kept, pool_job job, void *context)
{
    struct errand errand = {.call = call, .job = job, .context = context};
    pthread_mutex_lock(&pool->lock);
    int status = pool->closing
                     ? ERR_BUSY
                     : stock_take(pool->stock, call_owner(call), from_kept, 1, &errand.unit);
    errand.steps_back =
        pool->shared && effort_is_most(&pool->effort, call_owner(call), clock_now_ms());
    struct pool_worker *idle = status == OK ? pool->idle[errand.steps_back] : NULL;
    if (idle) {
        pool->idle[errand.steps_back] = idle->next_idle;
        give_job(idle, &errand);
        atomic_fetch_add(&idle->references, 1);
    } else if (status == OK) {
        status = start_worker(pool, &errand);
        if (status != OK) {
            stock_give_all(&errand.unit);
        }
    }
    pool->running += status == OK;
    pthread_mutex_unlock(&pool->lock);
    if (idle) {
        pthread_cond_signal(&idle->has_job);
        worker_leave(idle);
    }
    return status;
}

void pool_work_is_done(void)
{
    if (this_worker) {
        stock_give_all(&this_worker->unit);
    }
}

void pool_step_back(void)
{
    if (this_worker && this_worker->pool->shared && !this_worker->steps_back) {
        step_back();
        this_worker->steps_back = true;
    }
}

const char *pool_refusal(int status)
{
    switch (status) {
    case ERR_LIMIT:
        return "you have as many calls running as one caller may while others can come "
               "(FORAGE_WORKERS has room for all of them together); wait for one to end";
    case ERR_NOMEM:
        return "forage has no memory or thread for another call now; try again in a moment";
    default:
        return "forage is busy with as many calls as it may run (FORAGE_WORKERS); try again in a "
               "moment";
    }
}

size_t pool_running(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    size_t running = pool->running;
    pthread_mutex_unlock(&pool->lock);
    return running;
}

void pool_look(struct pool *pool, void (*look)(void *context, const struct call *call),
               void *context)
{
    pthread_mutex_lock(&pool->lock);
    for (const struct pool_worker *worker = pool->all; worker; worker = worker->next) {
        if (worker->call) {
            look(context, worker->call);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

void pool_cancel_all(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (struct pool_worker *worker = pool->all; worker; worker = worker->next) {
        if (worker->call) {
            call_cancel(worker->call);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

void pool_leave(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->left_alone = true;
    if (pool->to_join) {
        pthread_detach(pool->left);
        pool->to_join = false;
    }
    pthread_mutex_unlock(&pool->lock);
}

struct pool *pool_free(struct pool *pool)
{
    if (!pool) {
        return NULL;
    }
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    for (size_t i = 0; i < sizeof pool->idle / sizeof *pool->idle; i++) {
        for (struct pool_worker *worker = pool->idle[i]; worker; worker = worker->next_idle) {
            pthread_cond_signal(&worker->has_job);
        }
    }
    while (pool->threads) {
        pthread_cond_wait(&pool->all_gone, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    if (pool->to_join) {
        pthread_join(pool->left, NULL);
    }
    pthread_cond_destroy(&pool->all_gone);
    pthread_mutex_destroy(&pool->lock);
    stock_free(pool->stock);
    free(pool);
    return NULL;
}
