/* Waits for jobs, and tells of them: the tools that are jobs, and whoever asks for one by its id.
 */
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

/* For a call of a client: the words are its error. */
static int borrow_for(struct jobs *jobs, struct call *call, struct db **db)
{
    char problem[DB_PROBLEM_SIZE] = "";
    int status = jobs_borrow(jobs, call, db, problem, sizeof problem);
    if (status == ERR_IO) {
        return call_fail(call, CODE_PROVIDER, "jobs cannot be read: %s",
                         call_without_paths(call, problem, true));
    }
    return status;
}

static int give_back(struct jobs *jobs, struct call *call, struct db *db, int status)
{
    if (status == ERR_IO || status == ERR_CLOSED || status == ERR_BUSY) {
        status = call_fail(call, CODE_PROVIDER, "jobs cannot be read: %s",
                           call_without_paths(call, db_problem(db), true));
    }
    db_pool_return(jobs->connections, db);
    return status;
}

/* One answer for a job that never was, has expired, or is somebody else's. */
static int fail_unknown(struct call *call)
{
    return call_fail(call, CODE_NOT_FOUND,
                     "there is no such job: it was never there, has expired (FORAGE_JOBS_TTL), or "
                     "belongs to another caller");
}

/* ---- waiting ---- */

static void watch(struct job *job, struct job_watcher *watcher)
{
    pthread_mutex_lock(&job->jobs->lock);
    watcher->next = job->watchers;
    job->watchers = watcher;
    pthread_mutex_unlock(&job->jobs->lock);
}

static void unwatch(struct job *job, const struct job_watcher *watcher)
{
    pthread_mutex_lock(&job->jobs->lock);
    struct job_watcher **link = &job->watchers;
    while (*link != watcher) {
        link = &(*link)->next;
    }
    *link = watcher->next;
    pthread_mutex_unlock(&job->jobs->lock);
    event_close(watcher->event);
}

/* Tells the call what the job said since the last time; what came too fast is passed over. Whether
 * nothing more comes from it here. */
static bool pass_on(struct call *call, struct job *job, unsigned *heard)
{
    bool over = false;
    for (bool more = true; more;) {
        struct job_words words;
        pthread_mutex_lock(&job->jobs->lock);
        unsigned oldest = job->said > JOB_WORDS ? job->said - JOB_WORDS : 0;
        *heard = *heard < oldest ? oldest : *heard;
        more = *heard < job->said;
        if (more) {
            words = job->words[(*heard)++ % JOB_WORDS];
        }
        over = job_is_over(job->status) || job->is_put_down || job->status == JOB_ASKING;
        pthread_mutex_unlock(&job->jobs->lock);
        if (more) {
            call_progress(call, words.done, words.total, "%s", words.message);
        }
    }
    return over;
}

/* OK when it is over, or will not go on here; ERR_BUSY after `most_ms`; a status of the call. */
static int wait_here(struct call *call, struct job *job, int64_t most_ms)
{
    struct job_watcher watcher = {.event = event_open()};
    unsigned heard = 0;
    int64_t end = most_ms == INT64_MAX ? INT64_MAX : clock_now_ms() + most_ms;
    int status = watcher.event < 0 ? ERR_IO : ERR_BUSY;
    if (status == ERR_IO) {
        return status;
    }
    watch(job, &watcher);
    while (status == ERR_BUSY) {
        if (pass_on(call, job, &heard)) {
            status = OK;
            break;
        }
        int64_t left = end == INT64_MAX ? -1 : end - clock_now_ms();
        if (end != INT64_MAX && left <= 0) {
            break;
        }
        struct pollfd watched = {.fd = watcher.event, .events = POLLIN};
        int ready = call_wait(call, &watched, 1, left);
        if (ready < 0) {
            status = ready;
        }
        event_clear(watcher.event);
    }
    unwatch(job, &watcher);
    return status;
}

/* ---- as its own client ---- */

static int64_t patience_of(struct call *call)
{
    int64_t patience = call_patience_ms(call);
    return patience < 0 ? config_duration_ms("FORAGE_CALL_PATIENCE") : patience;
}

/* The store knows from now on that the job needs this client no more. */
static void let_go_on(struct jobs *jobs, const char *id)
{
    char problem[DB_PROBLEM_SIZE];
    struct db *db = NULL;
    struct call *own = jobs_own_call(jobs);
    if (own && jobs_borrow(jobs, own, &db, problem, sizeof problem) == OK) {
        if (row_let_go_on(db, id) != OK) {
            /* the same question may find it once more, which does no harm */
        }
        db_pool_return(jobs->connections, db);
    }
    call_free(own);
}

/* From now on it goes on without a client. */
static void leave_alone(struct job *job)
{
    pthread_mutex_lock(&job->jobs->lock);
    bool told = job->background || !job->kept;
    job->background = true;
    pthread_mutex_unlock(&job->jobs->lock);
    if (!told) {
        let_go_on(job->jobs, job->id);
    }
}

/* A client that leaves ends what only it waits for. */
static void client_left(struct job *job)
{
    pthread_mutex_lock(&job->jobs->lock);
    if (!job->background && job->attended == 1) {
        job_end(job, JOB_IS_CANCELLED);
    }
    pthread_mutex_unlock(&job->jobs->lock);
}

static void attend(struct job *job, int more)
{
    pthread_mutex_lock(&job->jobs->lock);
    job->attended = (unsigned)((int)job->attended + more);
    pthread_mutex_unlock(&job->jobs->lock);
}

/* What the job used stands in the log line of the call too. */
static void report_usage(struct call *call, const struct job *job)
{
    const struct call_usage used = call_used(job->call);
    call_report_usage(call, &used);
}

static int reply_of(struct call *call, struct job *job, struct reply *reply)
{
    struct job_view view;
    const char *result;
    int status = view_of_job(job, call_arena(call), &view, &result);
    if (status == OK && job_is_over(view.status)) {
        report_usage(call, job);
    }
    return status == OK ? view_reply(call, &view, result, reply) : status;
}

/* ---- asking for one ---- */

/* Waits for a job that another process works on, or takes it up where nobody does. */
static int look_elsewhere(struct jobs *jobs, struct call *call, const char *id, int64_t wait_ms,
                          struct reply *reply)
{
    struct arena *arena = call_arena(call);
    int64_t end = wait_ms == INT64_MAX ? INT64_MAX : clock_now_ms() + wait_ms;
    for (;;) {
        struct job_row row;
        struct job_view view;
        struct db *db;
        struct job *job = NULL;
        int status = borrow_for(jobs, call, &db);
        if (status != OK) {
            return status;
        }
        status = row_find(db, arena, call_caller(call)->name, id, &row);
        if (status == OK && !job_is_over(row.status) && !atomic_load(&jobs->ending)) {
            status = job_take_up(jobs, db, id, &job);
            status =
                status == ERR_NOTFOUND || status == ERR_BUSY || status == ERR_LIMIT ? OK : status;
        }
        status = status == ERR_NOTFOUND ? status : give_back(jobs, call, db, status);
        if (status == ERR_NOTFOUND) {
            db_pool_return(jobs->connections, db);
            return fail_unknown(call);
        }
        if (job) {
            job_leave(job);
            return ERR_BUSY; /* it is here now */
        }
        int64_t left = end == INT64_MAX ? INT64_MAX : end - clock_now_ms();
        if (status == OK && (job_is_over(row.status) || left <= 0)) {
            status = view_of_row(jobs, &row, arena, &view);
            return status == OK ? view_reply(call, &view, row.result, reply) : status;
        }
        if (status == OK) {
            status = call_sleep(call, left < TIME_JOB_POLL_MS ? left : TIME_JOB_POLL_MS);
        }
        if (status != OK) {
            return status;
        }
    }
}

static bool belongs_to(const struct job *job, const struct call *call)
{
    return strcmp(job->caller->name, call_caller(call)->name) == 0;
}

static int look(void *context, struct call *call, const char *id, int64_t wait_ms,
                struct reply *reply)
{
    struct jobs *jobs = context;
    int64_t end = wait_ms == INT64_MAX ? INT64_MAX : clock_now_ms() + wait_ms;
    int status = ERR_BUSY;
    if (strlen(id) != ID_SECRET_SIZE - 1) {
        return fail_unknown(call);
    }
    while (status == ERR_BUSY) {
        int64_t left = end == INT64_MAX ? INT64_MAX : end - clock_now_ms();
        left = left > 0 ? left : 0;
        struct job *job = job_find(jobs, id);
        if (job && !belongs_to(job, call)) {
            job_leave(job);
            return fail_unknown(call);
        }
        if (!job) {
            status = look_elsewhere(jobs, call, id, left, reply);
            continue;
        }
        status = left ? wait_here(call, job, left) : OK;
        pthread_mutex_lock(&jobs->lock);
        bool away = job->is_put_down && !atomic_load(&jobs->ending);
        pthread_mutex_unlock(&jobs->lock);
        if (status == OK && away) {
            job_leave(job);
            status = call_sleep(call, TIME_JOB_RETRY_MS); /* until its thread has left it */
            status = status == OK ? ERR_BUSY : status;
            continue;
        }
        status = status == ERR_BUSY || status == OK ? reply_of(call, job, reply) : status;
        job_leave(job);
    }
    return status;
}

/* ---- the tools that are jobs ---- */

/* Waits for a job that it attends, as its own client does, and attends it no more. */
static int wait_as_client(struct call *call, struct job *job, int64_t patience_ms,
                          struct reply *reply)
{
    int status = patience_ms ? wait_here(call, job, patience_ms) : ERR_BUSY;
    if (status == ERR_BUSY) {
        leave_alone(job);
        status = OK;
    } else if (status != OK) {
        client_left(job);
    }
    attend(job, -1);
    return status == OK ? reply_of(call, job, reply) : status;
}

static int run_job(void *context, struct call *call, const struct entry *entry,
                   yyjson_val *arguments, struct reply *reply)
{
    struct jobs *jobs = context;
    char id[ID_SECRET_SIZE];
    struct job *job = NULL;
    const char *text = json_text_of(call_arena(call), arguments);
    bool background = yyjson_get_bool(yyjson_obj_get(arguments, "background"));
    int64_t patience = background ? 0 : patience_of(call);
    if (!text) {
        return ERR_NOMEM;
    }
    if (patience && job_find_same(jobs, call, entry, text, id) && !(job = job_find(jobs, id))) {
        int status = look(jobs, call, id, 0, reply);
        if (status == OK && job_is_over(reply->job->status)) {
            let_go_on(jobs, id); /* it is delivered */
            return OK;
        }
        call_take_error(call, &(struct call_error){0});
    }
    if (job) {
        attend(job, 1);
    }
    int status = job ? OK : job_start(jobs, call, entry, arguments, text, &job);
    if (status == OK) {
        status = wait_as_client(call, job, patience, reply);
        job_leave(job);
    }
    return status;
}

static int cancel(void *context, struct call *call, const char *id)
{
    struct jobs *jobs = context;
    struct job *job = job_find(jobs, id);
    bool here = job && belongs_to(job, call);
    if (here) {
        pthread_mutex_lock(&jobs->lock);
        job_end(job, JOB_IS_CANCELLED);
        bool kept = job->kept;
        pthread_mutex_unlock(&jobs->lock);
        job_leave(job);
        if (!kept) {
            return OK;
        }
    } else if (job) {
        job_leave(job);
        return fail_unknown(call);
    }
    struct db *db;
    struct job_row row;
    int status = borrow_for(jobs, call, &db);
    if (status != OK) {
        return status;
    }
    status = row_cancel(db, call_caller(call)->name, id);
    if (status == ERR_NOTFOUND && !here) {
        status = row_find(db, call_arena(call), call_caller(call)->name, id, &row);
    }
    if (status == ERR_NOTFOUND) {
        db_pool_return(jobs->connections, db);
        return here ? OK : fail_unknown(call);
    }
    return give_back(jobs, call, db, status);
}

static int answer(void *context, struct call *call, const char *id, yyjson_val *answers)
{
    struct jobs *jobs = context;
    struct job *job = job_find(jobs, id);
    if (job && belongs_to(job, call)) {
        pthread_mutex_lock(&jobs->lock);
        job_take_answers(job, call_arena(call), answers);
        pthread_mutex_unlock(&jobs->lock);
        job_leave(job);
        return OK;
    }
    if (job) {
        job_leave(job);
        return fail_unknown(call);
    }
    struct reply ignored = {.doc = json_new(call_arena(call))};
    return look(jobs, call, id, 0, &ignored); /* it asks nothing; but it must be there */
}

/* ---- all of them ---- */

struct job_listing {
    struct jobs *jobs;
    struct arena *arena;
    void (*take)(void *taker, const struct job_view *view);
    void *taker;
};

static void show_job(const struct job_listing *listing, struct job *job)
{
    struct job_view view;
    const char *result;
    if (view_of_job(job, listing->arena, &view, &result) == OK) {
        listing->take(listing->taker, &view);
    }
}

/* A job that is here tells more than its row. */
static void show_row(void *context, const struct job_row *row)
{
    struct job_listing *listing = context;
    struct job_view view;
    struct job *job = job_find(listing->jobs, row->id);
    if (job) {
        show_job(listing, job);
        job_leave(job);
    } else if (view_of_row(listing->jobs, row, listing->arena, &view) == OK) {
        listing->take(listing->taker, &view);
    }
}

/* Those that are nowhere but here. */
static void show_unkept(struct job_listing *listing, struct call *call)
{
    char ids[LIMIT_JOBS_UNKEPT][ID_SECRET_SIZE];
    size_t count = 0;
    pthread_mutex_lock(&listing->jobs->lock);
    for (struct job *job = listing->jobs->first; job && count < LIMIT_JOBS_UNKEPT;
         job = job->next) {
        if (!job->kept && belongs_to(job, call)) {
            memcpy(ids[count++], job->id, sizeof job->id);
        }
    }
    pthread_mutex_unlock(&listing->jobs->lock);
    for (size_t i = 0; i < count; i++) {
        struct job *job = job_find(listing->jobs, ids[i]);
        if (job) {
            show_job(listing, job);
            job_leave(job);
        }
    }
}

static int list(void *context, struct call *call, size_t most,
                void (*take)(void *taker, const struct job_view *view), void *taker)
{
    struct job_listing listing = {context, call_arena(call), take, taker};
    struct db *db;
    show_unkept(&listing, call);
    int status = borrow_for(listing.jobs, call, &db);
    if (status != OK) {
        return status;
    }
    status = row_list(db, call_caller(call)->name, most, show_row, &listing);
    return give_back(listing.jobs, call, db, status);
}

/* ---- who asks ---- */

struct job_host jobs_host(struct jobs *jobs)
{
    return (struct job_host){jobs, run_job, look, cancel, answer, list};
}

int jobs_look(struct call *call, const char *id, int64_t wait_ms, struct reply *reply)
{
    return look(call_parts(call)->jobs, call, id, wait_ms, reply);
}

int jobs_end(struct call *call, const char *id, bool *removed)
{
    struct jobs *jobs = call_parts(call)->jobs;
    struct db *db;
    struct job *job = job_find(jobs, id);
    bool runs = false;
    *removed = false;
    if (job) {
        pthread_mutex_lock(&jobs->lock);
        runs = !job_is_over(job->status);
        *removed = !runs && !job->kept && belongs_to(job, call);
        job->withdrawn |= *removed;
        pthread_mutex_unlock(&jobs->lock);
        job_leave(job);
    }
    if (*removed) {
        jobs_drop_unkept(jobs);
        return OK;
    }
    int status = runs ? cancel(jobs, call, id) : borrow_for(jobs, call, &db);
    if (runs || status != OK) {
        return status;
    }
    status = row_remove(db, call_caller(call)->name, id);
    *removed = status == OK;
    if (status == ERR_NOTFOUND) {
        db_pool_return(jobs->connections, db);
        return cancel(jobs, call, id);
    }
    return give_back(jobs, call, db, status);
}

int jobs_list(struct call *call, size_t most,
              void (*take)(void *taker, const struct job_view *view), void *taker)
{
    return list(call_parts(call)->jobs, call, most, take, taker);
}

/* ---- as JSON ---- */

struct described {
    yyjson_mut_doc *doc;
    yyjson_mut_val *list;
};

static void describe_one(void *context, const struct job_view *view)
{
    struct described *described = context;
    yyjson_mut_arr_append(described->list, jobs_describe(described->doc, view));
}

int jobs_describe_all(struct call *call, size_t most, yyjson_mut_val **body)
{
    yyjson_mut_doc *doc = json_new(call_arena(call));
    *body = yyjson_mut_obj(doc);
    struct described described = {doc, yyjson_mut_obj_add_arr(doc, *body, "jobs")};
    return doc ? jobs_list(call, most, describe_one, &described) : ERR_NOMEM;
}
