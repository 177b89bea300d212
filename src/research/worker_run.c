/* Runs a worker once and watches it, from its start to its end. */
#include "research/steps.h"

#include "call/errors.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/log.h"
#include "core/redact.h"
#include "proc/scratch.h"
#include "text/text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIME_LONG_MS 120000 /* from then on a progress line is a warning */

struct watching {
    struct call *call;
    const struct worker *worker;
    const struct worker_job *job;
    struct sightings *sightings;
    struct worker_sink sink;
    struct arena *scratch; /* for one line at a time */
    struct buf errors;
    int64_t next_line_ms;  /* of the log */
    int64_t next_sign_ms;  /* of life, for the client */
    int64_t done_since_ms; /* 0: it is not done */
    bool has_begun;        /* it has said something */
};

/* ---- what it writes ---- */

/* Keeps the end of stderr: what went wrong is said last. */
static void keep_errors(struct watching *watching, const char *line, size_t length)
{
    struct buf *errors = &watching->errors;
    length = length < LIMIT_RESEARCH_ERRORS_BYTES / 2 ? length : LIMIT_RESEARCH_ERRORS_BYTES / 2;
    if (errors->length + length + 1 > LIMIT_RESEARCH_ERRORS_BYTES) {
        size_t surplus = errors->length + length + 1 - LIMIT_RESEARCH_ERRORS_BYTES;
        buf_consume(errors, surplus < errors->length ? surplus : errors->length);
    }
    buf_append(errors, line, length);
    buf_putc(errors, '\n');
}

static int lose_server(struct watching *watching)
{
    if (watching->job->reader_trouble && !watching->job->with_firecrawl) {
        return OK; /* it is told already */
    }
    const char *words =
        watching->job->with_firecrawl
            ? "Firecrawl could not take part (its server, or forage's own reader of "
              "pages, did not start); the research went on without it"
            : "forage's own reader of pages did not start (is its path in the "
              "worker's settings right?); the research went on without it";
    if (!watching->sightings->warnings.count) {
        log_warn(call_request_id(watching->call), "%s", words);
    }
    return sightings_add(watching->sightings, &watching->sightings->warnings, words) ? OK
                                                                                     : ERR_NOMEM;
}

/* It may hold the question. Keys go before it is cut: half a key would not be found. */
static void log_errors(const struct watching *watching, const char *line)
{
    struct buf text;
    buf_init(&text, LIMIT_CHILD_OUTPUT_BYTES);
    if (buf_puts(&text, line) == OK) {
        redact_buf(&text, 0, WORDS_OURS);
        log_debug(call_request_id(watching->call), "%s wrote to stderr: %.*s",
                  watching->worker->title,
                  (int)text_prefix(text.data, text.length, LIMIT_ERROR_CHARS), text.data);
    }
    buf_done(&text);
}

static int take_error_line(struct watching *watching, const struct proc_event *event)
{
    keep_errors(watching, event->line, event->length);
    arena_reset(watching->scratch);
    const char *line = arena_strndup(watching->scratch, event->line, event->length);
    if (!line) {
        return ERR_NOMEM;
    }
    if (config_bool("FORAGE_DEBUG")) {
        log_errors(watching, line);
    }
    /* Later on its lines hold words of pages too, which are to decide nothing. */
    const struct worker *worker = watching->worker;
    enum worker_trouble trouble =
        watching->sightings->turns == 0 ? worker_trouble_in(worker, line) : WORKER_NO_TROUBLE;
    if (trouble == WORKER_LOST_SERVER) {
        return lose_server(watching);
    }
    if (trouble == WORKER_LOST_POLICY) {
        return call_fail(watching->call, CODE_CONFIG_ERROR,
                         "%s does not accept its policy and was ended: nothing would keep it from "
                         "files and commands; mend or delete policy.toml in its configuration "
                         "folder, which is then made anew",
                         worker->title);
    }
    return OK;
}

static int take_line(struct watching *watching, const struct proc_event *event)
{
    if (event->stream == PROC_ERRORS) {
        return take_error_line(watching, event);
    }
    watching->has_begun = true;
    arena_reset(watching->scratch);
    int status = worker_feed(watching->worker, watching->scratch, event->line, event->length,
                             &watching->sink);
    if (watching->sightings->is_done && !watching->done_since_ms) {
        watching->done_since_ms = clock_now_ms();
    }
    return status;
}

/* ---- the time that it takes ---- */

static void log_progress(const struct watching *watching, int64_t now)
{
    long long seconds = (long long)(now - call_started_ms(watching->call)) / 1000;
    const char *id = call_request_id(watching->call);
    char topic[256] = "";
    struct text_out out;
    text_start(&out, topic, sizeof topic);
    if (config_bool("FORAGE_DEBUG")) {
        text_put(&out, ", topic: ");
        text_put_quoted(&out, watching->job->question, strlen(watching->job->question), 80);
    }
    if (seconds * 1000 < TIME_LONG_MS) {
        log_info(id, "[INFO] Research in progress... (elapsed: %llds%s)", seconds, topic);
    } else {
        log_warn(id, "[WARN] Research taking longer than expected... (elapsed: %llds%s)", seconds,
                 topic);
    }
}

static void tell_time(struct watching *watching)
{
    int64_t now = clock_now_ms();
    if (now >= watching->next_line_ms) {
        log_progress(watching, now);
        watching->next_line_ms = now + config_duration_ms("FORAGE_RESEARCH_LOG_INTERVAL");
    }
    if (now >= watching->next_sign_ms) {
        progress_say(watching->call, "still working (%lld s, %d rounds, %zu pages read)",
                     (long long)(now - call_started_ms(watching->call)) / 1000,
                     watching->sightings->rounds, watching->sightings->sources.count);
        watching->next_sign_ms = now + TIME_RESEARCH_SIGN_MS;
    }
}

/* When a worker that has said everything is taking too long to leave. */
static int64_t patience_ends_ms(const struct watching *watching)
{
    return watching->done_since_ms ? watching->done_since_ms + TIME_RESEARCH_LEAVE_MS : INT64_MAX;
}

static int64_t time_to_wait(const struct watching *watching)
{
    int64_t next = patience_ends_ms(watching);
    next = watching->next_line_ms < next ? watching->next_line_ms : next;
    next = watching->next_sign_ms < next ? watching->next_sign_ms : next;
    int64_t left = next - clock_now_ms();
    return left > 0 ? left : 0;
}

static int watch(struct watching *watching, struct proc *child, struct run_end *end)
{
    for (;;) {
        struct proc_event event;
        int status = proc_next(watching->call, child, time_to_wait(watching), &event);
        if (status == OK && event.kind == PROC_LINE) {
            status = take_line(watching, &event);
        }
        if (status != OK) {
            return status;
        }
        if (event.kind == PROC_EXIT) {
            end->exit = event.exit;
            return OK;
        }
        if (clock_now_ms() >= patience_ends_ms(watching)) {
            return OK; /* as an exit of 0: we are the ones who end it */
        }
        tell_time(watching);
    }
}

/* ---- from its start to its end ---- */

static int run_in(struct watching *watching, const struct worker_job *job, struct run_end *end)
{
    struct proc *child;
    int status = worker_start(watching->call, watching->worker, job, &child);
    if (status == OK) {
        progress_say(watching->call, "%s works with %s", watching->worker->title, job->model);
        status = watch(watching, child, end);
        if (status != OK && !watching->has_begun) {
            /* It is still loading its code: it would heed SIGTERM only after that, and has nothing
             * to put in order. */
            proc_signal(child, SIGKILL);
        }
        proc_end(child);
    }
    if (watching->errors.length) {
        const char *kept = arena_strdup(call_arena(watching->call), watching->errors.data);
        end->errors = kept ? kept : "";
    }
    return status;
}

int run_worker(struct call *call, const struct worker *worker, const struct worker_job *job,
               struct sightings *sightings, struct run_end *end)
{
    int64_t now = clock_now_ms();
    struct watching watching = {
        .call = call,
        .worker = worker,
        .job = job,
        .sightings = sightings,
        .sink = sightings_sink(sightings),
        .scratch = arena_new(LIMIT_CALL_ARENA_BYTES),
        .next_line_ms = now + config_duration_ms("FORAGE_RESEARCH_LOG_INTERVAL"),
        .next_sign_ms = now + TIME_RESEARCH_SIGN_MS,
    };
    struct worker_job own_job = *job;
    /* A worker that fails writes its whole conversation to a file of its own, the question with it.
     * So it gets a folder for such things that goes when it does. */
    struct proc_scratch temporary = {.lock = -1};
    own_job.temporary = &temporary;
    *end = (struct run_end){.errors = ""};
    buf_init(&watching.errors, LIMIT_RESEARCH_ERRORS_BYTES * 2);
    int status = watching.scratch ? scratch_make(&temporary, NULL, "research", geteuid(), getegid())
                                  : ERR_NOMEM;
    if (status == OK) {
        status = run_in(&watching, &own_job, end);
        scratch_remove(&temporary); /* where it did not start */
    }
    buf_done(&watching.errors);
    arena_free(watching.scratch);
    return status;
}
