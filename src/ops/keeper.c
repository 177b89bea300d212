/* The thread that writes to the store. */
#include "ops/keeper.h"

#include "core/clock.h"
#include "core/event.h"
#include "core/fingerprint.h"
#include "core/limits.h"
#include "core/log.h"
#include "guard/callers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TIDY_EVERY 500 /* records */

enum job_kind { JOB_TAKE, JOB_RECORD };

/* Something to write. It is shared by who waits for it and the keeper; the last one frees it. */
struct job {
    enum job_kind kind;
    atomic_int references;
    int done;         /* an event */
    atomic_bool told; /* what came of it: from then on the next two belong to who waits */
    int status;
    struct spending spent;
    char caller[LIMIT_CALLER_NAME_CHARS + 1];
    bool wants_spending;
    size_t claim_count;
    struct limit_claim claims[LIMIT_WINDOW_CLAIMS];
    struct store_record record;
    char tool[64];
    char code[32];
    struct job *next;
};

struct queue {
    struct job *first;
    struct job **end;
};

struct keeper {
    keeper_open open;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t work;
    struct queue waiting;
    bool started;
    bool stopping;
    pthread_t thread;
    /* Only for the thread itself. */
    struct store *store;
    struct queue unsaved; /* records that could not be written yet */
    size_t unsaved_count;
    size_t lost_count;
    int64_t next_try_ms;
    unsigned records_since_tidy;
    bool failing;
};

/* ---- jobs ---- */

static struct job *job_new(enum job_kind kind, const struct call *call)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job) {
        return NULL;
    }
    const struct caller *caller = call_caller(call);
    job->kind = kind;
    job->status = ERR_IO;
    job->done = event_open();
    atomic_init(&job->references, 2);
    atomic_init(&job->told, false);
    snprintf(job->caller, sizeof job->caller, "%s", caller ? caller->name : "");
    if (job->done < 0) {
        free(job);
        return NULL;
    }
    return job;
}

static void job_free(struct job *job)
{
    if (atomic_fetch_sub(&job->references, 1) == 1) {
        event_close(job->done);
        free((void *)(uintptr_t)job->record.arguments); /* our own copy */
        free(job);
    }
}

static void queue_init(struct queue *queue)
{
    *queue = (struct queue){NULL, &queue->first};
}

static void queue_add(struct queue *queue, struct job *job)
{
    job->next = NULL;
    *queue->end = job;
    queue->end = &job->next;
}

static struct job *queue_take(struct queue *queue)
{
    struct job *job = queue->first;
    if (job) {
        queue->first = job->next;
        if (!queue->first) {
            queue->end = &queue->first;
        }
    }
    return job;
}

/* ---- writing ---- */

static int open_store(struct keeper *keeper)
{
    char problem[640] = "";
    unsigned char key[SHA256_SIZE];
    if (clock_now_ms() < keeper->next_try_ms) {
        return ERR_IO; /* it has just failed: calls do not wait for it to fail again */
    }
    if (keeper->store) {
        return OK;
    }
    keeper->store = keeper->open(NULL, problem, sizeof problem);
    if (keeper->store && keeper->store->functions->secret(keeper->store, key) == OK) {
        fingerprint_set_key(key);
    }
    if (keeper->store) {
        return OK;
    }
    if (!keeper->failing) {
        log_warn(NULL,
                 "usage and history are not kept, and limits hold within this process only: %s",
                 problem);
    }
    keeper->failing = true;
    return ERR_IO;
}

/* Writes one job. A window that is used up is an answer, not a failure. */
static int write_job(struct keeper *keeper, struct job *job)
{
    const struct store_functions *store = keeper->store->functions;
    int64_t now = clock_wall_ms();
    int status;
    if (job->kind == JOB_TAKE) {
        status = store->take(keeper->store, job->claims, job->claim_count, now);
    } else {
        status = store->add(keeper->store, &job->record);
        keeper->records_since_tidy++;
    }
    if (atomic_load(&job->told)) {
        return status; /* a record that is tried again */
    }
    job->status = status;
    if (job->wants_spending && (status == OK || status == ERR_LIMIT)) {
        int known = store->spent(keeper->store, job->caller, now, &job->spent);
        status = known == OK ? status : known;
    }
    return status == ERR_LIMIT ? OK : status;
}

static int write_all(struct keeper *keeper, struct queue *jobs)
{
    const struct store_functions *store = keeper->store->functions;
    bool durable = false;
    for (struct job *job = jobs->first; job; job = job->next) {
        durable |= job->kind == JOB_RECORD;
    }
    int status = store->begin(keeper->store, durable);
    for (struct job *job = jobs->first; status == OK && job; job = job->next) {
        status = write_job(keeper, job);
    }
    if (status == OK && keeper->records_since_tidy >= TIDY_EVERY) {
        keeper->records_since_tidy = 0;
        status = store->tidy(keeper->store, clock_wall_ms());
    }
    if (status == OK) {
        status = store->commit(keeper->store);
    }
    if (status != OK) {
        store->rollback(keeper->store);
    }
    return status;
}

/* What was spent today as far as this process knows it without the store. */
static void count_unsaved(const struct keeper *keeper, struct job *job)
{
    char today[GATE_DAY_SIZE];
    char day[GATE_DAY_SIZE];
    gate_day(clock_wall_ms(), today);
    job->spent = (struct spending){0};
    for (const struct job *other = keeper->unsaved.first; other; other = other->next) {
        gate_day(other->record.at_ms, day);
        if (strcmp(day, today) == 0) {
            bool own = strcmp(other->caller, job->caller) == 0;
            job->spent.total_nano += other->record.nano_usd;
            job->spent.caller_nano += own ? other->record.nano_usd : 0;
        }
    }
}

/* The records are tried again later; who waits for them is told. */
static void keep_unsaved(struct keeper *keeper, struct job *job)
{
    if (keeper->unsaved_count == LIMIT_UNSAVED_RECORDS) {
        job_free(queue_take(&keeper->unsaved));
        keeper->unsaved_count--;
        keeper->lost_count++;
    }
    queue_add(&keeper->unsaved, job);
    keeper->unsaved_count++;
}

static void report(struct keeper *keeper, int status)
{
    bool fails = status != OK;
    if (fails && !keeper->failing && keeper->store) {
        log_error(NULL, "usage and history could not be written (they are tried again): %s",
                  keeper->store->functions->problem(keeper->store));
    } else if (!fails && keeper->failing) {
        log_info(NULL, "usage and history are kept again");
    }
    keeper->failing = fails;
}

static void finish_jobs(struct keeper *keeper, struct queue *jobs, int status)
{
    struct job *job;
    while ((job = queue_take(jobs)) != NULL) {
        if (!atomic_load(&job->told)) {
            if (status != OK) {
                job->status = status;
                count_unsaved(keeper, job);
            }
            atomic_store(&job->told, true);
            event_signal(job->done);
        }
        if (status != OK && job->kind == JOB_RECORD) {
            keep_unsaved(keeper, job);
        } else {
            job_free(job);
        }
    }
}

/* Records that wait since the last failure come first: they are older. */
static void do_jobs(struct keeper *keeper, struct queue *jobs)
{
    struct queue all = keeper->unsaved;
    if (!all.first) {
        queue_init(&all);
    }
    *all.end = jobs->first;
    all.end = jobs->first ? jobs->end : all.end;
    queue_init(&keeper->unsaved);
    keeper->unsaved_count = 0;
    if (!all.first) {
        return;
    }
    bool tried = clock_now_ms() >= keeper->next_try_ms;
    int status = open_store(keeper);
    if (status == OK) {
        status = write_all(keeper, &all);
        report(keeper, status);
    }
    if (tried) {
        keeper->next_try_ms = status == OK ? 0 : clock_now_ms() + TIME_STORE_RETRY_MS;
    }
    finish_jobs(keeper, &all, status);
}

/* ---- the thread ---- */

/* Waits for work, or until it is time to try again or to close the store. False: it is the end. */
static bool wait_for_work(struct keeper *keeper, struct queue *jobs)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (keeper->unsaved_count ? TIME_STORE_RETRY_MS : TIME_STORE_IDLE_MS) / 1000;
    pthread_mutex_lock(&keeper->lock);
    int waited = 0;
    while (!keeper->waiting.first && !keeper->stopping && waited == 0) {
        waited = pthread_cond_timedwait(&keeper->work, &keeper->lock, &until);
    }
    *jobs = keeper->waiting;
    if (!jobs->first) {
        queue_init(jobs);
    }
    queue_init(&keeper->waiting);
    bool goes_on = jobs->first || !keeper->stopping;
    pthread_mutex_unlock(&keeper->lock);
    return goes_on;
}

static struct store *close_store(struct store *store)
{
    return store ? store->functions->close(store) : NULL;
}

static void *keep(void *context)
{
    struct keeper *keeper = context;
    struct queue jobs;
    while (wait_for_work(keeper, &jobs)) {
        bool idle = !jobs.first && !keeper->unsaved_count;
        do_jobs(keeper, &jobs);
        if (idle) {
            keeper->store = close_store(keeper->store);
        }
    }
    if (keeper->unsaved_count) {
        keeper->next_try_ms = 0;
        do_jobs(keeper, &jobs);
    }
    keeper->store = close_store(keeper->store);
    size_t lost = keeper->unsaved_count + keeper->lost_count;
    if (lost) {
        log_error(NULL, "usage and history of %zu calls could not be kept", lost);
    }
    struct job *job;
    while ((job = queue_take(&keeper->unsaved)) != NULL) {
        job_free(job);
    }
    return NULL;
}

struct keeper *keeper_new(keeper_open open)
{
    struct keeper *keeper = calloc(1, sizeof *keeper);
    if (keeper) {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&keeper->work, &attributes);
        pthread_condattr_destroy(&attributes);
        pthread_mutex_init(&keeper->lock, NULL);
        keeper->open = open;
        queue_init(&keeper->waiting);
        queue_init(&keeper->unsaved);
    }
    return keeper;
}

struct keeper *keeper_free(struct keeper *keeper)
{
    if (keeper) {
        pthread_mutex_lock(&keeper->lock);
        keeper->stopping = true;
        pthread_cond_signal(&keeper->work);
        pthread_mutex_unlock(&keeper->lock);
        if (keeper->started) {
            pthread_join(keeper->thread, NULL);
        }
        pthread_mutex_destroy(&keeper->lock);
        pthread_cond_destroy(&keeper->work);
        free(keeper);
    }
    return NULL;
}

/* ---- handing over ---- */

static int hand_over(struct keeper *keeper, struct job *job)
{
    pthread_mutex_lock(&keeper->lock);
    if (!keeper->started) {
        keeper->started = pthread_create(&keeper->thread, NULL, keep, keeper) == 0;
    }
    bool taken = keeper->started && !keeper->stopping;
    if (taken) {
        queue_add(&keeper->waiting, job);
        pthread_cond_signal(&keeper->work);
    }
    pthread_mutex_unlock(&keeper->lock);
    if (!taken) {
        job_free(job); /* the keeper's part */
    }
    return taken ? OK : ERR_IO;
}

int keeper_take(void *context, struct call *call, struct limit_claim *claims, size_t count,
                struct spending *spent)
{
    struct job *job = count <= LIMIT_WINDOW_CLAIMS ? job_new(JOB_TAKE, call) : NULL;
    if (!job) {
        return ERR_NOMEM;
    }
    job->claim_count = count;
    job->wants_spending = spent != NULL;
    memcpy(job->claims, claims, count * sizeof *claims);
    int status = hand_over(context, job);
    if (status == OK) {
        struct pollfd done = {.fd = job->done, .events = POLLIN};
        status = call_wait(call, &done, 1, TIME_RECORD_WAIT_MS);
        status = status < 0 ? status : atomic_load(&job->told) ? OK : ERR_BUSY;
    }
    if (status == OK) {
        status = job->status;
        memcpy(claims, job->claims, count * sizeof *claims);
        if (spent) {
            *spent = job->spent;
        }
    }
    job_free(job);
    return status;
}

/* Nobody is told of a call that was cancelled, so nobody has to wait for its record. */
static bool wait_for_disk(struct call *call, struct job *job)
{
    struct pollfd watched[] = {{.fd = job->done, .events = POLLIN},
                               {.fd = call_cancel_fd(call), .events = POLLIN}};
    return poll(watched, 2, TIME_RECORD_WAIT_MS) > 0 && atomic_load(&job->told);
}

int keeper_record(struct keeper *keeper, struct call *call, const struct store_record *record,
                  struct spending *spent)
{
    struct job *job = job_new(JOB_RECORD, call);
    char *arguments = job && record->arguments ? strdup(record->arguments) : NULL;
    if (!job || (record->arguments && !arguments)) {
        if (job) {
            job_free(job);
            job_free(job);
        }
        return ERR_NOMEM;
    }
    job->record = *record;
    job->record.arguments = arguments;
    snprintf(job->tool, sizeof job->tool, "%s", record->tool);
    snprintf(job->code, sizeof job->code, "%s", record->code ? record->code : "");
    job->record.caller = job->caller;
    job->record.tool = job->tool;
    job->record.code = record->code ? job->code : NULL;
    job->wants_spending = spent != NULL;
    int status = hand_over(keeper, job);
    if (status == OK) {
        status = wait_for_disk(call, job) ? job->status : ERR_BUSY;
    }
    if (status == OK && spent) {
        *spent = job->spent;
    }
    job_free(job);
    return status;
}
