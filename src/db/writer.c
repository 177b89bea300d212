/* Group commit. The queue has one leader at a time, a caller or the writer's thread: it takes what
 * waits, writes it, reports, and passes the lead on. */
#include "db/writer.h"

#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define MOST_TRIES 3

enum stage { WAITS, LEADS, TAKEN, DONE };

struct writer_queue {
    struct writer_job *first;
    struct writer_job **end;
};

struct db_writer {
    struct writer_options options;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t work;
    pthread_cond_t gone; /* the thread */
    struct writer_queue waiting;
    struct writer_queue later; /* jobs whose time has not come */
    bool led;                  /* somebody is the leader */
    bool was_large;            /* the last group */
    uint64_t jobs;             /* that writer_run() was given */
    bool started;
    bool stopping;
    bool ended; /* the thread has nothing left to do */
    pthread_t thread;
    /* Only for the leader. */
    struct writer_queue late;
    size_t late_count;
    size_t lost_count;
    int64_t next_try_ms;
};

/* ---- lists ---- */

static void list_init(struct writer_queue *list)
{
    *list = (struct writer_queue){NULL, &list->first};
}

static void list_add(struct writer_queue *list, struct writer_job *job)
{
    job->next = NULL;
    *list->end = job;
    list->end = &job->next;
}

static struct writer_job *list_take(struct writer_queue *list)
{
    struct writer_job *job = list->first;
    if (job) {
        list->first = job->next;
        list->end = list->first ? list->end : &list->first;
    }
    return job;
}

static void list_remove(struct writer_queue *list, struct writer_job *job)
{
    struct writer_job **at = &list->first;
    while (*at != job) {
        at = &(*at)->next;
    }
    *at = job->next;
    list->end = list->end == &job->next ? at : list->end;
}

/* ---- one transaction ---- */

static bool is_own_failure(const struct db_writer *writer, int status)
{
    return writer->options.undoes_one &&
           (status == ERR_FAILED || status == ERR_NOMEM || status == ERR_NOTFOUND);
}

/* One job, between two marks where it may have to be undone by itself. What cannot be undone so is
 * undone with the whole. */
static int apply(struct db_writer *writer, struct db *db, struct writer_job *job)
{
    const struct writer_options *options = &writer->options;
    int status = options->undoes_one ? db_mark(db) : OK;
    if (status != OK) {
        return status;
    }
    status = options->hooks->apply(options->context, db, job);
    if (!options->undoes_one) {
        return status;
    }
    int ended = status == OK ? db_drop_mark(db) : db_back_to_mark(db);
    return status == OK || (ended != OK && is_own_failure(writer, status)) ? ended : status;
}

static int write_all(struct db_writer *writer, struct db *db, struct writer_job *jobs)
{
    const struct writer_options *options = &writer->options;
    const struct writer_hooks *hooks = options->hooks;
    bool durable = false;
    for (const struct writer_job *job = jobs; job; job = job->next) {
        durable |= job->durable;
    }
    int status = hooks->begin ? hooks->begin(options->context, db, durable) : db_begin(db, durable);
    for (struct writer_job *job = jobs; job && status == OK; job = job->next) {
        job->status = apply(writer, db, job);
        status = is_own_failure(writer, job->status) ? OK : job->status;
    }
    if (status == OK) {
        status = hooks->commit ? hooks->commit(options->context, db) : db_commit(db);
    }
    if (status != OK) {
        db_rollback(db);
    }
    return status;
}

/* The server gave the transaction up in favour of another, or went away before it could have
 * committed: nothing has happened yet. */
static bool may_repeat(const struct db *db, int status)
{
    return (status == ERR_BUSY || status == ERR_CLOSED) && db_is_postgres(db) && !db_in_doubt(db);
}

/* A job that stays is tried again later; its failure has been reported already. */
static void hold(struct db_writer *writer, struct writer_job *job)
{
    const struct writer_options *options = &writer->options;
    if (writer->late_count == options->most_late) {
        options->hooks->drop(options->context, list_take(&writer->late));
        writer->late_count--;
        writer->lost_count++;
    }
    list_add(&writer->late, job);
    writer->late_count++;
}

static void finish(struct db_writer *writer, struct db *db, struct call *writing,
                   struct writer_job *jobs, int status)
{
    const struct writer_options *options = &writer->options;
    while (jobs) {
        struct writer_job *job = jobs;
        jobs = job->next;
        if (!job->reported) {
            job->reported = true;
            job->status = options->hooks->report(options->context, db, writing, job,
                                                 status == OK ? job->status : status);
        }
        if (status != OK && job->stays) {
            hold(writer, job);
        } else if (options->hooks->drop) {
            options->hooks->drop(options->context, job);
        }
    }
}

/* Writes the jobs, for a call that lasts as long as all of it may take. */
static void write_jobs(struct db_writer *writer, struct call *writing, struct writer_job *jobs)
{
    const struct writer_options *options = &writer->options;
    struct db *db = NULL;
    int status = options->hooks->borrow(options->context, writing, &db);
    for (int tries = 0; db && tries < MOST_TRIES; tries++) {
        status = write_all(writer, db, jobs);
        if (!may_repeat(db, status)) {
            break;
        }
    }
    if (options->hooks->wrote) {
        options->hooks->wrote(options->context, db, jobs, status);
    }
    finish(writer, db, writing, jobs, status);
    if (db) {
        options->hooks->give_back(options->context, db);
    }
    if (options->retry_ms) {
        writer->next_try_ms = status == OK ? 0 : clock_now_ms() + options->retry_ms;
    }
}

/* The call of a group reports nothing of its own; its leader's client hears that it waits. */
static void report_leader(void *leader, double done, double total, const char *message)
{
    (void)done;
    (void)total;
    (void)message;
    (void)call_sign_of_life(leader);
}

/* A group works for a call of its own: a caller that is cancelled must not undo the changes of the
 * others. */
static void write_group(struct db_writer *writer, struct writer_job *jobs, struct call *leader)
{
    const struct writer_options *options = &writer->options;
    if (options->retry_ms && clock_now_ms() < writer->next_try_ms) {
        finish(writer, NULL, NULL, jobs, ERR_IO); /* nobody waits for it to fail again */
        return;
    }
    struct call *writing = NULL;
    if (options->time_ms) {
        writing = call_new(&(struct call_options){
            .request_id = leader ? call_request_id(leader) : NULL,
            .timeout_ms = options->time_ms,
            .for_operator = leader && call_is_for_operator(leader),
            .hooks = {.context = leader, .progress = leader ? report_leader : NULL}});
        if (!writing) {
            finish(writer, NULL, NULL, jobs, ERR_NOMEM);
            return;
        }
    }
    write_jobs(writer, writing, jobs);
    call_free(writing);
}

/* ---- the lead ---- */

/* The job that waits longest of those whose turn it is; NULL: nothing waits. */
static struct writer_job *next_in_turn(const struct db_writer *writer)
{
    struct writer_job *next = writer->waiting.first;
    while (next && next->large == writer->was_large) {
        next = next->next;
    }
    return next ? next : writer->waiting.first;
}

/* Takes what waits, as far as it fits into one transaction: a large job alone. What is late comes
 * first: it is older. */
static struct writer_job *take_group(struct db_writer *writer, const struct writer_job *leading)
{
    struct writer_queue group = writer->late;
    size_t most = writer->options.most_jobs ? writer->options.most_jobs : SIZE_MAX;
    if (!group.first) {
        list_init(&group);
    }
    list_init(&writer->late);
    writer->late_count = 0;
    writer->was_large = leading && leading->large;
    most = writer->was_large ? 1 : most;
    for (struct writer_job *job = writer->waiting.first, *next; job && most > 0; job = next) {
        next = job->next;
        if (job->large == writer->was_large) {
            list_remove(&writer->waiting, job);
            job->stage = TAKEN;
            list_add(&group, job);
            most--;
        }
    }
    return group.first;
}

/* After its own group a leader leaves, and the next in turn leads on. */
static void pass_lead(struct db_writer *writer)
{
    struct writer_job *next = next_in_turn(writer);
    writer->led = next && next->event >= 0;
    if (writer->led) {
        next->stage = LEADS;
        event_signal(next->event);
    } else if (next) {
        pthread_cond_signal(&writer->work);
    }
}

/* Reports to those who wait in writer_run(): from then on a job is its owner's, who may be gone. */
static void wake(struct writer_job *jobs)
{
    while (jobs) {
        struct writer_job *job = jobs;
        jobs = job->next;
        job->stage = DONE;
        if (job->event >= 0) {
            event_signal(job->event);
        }
    }
}

/* What rests may wait for a disk. */
static void rest(const struct db_writer *writer)
{
    const struct writer_options *options = &writer->options;
    if (options->hooks->rest) {
        options->hooks->rest(options->context);
    }
}

/* With the lock, but not while it works. A caller leads with its own job for callers, and the
 * thread for what was posted; it rests where nothing was. */
static void lead(struct db_writer *writer, struct call *leader, const struct writer_job *leading)
{
    struct writer_job *group = take_group(writer, leading);
    bool rests = !leader && !group && !writer->later.first && !writer->stopping;
    pthread_mutex_unlock(&writer->lock);
    if (group) {
        write_group(writer, group, leader);
    } else if (rests) {
        rest(writer);
    }
    pthread_mutex_lock(&writer->lock);
    if (leader) {
        wake(group);
    }
    pass_lead(writer);
}

/* ---- callers ---- */

/* Waits to be done or to lead. */
static int wait_turn(struct db_writer *writer, struct call *call, struct writer_job *job)
{
    struct pollfd watched = {.fd = job->event, .events = POLLIN};
    while (job->stage == WAITS || job->stage == TAKEN) {
        bool taken = job->stage == TAKEN;
        pthread_mutex_unlock(&writer->lock);
        int status = taken ? poll(&watched, 1, -1) : call_wait(call, &watched, 1, -1);
        pthread_mutex_lock(&writer->lock);
        if (status < 0 && !taken && (job->stage == WAITS || job->stage == LEADS)) {
            bool leads = job->stage == LEADS;
            list_remove(&writer->waiting, job);
            if (leads) {
                pass_lead(writer);
            }
            return status;
        }
    }
    return OK;
}

/* Only who has to wait needs something to wait for. */
static int queue_up(struct db_writer *writer, struct call *call, struct writer_job *job)
{
    job->event = event_open();
    if (job->event < 0) {
        return ERR_IO;
    }
    list_add(&writer->waiting, job);
    return wait_turn(writer, call, job);
}

static int run_grouped(struct db_writer *writer, struct call *call, struct writer_job *job)
{
    int status = OK;
    job->event = -1;
    pthread_mutex_lock(&writer->lock);
    job->number = ++writer->jobs;
    job->among_others = writer->led;
    if (writer->led) {
        status = queue_up(writer, call, job);
    } else {
        writer->led = true;
        job->stage = LEADS;
        list_add(&writer->waiting, job);
    }
    if (status == OK && job->stage == LEADS) {
        lead(writer, call, job);
    }
    job->among_others |= writer->jobs != job->number;
    pthread_mutex_unlock(&writer->lock);
    event_close(job->event);
    return status == OK ? job->status : status;
}

int writer_run(struct db_writer *writer, struct call *call, struct writer_job *job, bool alone)
{
    int status = call_check(call);
    if (status != OK) {
        return status;
    }
    if (!alone) {
        return run_grouped(writer, call, job);
    }
    write_jobs(writer, call, job);
    return job->status;
}

/* ---- the thread ---- */

/* Lets jobs wait whose time has come; at the end that is all of them. */
static void take_due(struct db_writer *writer)
{
    int64_t now = clock_now_ms();
    for (struct writer_job **at = &writer->later.first; *at;) {
        struct writer_job *job = *at;
        if (job->due_ms <= now || writer->stopping) {
            list_remove(&writer->later, job);
            list_add(&writer->waiting, job);
        } else {
            at = &job->next;
        }
    }
}

/* When the thread looks again, if nobody wakes it before. */
static struct timespec next_look(const struct db_writer *writer)
{
    const struct writer_options *options = &writer->options;
    struct timespec until;
    int64_t pause_ms = writer->late_count ? options->retry_ms : options->idle_ms;
    int64_t now = clock_now_ms();
    for (const struct writer_job *job = writer->later.first; job; job = job->next) {
        int64_t left = job->due_ms > now ? job->due_ms - now : 0;
        pause_ms = left < pause_ms ? left : pause_ms;
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t nanoseconds = until.tv_nsec + pause_ms % 1000 * 1000000;
    until.tv_sec += pause_ms / 1000 + nanoseconds / 1000000000;
    until.tv_nsec = nanoseconds % 1000000000;
    return until;
}

static void *serve(void *context)
{
    struct db_writer *writer = context;
    bool goes_on = true;
    pthread_mutex_lock(&writer->lock);
    while (goes_on) {
        int waited = 0;
        while ((!writer->waiting.first || writer->led) && !writer->stopping && waited == 0) {
            struct timespec until = next_look(writer);
            waited = pthread_cond_timedwait(&writer->work, &writer->lock, &until);
        }
        take_due(writer);
        if (writer->led && !writer->stopping) {
            continue; /* a caller leads, and passes the lead on */
        }
        goes_on = writer->waiting.first || !writer->stopping;
        if (!goes_on) {
            writer->next_try_ms = 0; /* what is late is tried a last time */
        }
        writer->led = true;
        lead(writer, NULL, next_in_turn(writer));
    }
    pthread_mutex_unlock(&writer->lock);
    rest(writer); /* whoever ends the writer must not wait for a disk */
    pthread_mutex_lock(&writer->lock);
    writer->ended = true;
    pthread_cond_signal(&writer->gone);
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

int writer_post(struct db_writer *writer, struct writer_job *job)
{
    job->event = -1;
    pthread_mutex_lock(&writer->lock);
    if (!writer->started && !writer->stopping) {
        writer->started = thread_start(&writer->thread, 0, serve, writer) == OK;
    }
    bool taken = writer->started && !writer->stopping;
    if (taken) {
        list_add(job->due_ms ? &writer->later : &writer->waiting, job);
        pthread_cond_signal(&writer->work);
    }
    pthread_mutex_unlock(&writer->lock);
    if (!taken) {
        writer->options.hooks->drop(writer->options.context, job);
    }
    return taken ? OK : ERR_IO;
}

const struct writer_job *writer_late(const struct db_writer *writer)
{
    return writer->late.first;
}

/* ---- its life ---- */

struct db_writer *writer_new(const struct writer_options *options)
{
    struct db_writer *writer = calloc(1, sizeof *writer);
    if (writer) {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&writer->work, &attributes);
        pthread_cond_init(&writer->gone, &attributes);
        pthread_condattr_destroy(&attributes);
        pthread_mutex_init(&writer->lock, NULL);
        writer->options = *options;
        list_init(&writer->waiting);
        list_init(&writer->later);
        list_init(&writer->late);
    }
    return writer;
}

static bool tell_to_stop(struct db_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    pthread_cond_signal(&writer->work);
    bool runs = writer->started;
    pthread_mutex_unlock(&writer->lock);
    return runs;
}

bool writer_stop(struct db_writer *writer, int64_t time_ms)
{
    if (!tell_to_stop(writer)) {
        return true;
    }
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += time_ms / 1000;
    pthread_mutex_lock(&writer->lock);
    while (!writer->ended && waited == 0) {
        waited = pthread_cond_timedwait(&writer->gone, &writer->lock, &until);
    }
    bool ended = writer->ended;
    pthread_mutex_unlock(&writer->lock);
    if (ended) {
        pthread_join(writer->thread, NULL);
        writer->started = false;
    } else {
        pthread_detach(writer->thread); /* nobody waits for it any more */
    }
    return ended;
}

struct db_writer *writer_free(struct db_writer *writer)
{
    if (!writer) {
        return NULL;
    }
    const struct writer_options *options = &writer->options;
    if (tell_to_stop(writer)) {
        pthread_join(writer->thread, NULL);
    }
    size_t lost = writer->late_count + writer->lost_count;
    if (lost) {
        options->hooks->lost(options->context, lost);
    }
    struct writer_job *job;
    while ((job = list_take(&writer->late)) != NULL) {
        options->hooks->drop(options->context, job);
    }
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->work);
    pthread_cond_destroy(&writer->gone);
    free(writer);
    return NULL;
}
