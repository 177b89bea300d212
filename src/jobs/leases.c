/* The thread that keeps what this process works on: it prolongs the leases of its jobs, hears when
 * somebody wants one cancelled, stores what they have come to, and, in a server that stays, takes
 * up what others left. It runs while there is something to keep. */
#include "call/parts.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/trouble.h"
#include "jobs/internal.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char JOBS_NAME[] = "the store of jobs";

/* What the thread remembers between two rounds. */
struct round {
    struct jobs *jobs;
    int64_t swept_ms;  /* when it last looked for what others left */
    int64_t tidied_ms; /* the same of what has expired */
    struct clock_trust clock;
    struct stat file, log; /* of SQLite, as they were then */
};

static int64_t lease_ms(void)
{
    return config_duration_ms("FORAGE_JOBS_LEASE");
}

/* ---- one lease ---- */

int lease_hold(struct job *job)
{
    struct jobs *jobs = job->jobs;
    pthread_mutex_lock(&jobs->lock);
    bool holds = clock_now_ms() < job->lease_until_ms;
    bool ends = job->ending != JOB_GOES_ON;
    if (!holds && !ends) {
        job_end(job, JOB_IS_LOST); /* the thread could not renew it: others may have it by now */
    }
    pthread_mutex_unlock(&jobs->lock);
    return holds && !ends ? OK : ERR_CANCELLED;
}

/* ---- all of them ---- */

struct renewal {
    struct jobs *jobs;
    int64_t until_ms;
};

static void renewed(void *context, const char *id, bool cancelling)
{
    const struct renewal *renewal = context;
    struct jobs *jobs = renewal->jobs;
    pthread_mutex_lock(&jobs->lock);
    for (struct job *job = jobs->first; job; job = job->next) {
        if (strcmp(job->id, id) == 0) {
            job->lease_until_ms = renewal->until_ms;
            if (cancelling) {
                job_end(job, JOB_IS_CANCELLED);
            }
        }
    }
    pthread_mutex_unlock(&jobs->lock);
}

/* Those that are to be renewed now; a job that is begun meanwhile is not among them. */
static void mark_all(struct jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    for (struct job *job = jobs->first; job; job = job->next) {
        job->renewing = job->kept && !job_is_over(job->status) && !job->is_put_down;
    }
    pthread_mutex_unlock(&jobs->lock);
}

/* Those that were not renewed are no longer ours. */
static void drop_lost(struct jobs *jobs, int64_t until_ms)
{
    pthread_mutex_lock(&jobs->lock);
    for (struct job *job = jobs->first; job; job = job->next) {
        if (job->renewing && job->lease_until_ms < until_ms) {
            job_end(job, JOB_IS_LOST);
        }
    }
    pthread_mutex_unlock(&jobs->lock);
}

/* The next state that is to be stored, to be freed; NULL: there is none. */
static char *unstored_state(struct jobs *jobs, char id[ID_SECRET_SIZE])
{
    char *state = NULL;
    pthread_mutex_lock(&jobs->lock);
    for (struct job *job = jobs->first; job && !state; job = job->next) {
        if (job->kept && job->state && !job->state_stored && !job_is_over(job->status)) {
            state = strdup(job->state);
            memcpy(id, job->id, sizeof job->id);
            job->state_stored = true;
        }
    }
    pthread_mutex_unlock(&jobs->lock);
    return state;
}

static int renew(struct round *round, struct db *db)
{
    struct jobs *jobs = round->jobs;
    struct renewal renewal = {jobs, clock_now_ms() + lease_ms()};
    mark_all(jobs);
    int status = row_renew(db, jobs->owner, lease_ms(), renewed, &renewal);
    if (status != OK) {
        return status;
    }
    drop_lost(jobs, renewal.until_ms);
    char id[ID_SECRET_SIZE];
    char *state;
    while (status == OK && (state = unstored_state(jobs, id)) != NULL) {
        status = row_tell(db, id, jobs->owner, state);
        status = status == ERR_NOTFOUND ? OK : status;
        free(state);
    }
    return status;
}

/* ---- what others left ---- */

/* Whether somebody may have written to the records since the last look; of a server one can only
 * ask. */
static bool may_have_changed(struct round *round)
{
    const char *url;
    char *path = NULL;
    char problem[256];
    struct stat file = {0}, log = {0};
    if (!places_database(round->jobs->options.parts->places, PLACES_RECORDS, false, &url, &path,
                         problem, sizeof problem)) {
        return false;
    }
    bool changed = url && *url;
    if (path) {
        char wal[4096];
        snprintf(wal, sizeof wal, "%s-wal", path);
        changed = stat(path, &file) == 0;
        if (stat(wal, &log) != 0) {
            log = (struct stat){0};
        }
        changed =
            changed && (memcmp(&file.st_mtim, &round->file.st_mtim, sizeof file.st_mtim) ||
                        memcmp(&log.st_mtim, &round->log.st_mtim, sizeof log.st_mtim) ||
                        file.st_ino != round->file.st_ino || log.st_size != round->log.st_size);
        round->file = file;
        round->log = log;
    }
    free(path);
    return changed;
}

/* Takes up what nobody works on; `taken` counts. A status. */
static int take_all(struct jobs *jobs, struct db *db, size_t *taken)
{
    static const size_t MOST = LIMIT_JOBS;
    struct job_open *open = calloc(MOST, sizeof *open);
    size_t count = 0;
    int status = open ? row_open_jobs(db, NULL, open, MOST, &count) : ERR_NOMEM;
    for (size_t i = 0; status == OK && i < count && !atomic_load(&jobs->ending); i++) {
        struct job *job;
        int claimed = open[i].is_free ? job_claim(jobs, db, &open[i], &job) : ERR_NOTFOUND;
        if (claimed == OK) {
            job_leave(job);
            ++*taken;
            log_info(NULL, "job=%.8s tool=%s is taken up", open[i].id, open[i].tool);
        } else if (claimed == ERR_BUSY || claimed == ERR_LIMIT) {
            break; /* no thread is free */
        } else if (claimed != ERR_NOTFOUND) {
            status = claimed;
        }
    }
    free(open);
    return status;
}

/* Where jobs are open, a lease may lapse without a trace in the file: it is looked at again. */
static int sweep(struct round *round, struct db *db)
{
    struct job_open open;
    size_t taken = 0, count = 0;
    int status = take_all(round->jobs, db, &taken);
    status = status == OK ? row_open_jobs(db, NULL, &open, 1, &count) : status;
    if (count) {
        round->file.st_ino = 0;
    }
    return status;
}

size_t jobs_work_off(struct jobs *jobs, struct call *call)
{
    char problem[DB_PROBLEM_SIZE] = "";
    size_t all = 0;
    for (;;) {
        struct db *db = NULL;
        size_t taken = 0;
        int status = jobs_borrow(jobs, call, &db, problem, sizeof problem);
        if (status == OK) {
            status = take_all(jobs, db, &taken);
            db_pool_return(jobs->connections, db);
        } else {
            log_error(NULL, "jobs cannot be read: %s", problem);
        }
        all += taken;
        while (status == OK && jobs_running(jobs)) {
            status = call_sleep(call, TIME_JOB_RETRY_MS);
        }
        if (status != OK || !taken) {
            return all;
        }
    }
}

/* ---- the thread ---- */

static bool has_jobs(struct jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    bool some = false;
    for (struct job *job = jobs->first; job && !some; job = job->next) {
        some = job->kept && !job_is_over(job->status) && !job->is_put_down;
    }
    pthread_mutex_unlock(&jobs->lock);
    return some;
}

/* One round of work on the store, where there is some. */
static void do_round(struct round *round)
{
    struct jobs *jobs = round->jobs;
    int64_t now = clock_now_ms();
    bool keeps = has_jobs(jobs);
    bool sweeps = jobs->serves && now - round->swept_ms >= lease_ms() / 2;
    if (sweeps) {
        round->swept_ms = now;
        sweeps = may_have_changed(round);
    }
    bool tidies = (keeps || sweeps) && now - round->tidied_ms >= TIME_JOB_TIDY_MS;
    if (!keeps && !sweeps) {
        return;
    }
    struct db *db = NULL;
    char problem[DB_PROBLEM_SIZE] = "out of memory";
    struct call *own = jobs_own_call(jobs);
    int status = own ? jobs_borrow(jobs, own, &db, problem, sizeof problem) : ERR_NOMEM;
    if (status == OK && keeps) {
        status = renew(round, db);
    }
    if (status == OK && sweeps) {
        status = sweep(round, db);
    }
    if (status == OK && tidies) {
        status = row_tidy(db, clock_trusted_ms(&round->clock), LIMIT_JOBS_KEPT);
        /* After a failure the next round tries again. */
        round->tidied_ms = status == OK ? now : round->tidied_ms;
    }
    if (db && status != OK) {
        snprintf(problem, sizeof problem, "%s", db_problem(db));
    }
    if (db) {
        db_pool_return(jobs->connections, db);
    }
    call_free(own);
    if (status == OK && trouble_end(JOBS_NAME)) {
        log_info(NULL, "jobs are kept again");
    } else if (status != OK &&
               trouble_begin(JOBS_NAME, "cannot be written: research that runs is ended when its "
                                        "lease has lapsed, and goes on later; the log says why")) {
        log_error(NULL, "jobs could not be kept: %s", problem);
    }
}

static void *keep(void *context)
{
    struct jobs *jobs = context;
    /* The clock begins with the machine, so that zero may be just now. */
    struct round round = {.jobs = jobs,
                          .swept_ms = clock_now_ms() - lease_ms(),
                          .tidied_ms = clock_now_ms() - TIME_JOB_TIDY_MS};
    struct pollfd watched = {.fd = jobs->wake, .events = POLLIN};
    clock_trust_begin(&round.clock);
    while (!atomic_load(&jobs->closing)) {
        do_round(&round);
        bool busy = has_jobs(jobs);
        if (!busy) {
            db_pool_rest(jobs->connections, 0);
        }
        int64_t pause = busy ? TIME_JOB_TICK_MS : jobs->serves ? lease_ms() / 2 : -1;
        if (poll(&watched, 1, (int)pause) > 0) {
            event_clear(jobs->wake);
        }
    }
    return NULL;
}

int leases_start(struct jobs *jobs)
{
    int status = OK;
    pthread_mutex_lock(&jobs->lock);
    if (!jobs->keeper_runs) {
        status = thread_start(&jobs->keeper, 0, keep, jobs);
        jobs->keeper_runs = status == OK;
    }
    pthread_mutex_unlock(&jobs->lock);
    event_signal(jobs->wake);
    return status;
}

void leases_stop(struct jobs *jobs)
{
    atomic_store(&jobs->closing, true);
    event_signal(jobs->wake);
    if (jobs->keeper_runs) {
        pthread_join(jobs->keeper, NULL);
    }
}
