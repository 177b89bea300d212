/* Begins a job: a new one, or one that another process left. */
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

#define MOST_TRIES 50 /* to find a job that this process is just taking over */
#define PAUSE_MS   20

static struct job *job_new(struct jobs *jobs, const struct entry *entry,
                           const struct caller *caller, const char *arguments)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job) {
        return NULL;
    }
    job->jobs = jobs;
    job->entry = entry;
    job->caller = caller;
    job->status = JOB_RUNNING;
    job->arguments = strdup(arguments);
    job->asked_event = event_open();
    job->created_ms = job->updated_ms = clock_wall_ms();
    job->expires_ms = job->created_ms + config_duration_ms("FORAGE_JOBS_TTL");
    job->runs = 1;
    if (!job->arguments || job->asked_event < 0 || id_make_secret(job->id) != OK) {
        job_free(job);
        return NULL;
    }
    return job;
}

/* Begins to work on it, with a reference for its thread and one for whoever calls. OK; ERR_BUSY or
 * ERR_LIMIT where there is no thread for it, and then it is freed. */
static int job_begin(struct job *job)
{
    struct jobs *jobs = job->jobs;
    job->references = 2;
    pthread_mutex_lock(&jobs->lock);
    job->next = jobs->first;
    jobs->first = job;
    jobs->count++;
    pthread_mutex_unlock(&jobs->lock);
    int status = atomic_load(&jobs->ending)
                     ? ERR_BUSY
                     : pool_run(jobs->threads, job->call, false, job_work, job);
    if (status != OK) {
        pthread_mutex_lock(&jobs->lock);
        job->is_put_down = true;
        job->references--;
        pthread_mutex_unlock(&jobs->lock);
        job_leave(job);
    } else if (job->kept && leases_start(jobs) != OK) {
        log_warn(NULL, "no thread for leases: jobs end with their first one");
    }
    return status;
}

/* ---- beginning one ---- */

/* Stores a job that begins. OK; ERR_LIMIT where its caller has too many; where the records cannot
 * be written, it is not kept, and OK. */
static int store_new(struct jobs *jobs, struct job *job)
{
    char problem[DB_PROBLEM_SIZE] = "out of memory";
    struct db *db = NULL;
    struct call *own = jobs_own_call(jobs);
    struct job_row row = {
        .id = job->id,
        .caller = job->caller->name,
        .tool = job->entry->name,
        .arguments = job->arguments,
        .status = JOB_RUNNING,
        .background = job->background,
        .runs = 1,
        .created_ms = job->created_ms,
        .updated_ms = job->created_ms,
        .expires_ms = job->expires_ms,
        .follows = job->follows,
        .tried = call_tried(job->call),
    };
    int64_t lease = config_duration_ms("FORAGE_JOBS_LEASE");
    job->lease_until_ms = clock_now_ms() + lease;
    int status = own ? jobs_borrow(jobs, own, &db, problem, sizeof problem) : ERR_NOMEM;
    if (status == OK) {
        status = row_add(db, &row, jobs->owner, lease, (size_t)config_int("FORAGE_JOBS_PER_CALLER"),
                         NULL);
        if (status != OK && status != ERR_LIMIT) {
            snprintf(problem, sizeof problem, "%s", db_problem(db));
        }
        db_pool_return(jobs->connections, db);
    }
    call_free(own);
    job->kept = status == OK;
    if (status != OK && status != ERR_LIMIT) {
        snprintf(job->unkept, sizeof job->unkept,
                 "it is not stored and ends with this process, since the records cannot be "
                 "written");
        log_warn(NULL, "a job is not stored: %s", problem);
        status = OK;
    }
    return status;
}

/* Nobody worked on it, so nothing is left of it. */
static void drop_new(struct jobs *jobs, const char *id)
{
    char problem[DB_PROBLEM_SIZE];
    struct db *db = NULL;
    struct call *own = jobs_own_call(jobs);
    if (own && jobs_borrow(jobs, own, &db, problem, sizeof problem) == OK) {
        if (row_drop(db, id, jobs->owner) != OK) {
            /* it is cancelled when its lease has lapsed and somebody takes it up */
        }
        db_pool_return(jobs->connections, db);
    }
    call_free(own);
}

static int fail_busy(struct call *call, int status)
{
    call_fail(call, CODE_BUSY, "%s",
              status == ERR_LIMIT
                  ? "you have your share of the research that may run here at once; wait for one "
                    "that runs, or cancel it"
                  : "as much research runs here as may (200 at once); try again later");
    call_fail_retry_after(call, 30);
    return ERR_FAILED;
}

static int fail_ceiling(struct call *call)
{
    call_fail(call, CODE_RATE_LIMIT,
              "you have %lld jobs that are not over, and may have no more at once "
              "(FORAGE_JOBS_PER_CALLER); wait for one, or cancel it",
              (long long)config_int("FORAGE_JOBS_PER_CALLER"));
    call_fail_retry_after(call, 60);
    return ERR_FAILED;
}

int job_start(struct jobs *jobs, struct call *call, const struct entry *entry,
              yyjson_val *arguments, const char *text, struct job **started)
{
    struct job *job = job_new(jobs, entry, call_caller(call), text);
    if (!job) {
        return ERR_NOMEM;
    }
    job->background = yyjson_get_bool(yyjson_obj_get(arguments, "background"));
    job->attended = 1; /* before anybody else can find it, and think it had no client */
    job->can_elicit = call_has_capability(call, "elicitation");
    job->can_sample = call_has_capability(call, "sampling");
    job->can_list_roots = call_has_capability(call, "roots");
    const char *follows = json_string(arguments, "follow_up_of");
    job->follows = follows ? strdup(follows) : NULL;
    job->call = job_call_new(job, call_request_id(call), call_is_for_operator(call), NULL, 0);
    if (!job->call || (follows && !job->follows) || call_try(job->call, call_tried(call)) != OK) {
        job_free(job);
        return ERR_NOMEM;
    }
    jobs_drop_unkept(jobs);
    int status = store_new(jobs, job);
    if (status == ERR_LIMIT) {
        job_free(job);
        return fail_ceiling(call);
    }
    char id[ID_SECRET_SIZE];
    bool kept = job->kept;
    memcpy(id, job->id, sizeof id);
    status = job_begin(job);
    if (status != OK) {
        if (kept) {
            drop_new(jobs, id);
        }
        return fail_busy(call, status);
    }
    *started = job;
    return OK;
}

/* ---- taking one over ---- */

/* Who asked for it, where that is somebody whom this program knows. */
static const struct caller *caller_of(const struct jobs *jobs, const char *name)
{
    return strcmp(name, caller_local()->name) == 0 ? caller_local()
                                                   : callers_named(jobs->options.callers, name);
}

static int load_past(struct db *db, struct job *job, const char *request_id)
{
    struct journal_step *steps;
    size_t count;
    job->past = arena_new(2 * LIMIT_CALL_ARENA_BYTES);
    int status = job->past ? row_steps(db, job->past, job->id, &steps, &job->past_usages, &count)
                           : ERR_NOMEM;
    if (status == OK) {
        job->call = job_call_new(job, request_id, false, steps, count);
        status = job->call ? OK : ERR_NOMEM;
    }
    return status;
}

/* The job of a row that is ours now. */
static struct job *job_of_row(struct jobs *jobs, struct db *db, const struct job_row *row)
{
    const struct entry *entry = registry_tool(jobs->options.registry, row->tool);
    struct job *job = job_new(jobs, entry, caller_of(jobs, row->caller), row->arguments);
    if (!job) {
        return NULL;
    }
    snprintf(job->id, sizeof job->id, "%s", row->id);
    job->created_ms = row->created_ms;
    job->expires_ms = row->expires_ms;
    job->runs = row->runs;
    job->background = row->background;
    job->input_tokens = row->input_tokens;
    job->output_tokens = row->output_tokens;
    job->nano_usd = row->nano_usd;
    job->state = row->state ? strdup(row->state) : NULL;
    job->follows = row->follows ? strdup(row->follows) : NULL;
    job->kept = true;
    if (load_past(db, job, NULL) != OK || call_try(job->call, row->tried) != OK) {
        job_free(job);
        return NULL;
    }
    return job;
}

int job_claim(struct jobs *jobs, struct db *db, const struct job_open *seen, struct job **taken)
{
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct job_row row;
    const struct entry *entry = registry_tool(jobs->options.registry, seen->tool);
    int64_t lease = config_duration_ms("FORAGE_JOBS_LEASE");
    int64_t until = clock_now_ms() + lease;
    int status = !arena                                                 ? ERR_NOMEM
                 : entry && entry->job && caller_of(jobs, seen->caller) ? OK
                                                                        : ERR_NOTFOUND;
    if (status == OK) {
        status = row_claim(db, arena, seen, jobs->owner, lease, &row);
    }
    struct job *job = status == OK ? job_of_row(jobs, db, &row) : NULL;
    if (status == OK && !job) {
        status = ERR_NOMEM;
    }
    if (job) {
        job->lease_until_ms = until;
        status = job_begin(job);
    }
    if (status != OK && arena && status != ERR_NOTFOUND) {
        if (row_release(db, seen->id, jobs->owner) != OK) {
            /* its lease lapses */
        }
    }
    arena_free(arena);
    *taken = status == OK ? job : NULL;
    return status;
}

int job_take_up(struct jobs *jobs, struct db *db, const char *id, struct job **taken)
{
    struct job_open open;
    size_t count;
    int status = row_open_jobs(db, id, &open, 1, &count);
    if (status != OK || !count) {
        return status == OK ? ERR_NOTFOUND : status;
    }
    if (!open.is_free) {
        /* One that this process is just taking over is not there yet. */
        return strcmp(open.owner, jobs->owner) == 0 ? ERR_BUSY : ERR_NOTFOUND;
    }
    status = job_claim(jobs, db, &open, taken);
    return status == ERR_NOTFOUND ? ERR_BUSY : status; /* somebody was faster, perhaps we */
}

/* Whether nobody else waits for it, or ever will. */
static bool has_lost_client(struct job *job)
{
    pthread_mutex_lock(&job->jobs->lock);
    bool lost = !job->attended && !job->background && job->ending == JOB_GOES_ON;
    pthread_mutex_unlock(&job->jobs->lock);
    return lost;
}

bool job_find_same(struct jobs *jobs, struct call *call, const struct entry *entry,
                   const char *text, char id[ID_SECRET_SIZE])
{
    char problem[DB_PROBLEM_SIZE];
    struct db *db = NULL;
    struct job *job = NULL;
    struct job_row row;
    if (jobs_borrow(jobs, call, &db, problem, sizeof problem) != OK) {
        return false;
    }
    const char *caller = call_caller(call)->name;
    bool found = row_same(db, caller, entry->name, text, id) == OK;
    int status = found ? ERR_BUSY : ERR_NOTFOUND;
    for (int tries = 0; status == ERR_BUSY && tries < MOST_TRIES; tries++) {
        job = job_find(jobs, id);
        status = job ? OK : job_take_up(jobs, db, id, &job);
        if (status == ERR_BUSY && call_sleep(call, PAUSE_MS) != OK) {
            break;
        }
    }
    if (found && status != OK) {
        /* It is over, or another process works on it, for a client of its own perhaps. */
        found = row_find(db, call_arena(call), caller, id, &row) == OK && job_is_over(row.status);
    }
    db_pool_return(jobs->connections, db);
    if (job) {
        found = has_lost_client(job);
        job_leave(job);
    }
    return found;
}
