/* The thread of a job: runs its tool, keeps its journal, and brings its end into the store. */
#include "call/errors.h"
#include "call/parts.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/log.h"
#include "core/redact.h"
#include "jobs/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ASKS 16

/* ---- what it used ---- */

/* Counts what the call has used since the last time, which is returned. */
static struct call_usage count_more(struct job *job)
{
    const struct call_usage now = call_used(job->call);
    struct call_usage more = call_usage_change(&job->counted, &now);
    more.service = now.service;
    more.model = now.model;
    job->counted = now;
    pthread_mutex_lock(&job->jobs->lock);
    job->input_tokens += more.input_tokens;
    job->output_tokens += more.output_tokens;
    job->nano_usd += more.nano_usd;
    pthread_mutex_unlock(&job->jobs->lock);
    return more;
}

static void write_usage(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct call_usage *usage)
{
    yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, list);
    json_add_string(doc, one, "service", usage->service);
    json_add_string(doc, one, "model", usage->model);
    yyjson_mut_obj_add_sint(doc, one, "requests", usage->requests);
    yyjson_mut_obj_add_sint(doc, one, "input_tokens", usage->input_tokens);
    yyjson_mut_obj_add_sint(doc, one, "output_tokens", usage->output_tokens);
    yyjson_mut_obj_add_sint(doc, one, "nano_usd", usage->nano_usd);
}

/* ---- its journal ---- */

/* A step of an earlier run, which was charged and counted then. */
static void took_step(void *context, size_t index)
{
    struct job *job = context;
    const char *text = job->past_usages[index];
    yyjson_doc *doc = json_parse(call_arena(job->call), text, strlen(text), NULL);
    size_t at, most;
    yyjson_val *one;
    yyjson_arr_foreach(yyjson_doc_get_root(doc), at, most, one)
    {
        call_report_usage(
            job->call, &(struct call_usage){
                           .service = json_string(one, "service"),
                           .model = json_string(one, "model"),
                           .requests = yyjson_get_sint(yyjson_obj_get(one, "requests")),
                           .input_tokens = yyjson_get_sint(yyjson_obj_get(one, "input_tokens")),
                           .output_tokens = yyjson_get_sint(yyjson_obj_get(one, "output_tokens")),
                           .nano_usd = yyjson_get_sint(yyjson_obj_get(one, "nano_usd")),
                       });
    }
    job->counted = call_used(job->call);
}

/* Without secrets; in the arena, NULL without memory. */
static const char *without_secrets(struct arena *arena, const char *text)
{
    struct buf copy;
    buf_init(&copy, LIMIT_JOB_STEP_BYTES);
    buf_puts(&copy, text);
    redact_buf(&copy, 0, WORDS_FROM_OUTSIDE);
    return buf_to_arena(&copy, arena);
}

/* Writes a step while nobody else can have the job. A store that fails is tried again until the
 * lease has run out: then the job is no longer ours. */
static int store_step(struct job *job, size_t number, const struct journal_step *step,
                      const char *usage)
{
    struct jobs *jobs = job->jobs;
    char problem[DB_PROBLEM_SIZE];
    for (;;) {
        struct db *db = NULL;
        struct call *own = jobs_own_call(jobs);
        int status = own ? jobs_borrow(jobs, own, &db, problem, sizeof problem) : ERR_NOMEM;
        if (status == OK) {
            status = row_add_step(db, job->id, jobs->owner, number, step, usage);
            db_pool_return(jobs->connections, db);
        }
        call_free(own);
        if (status == OK || status == ERR_NOTFOUND || status == ERR_NOMEM) {
            return status;
        }
        if (lease_hold(job) != OK || call_sleep(job->call, TIME_JOB_RETRY_MS) != OK) {
            return ERR_CANCELLED;
        }
    }
}

static int add_step(void *context, size_t index, const struct journal_step *step)
{
    struct job *job = context;
    const struct call_usage more = count_more(job);
    int status = OK;
    if (job->kept) {
        struct arena *scratch = arena_new(2 * LIMIT_JOB_STEP_BYTES);
        yyjson_mut_doc *doc = scratch ? json_new(scratch) : NULL;
        yyjson_mut_val *list = yyjson_mut_arr(doc);
        write_usage(doc, list, &more);
        const char *usage = doc ? json_text(scratch, list, NULL) : NULL;
        const char *body = doc ? without_secrets(scratch, step->body) : NULL;
        struct journal_step clean = {step->kind, body, step->at_ms};
        status = usage && body ? store_step(job, index, &clean, usage) : ERR_NOMEM;
        arena_free(scratch);
    }
    if (status == ERR_NOTFOUND) {
        pthread_mutex_lock(&job->jobs->lock);
        job_end(job, JOB_IS_LOST);
        pthread_mutex_unlock(&job->jobs->lock);
        return ERR_CANCELLED;
    }
    return status;
}

static int may_act(void *context)
{
    struct job *job = context;
    return job->kept ? lease_hold(job) : OK;
}

static void tell(void *context, const char *state)
{
    struct job *job = context;
    char *copy = strlen(state) <= LIMIT_JOB_STATE_BYTES ? strdup(state) : NULL;
    pthread_mutex_lock(&job->jobs->lock);
    if (copy) {
        free(job->state);
        job->state = copy;
        job->state_stored = false;
        job_changed(job);
    }
    pthread_mutex_unlock(&job->jobs->lock);
}

static void leave(void *context, const char *text)
{
    struct job *job = context;
    free(job->context);
    job->context = strlen(text) <= LIMIT_JOB_CONTEXT_BYTES ? strdup(text) : NULL;
}

/* ---- its call ---- */

static void progress(void *context, double done, double total, const char *message)
{
    struct job *job = context;
    pthread_mutex_lock(&job->jobs->lock);
    struct job_words *words = &job->words[job->said++ % JOB_WORDS];
    words->done = done;
    words->total = total;
    snprintf(words->message, sizeof words->message, "%s", message);
    job_changed(job);
    pthread_mutex_unlock(&job->jobs->lock);
}

static bool has_capability(void *context, const char *name)
{
    const struct job *job = context;
    return strcmp(name, "elicitation") == 0 ? job->can_elicit
           : strcmp(name, "sampling") == 0  ? job->can_sample
                                            : job->can_list_roots;
}

/* What was answered to a question of that key; the question stands until then. */
static int ask(void *context, struct call *call, const char *key, const char *method,
               const char *params_json, const char **response_json)
{
    struct job *job = context;
    size_t count = 0;
    *response_json = NULL;
    if (!has_capability(job, strcmp(method, "elicitation/create") == 0       ? "elicitation"
                             : strcmp(method, "sampling/createMessage") == 0 ? "sampling"
                                                                             : "roots")) {
        return ERR_UNSUPPORTED;
    }
    pthread_mutex_lock(&job->jobs->lock);
    struct job_ask **link = &job->asks;
    for (; *link && strcmp((*link)->key, key) != 0; link = &(*link)->next) {
        count++;
    }
    if (*link && (*link)->response) {
        *response_json = arena_strdup(call_arena(call), (*link)->response);
    } else if (!*link && count < MOST_ASKS) {
        struct job_ask *fresh = calloc(1, sizeof *fresh);
        if (fresh) {
            *fresh = (struct job_ask){
                .key = strdup(key), .method = strdup(method), .params = strdup(params_json)};
            *link = fresh;
        }
    }
    pthread_mutex_unlock(&job->jobs->lock);
    return *response_json ? OK : ERR_NEED_INPUT;
}

struct call *job_call_new(struct job *job, const char *request_id, bool for_operator,
                          const struct journal_step *steps, size_t step_count)
{
    struct call *call = call_new(&(struct call_options){
        .request_id = request_id,
        .caller = job->caller,
        .parts = job->jobs->options.parts,
        .for_operator = for_operator,
        .hooks = {.context = job,
                  .progress = progress,
                  .shows_time = true,
                  .ask = ask,
                  .has_capability = has_capability},
    });
    if (call) {
        call_book_for(call, job->entry->name, job->id);
    }
    struct journal *journal =
        call ? journal_new(call_arena(call), &(struct journal_options){.steps = steps,
                                                                       .step_count = step_count,
                                                                       .run = job->runs,
                                                                       .begun_ms = job->created_ms,
                                                                       .context = job,
                                                                       .took = took_step,
                                                                       .add = add_step,
                                                                       .may_act = may_act,
                                                                       .tell = tell,
                                                                       .leave = leave})
             : NULL;
    if (!journal) {
        return call_free(call);
    }
    call_set_journal(call, journal);
    return call;
}

/* ---- what it asks its client ---- */

void job_take_answers(struct job *job, struct arena *arena, yyjson_val *answers)
{
    bool open = false;
    for (struct job_ask *ask = job->asks; ask; ask = ask->next) {
        yyjson_val *answer = ask->response ? NULL : yyjson_obj_get(answers, ask->key);
        const char *text = answer ? json_text_of(arena, answer) : NULL;
        ask->response = text ? strdup(text) : ask->response;
        open |= !ask->response;
    }
    if (!open && job->status == JOB_ASKING) {
        job->status = JOB_RUNNING;
        event_signal(job->asked_event);
    }
    job_changed(job);
}

/* Waits until everything is answered. A status of the call. */
static int wait_for_answers(struct job *job)
{
    struct pollfd watched = {.fd = job->asked_event, .events = POLLIN};
    pthread_mutex_lock(&job->jobs->lock);
    event_clear(job->asked_event);
    job->status = JOB_ASKING;
    job_changed(job);
    pthread_mutex_unlock(&job->jobs->lock);
    int ready = call_wait(job->call, &watched, 1, -1);
    return ready < 0 ? ready : OK;
}

/* ---- running it ---- */

static int run_tool(struct job *job, struct reply *reply)
{
    struct arena *arena = call_arena(job->call);
    yyjson_doc *arguments = json_parse(arena, job->arguments, strlen(job->arguments), NULL);
    int status = arguments ? OK : ERR_NOMEM;
    if (job->runs > LIMIT_JOB_RUNS) { /* perhaps it is why they ended */
        return call_fail(job->call, CODE_EXECUTION_ERROR,
                         "forage was ended %u times while it worked on this; ask again",
                         job->runs - 1);
    }
    int64_t left = job->expires_ms - clock_wall_ms();
    call_limit_time(job->call, left > 0 ? left : 1);
    while (status == OK) {
        *reply = (struct reply){.doc = json_new(arena)};
        status = reply->doc
                     ? job->entry->tool->run(job->call, yyjson_doc_get_root(arguments), reply)
                     : ERR_NOMEM;
        if (status != ERR_NEED_INPUT) {
            break;
        }
        status = wait_for_answers(job);
    }
    if (status == OK && !reply->structured && !reply->content) {
        status = ERR_NOMEM;
    }
    return status;
}

/* Makes a failure the reply of the tool, as every other call has it. */
static void describe_failure(struct job *job, int status, struct reply *reply)
{
    call_fail_status(job->call, status);
    if (!reply->doc) {
        reply->doc = json_new(call_arena(job->call));
    }
    reply->structured = registry_error_body(job->call, reply->doc);
    reply->content = NULL;
    reply->is_error = true;
}

/* The id goes with the result, where the tool has it. */
static void add_id(const struct job *job, struct reply *reply)
{
    yyjson_val *properties = yyjson_obj_get(job->entry->output_schema, "properties");
    if (reply->structured && !reply->is_error && yyjson_obj_get(properties, "id")) {
        yyjson_mut_obj_add_strcpy(reply->doc, reply->structured, "id", job->id);
    }
}

/* ---- its end ---- */

/* Brings the end into the store; tried for as long as the lease lasts. */
static int store_end(struct job *job, const struct job_row *row, struct record *record)
{
    struct jobs *jobs = job->jobs;
    char problem[DB_PROBLEM_SIZE] = "";
    int64_t until = clock_now_ms() + TIME_JOB_STORE_MS;
    int status;
    do {
        struct db *db = NULL;
        struct call *own = jobs_own_call(jobs);
        status = own ? jobs_borrow(jobs, own, &db, problem, sizeof problem) : ERR_NOMEM;
        if (status == OK) {
            status = row_finish(db, row, jobs->owner, job->context, record);
            if (status != OK && status != ERR_NOTFOUND) {
                snprintf(problem, sizeof problem, "%s", db_problem(db));
            }
            db_pool_return(jobs->connections, db);
        }
        call_free(own);
        if (status == OK || status == ERR_NOTFOUND) {
            return status;
        }
        static const struct timespec PAUSE = {.tv_nsec = TIME_JOB_RETRY_MS * 1000000L};
        nanosleep(&PAUSE, NULL);
    } while (clock_now_ms() < until && !atomic_load(&jobs->ending));
    log_error(call_request_id(job->call), "the end of a job could not be stored: %s", problem);
    return status;
}

/* Tells whoever tried something with it how it ended. */
static void end_trying(struct job *job, struct outcome *outcome)
{
    const struct trying *trying = &job->jobs->options.registry->trying;
    if (trying->end && call_tried(job->call)) {
        pthread_mutex_lock(&job->jobs->lock);
        outcome->nano_usd = job->nano_usd;
        pthread_mutex_unlock(&job->jobs->lock);
        trying->end(trying->context, job->call, job->entry, outcome);
    }
}

/* What the whole of it cost, in the log and for the records. */
static void finish(struct job *job, struct reply *reply, enum job_status status)
{
    struct jobs *jobs = job->jobs;
    struct record record = {0};
    struct outcome outcome = {
        .arguments = NULL,
        .reply = reply,
        .failed = status != JOB_DONE,
        .took_us = (clock_wall_ms() - job->created_ms) * 1000,
    };
    yyjson_doc *arguments =
        json_parse(call_arena(job->call), job->arguments, strlen(job->arguments), NULL);
    outcome.arguments = yyjson_doc_get_root(arguments);
    add_id(job, reply);
    ledger_make_record(jobs->options.ledger, job->call, job->entry, &outcome, &record);
    count_more(job);
    record.input_tokens = job->input_tokens; /* of all its runs */
    record.output_tokens = job->output_tokens;
    record.nano_usd = job->nano_usd;
    char *result = result_write(job->call, reply);
    pthread_mutex_lock(&jobs->lock);
    char *state = job->state ? strdup(job->state) : NULL;
    pthread_mutex_unlock(&jobs->lock);
    struct job_row row = {.id = job->id, .status = status, .result = result, .state = state};
    int stored = job->kept ? store_end(job, &row, &record) : OK;
    if (!job->kept) {
        ledger_record(jobs->options.ledger, job->call, &record);
    }
    if (stored != ERR_NOTFOUND) {
        end_trying(job, &outcome);
    }
    pthread_mutex_lock(&jobs->lock);
    job->is_put_down = stored == ERR_NOTFOUND; /* somebody else has it: the store tells the rest */
    job->status = job->is_put_down ? JOB_WAITING : status;
    job->withdrawn = job->kept && stored == OK;
    job->updated_ms = clock_wall_ms();
    job->result = result;
    job_changed(job);
    pthread_mutex_unlock(&jobs->lock);
    free(state);
}

/* Lets go of a job that others are to take up. */
static void put_down(struct job *job)
{
    struct jobs *jobs = job->jobs;
    char problem[DB_PROBLEM_SIZE];
    struct db *db = NULL;
    struct call *own = job->kept ? jobs_own_call(jobs) : NULL;
    int status = own ? jobs_borrow(jobs, own, &db, problem, sizeof problem) : ERR_NOMEM;
    if (status == OK) {
        status = row_release(db, job->id, jobs->owner);
        db_pool_return(jobs->connections, db);
    }
    call_free(own);
    if (job->kept && status != OK && status != ERR_NOTFOUND) {
        log_warn(call_request_id(job->call),
                 "a job could not be handed over; it is taken up when its lease has lapsed");
    }
    pthread_mutex_lock(&jobs->lock);
    job->status = job->kept ? JOB_WAITING : JOB_CANCELLED;
    job->updated_ms = clock_wall_ms();
    job->is_put_down = true;
    job_changed(job);
    pthread_mutex_unlock(&jobs->lock);
}

static void log_end(struct job *job, enum job_ending ending, enum job_status status)
{
    const struct call_error *error = call_error(job->call);
    const char *tried = call_tried(job->call);
    log_info(call_request_id(job->call),
             "job=%.8s tool=%s caller=%s status=%s ms=%lld runs=%u%s%.*s", job->id,
             job->entry->name, job->caller->name,
             ending == JOB_IS_PUT_DOWN ? "put down"
             : ending == JOB_IS_LOST   ? "lost"
             : error                   ? error->code
                                       : job_status_word(status),
             (long long)(clock_wall_ms() - job->created_ms), job->runs, tried ? " experiment=" : "",
             tried ? (int)tried_length(tried, 1) : 0, tried ? tried : "");
}

void job_work(void *context)
{
    struct job *job = context;
    struct jobs *jobs = job->jobs;
    struct reply reply = {0};
    int status = run_tool(job, &reply);
    pthread_mutex_lock(&jobs->lock);
    enum job_ending ending = job->ending;
    pthread_mutex_unlock(&jobs->lock);
    enum job_status ended = JOB_CANCELLED;
    if ((ending == JOB_IS_PUT_DOWN || ending == JOB_IS_LOST) && status != OK) {
        put_down(job);
    } else {
        /* What came to its end in spite of all is a result. */
        bool broken = status == ERR_UNSUPPORTED && !call_error(job->call);
        if (status != OK) {
            describe_failure(job, status, &reply);
        }
        ended = status == ERR_CANCELLED ? JOB_CANCELLED
                : broken                ? JOB_BROKEN
                : reply.is_error        ? JOB_FAILED
                                        : JOB_DONE;
        finish(job, &reply, ended);
    }
    log_end(job, ending, ended);
    job_leave(job);
}
