/* The jobs of one program: begun, found, waited for, cancelled, put down. */
#include "jobs/jobs.h"

#include "call/errors.h"
#include "call/parts.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/log.h"
#include "jobs/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- connections ---- */

static struct db *open_records(void *context, struct call *call, char *problem, size_t size)
{
    const struct jobs *jobs = context;
    return records_open(jobs->options.parts->places, call, problem, size);
}

/* Only the store needs our name, and asking the system for it takes a while. */
static int name_owner(struct jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    int status = *jobs->owner ? OK : owner_make(jobs->owner);
    pthread_mutex_unlock(&jobs->lock);
    return status;
}

int jobs_borrow(struct jobs *jobs, struct call *call, struct db **db, char *problem, size_t size)
{
    int status = name_owner(jobs);
    if (status == OK) {
        status = db_pool_borrow(jobs->connections, call, db, problem, size);
    } else {
        snprintf(problem, size, "%s", status_name(status));
    }
    if (status != OK) {
        *db = NULL;
    }
    return status;
}

struct call *jobs_own_call(struct jobs *jobs)
{
    return call_new(
        &(struct call_options){.parts = jobs->options.parts, .timeout_ms = TIME_JOB_STORE_MS});
}

/* ---- jobs in memory ---- */

static void free_asks(struct job *job)
{
    while (job->asks) {
        struct job_ask *ask = job->asks;
        job->asks = ask->next;
        free(ask->key);
        free(ask->method);
        free(ask->params);
        free(ask->response);
        free(ask);
    }
}

void job_free(struct job *job)
{
    call_free(job->call);
    free_asks(job);
    event_close(job->asked_event);
    arena_free(job->past);
    free(job->arguments);
    free(job->follows);
    free(job->state);
    free(job->result);
    free(job->context);
    free(job);
}

/* One that is not stored stays where it can be asked for, until it expires. */
static bool may_go(const struct job *job)
{
    return job->references == 0 && (job->kept || job->is_put_down);
}

void job_leave(struct job *job)
{
    struct jobs *jobs = job->jobs;
    pthread_mutex_lock(&jobs->lock);
    job->references--;
    bool last = may_go(job);
    struct job **link = &jobs->first;
    while (last && *link != job) {
        link = &(*link)->next;
    }
    if (last) {
        *link = job->next;
        jobs->count--;
    }
    pthread_mutex_unlock(&jobs->lock);
    if (last) {
        job_free(job);
    }
}

struct job *job_find(struct jobs *jobs, const char *id)
{
    pthread_mutex_lock(&jobs->lock);
    struct job *job = jobs->first;
    while (job && (job->withdrawn || strcmp(job->id, id) != 0)) {
        job = job->next;
    }
    if (job) {
        job->references++;
    }
    pthread_mutex_unlock(&jobs->lock);
    return job;
}

void job_changed(struct job *job)
{
    for (struct job_watcher *watcher = job->watchers; watcher; watcher = watcher->next) {
        event_signal(watcher->event);
    }
}

void job_end(struct job *job, enum job_ending ending)
{
    if (job->ending == JOB_GOES_ON && !job_is_over(job->status)) {
        job->ending = ending;
        call_cancel(job->call);
    }
}

void jobs_drop_unkept(struct jobs *jobs)
{
    struct job *gone = NULL;
    size_t unkept = 0;
    pthread_mutex_lock(&jobs->lock);
    int64_t now = clock_wall_ms();
    for (struct job **link = &jobs->first; *link;) {
        struct job *job = *link;
        bool over = !job->kept && job->references == 0 && job_is_over(job->status);
        unkept += over;
        if (over && (job->withdrawn || job->expires_ms <= now || unkept > LIMIT_JOBS_UNKEPT)) {
            *link = job->next; /* the newest stand first */
            jobs->count--;
            job->next = gone;
            gone = job;
        } else {
            link = &job->next;
        }
    }
    pthread_mutex_unlock(&jobs->lock);
    while (gone) {
        struct job *next = gone->next;
        job_free(gone);
        gone = next;
    }
}

/* ---- its life ---- */

struct jobs *jobs_new(const struct jobs_options *options)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs) {
        return NULL;
    }
    jobs->options = *options;
    jobs->wake = event_open();
    pthread_mutex_init(&jobs->lock, NULL);
    jobs->connections = db_pool_new(&(struct db_pool_options){
        .open = open_records, .context = jobs, .name = "the store of jobs", .idle = 1});
    jobs->threads =
        pool_new(options->parts->stocks, &(struct stock_rule){.name = "jobs",
                                                              .help = "jobs that may run at once",
                                                              .all = LIMIT_JOBS});
    if (jobs->wake < 0 || !jobs->connections || !jobs->threads) {
        return jobs_free(jobs);
    }
    options->registry->host = jobs_host(jobs);
    return jobs;
}

struct jobs *jobs_free(struct jobs *jobs)
{
    if (jobs) {
        jobs_put_down(jobs, true);
        pool_free(jobs->threads);
        leases_stop(jobs);
        while (jobs->first) {
            struct job *job = jobs->first;
            jobs->first = job->next;
            job_free(job);
        }
        db_pool_free(jobs->connections);
        event_close(jobs->wake);
        pthread_mutex_destroy(&jobs->lock);
        free(jobs);
    }
    return NULL;
}

int jobs_serve(struct jobs *jobs)
{
    jobs->serves = true;
    return leases_start(jobs);
}

void jobs_put_down(struct jobs *jobs, bool clients_left)
{
    atomic_store(&jobs->ending, true);
    pthread_mutex_lock(&jobs->lock);
    for (struct job *job = jobs->first; job; job = job->next) {
        jobs->left_some |= job->background && job->kept && !job_is_over(job->status);
        job_end(job, clients_left && !job->background ? JOB_IS_CANCELLED : JOB_IS_PUT_DOWN);
    }
    pthread_mutex_unlock(&jobs->lock);
}

void jobs_leave(struct jobs *jobs)
{
    pool_leave(jobs->threads);
}

size_t jobs_running(struct jobs *jobs)
{
    return pool_running(jobs->threads);
}

bool jobs_have_background(struct jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    bool some = jobs->left_some;
    for (struct job *job = jobs->first; job && !some; job = job->next) {
        some = job->background && job->kept && !job_is_over(job->status);
    }
    pthread_mutex_unlock(&jobs->lock);
    return some;
}
