/* The call. It lives in its own arena: one allocation brings both, one takes them away. */
#include "call/call.h"

#include "call/errors.h"
#include "call/parts.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/id.h"
#include "core/limits.h"
#include "text/text.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_WAITED_FDS 64
#define MOST_SAID       512
#define WORD_SLACK_MS   100 /* so that two calls that watch over one wait do not miss each other */
#define SMALL_STEP      0.001 /* by which progress grows that is only a sign of life */

/* What a call and its pieces used. The last of them frees it. */
struct account {
    atomic_uint references;
    char tool[LIMIT_PROVIDER_CHARS + 1]; /* this and the next never change once pieces run */
    char job[LIMIT_PROVIDER_CHARS + 1];
    pthread_mutex_t lock; /* guards what follows */
    char service[LIMIT_PROVIDER_CHARS + 1];
    char model[LIMIT_PROVIDER_CHARS + 1];
    struct call_usage sum;
};

struct call {
    struct arena *arena;
    struct account *account;
    char request_id[CALL_ID_SIZE];
    const struct caller *caller;
    const struct parts *parts;
    struct journal *journal; /* or NULL */
    const char *session;     /* or NULL, as the next two */
    const char *tried;
    /* What the client was told last, and when; only for the thread that works on the call. */
    char *said; /* MOST_SAID bytes in the arena; NULL before the first words */
    int64_t said_ms;
    int64_t said_first_ms; /* when these words were new */
    double said_done;
    double said_base; /* the last number that was more than a sign of life */
    unsigned small_steps;
    double said_total;
    _Atomic(const char *) waits_for; /* a constant, or NULL */
    _Atomic int64_t waits_since_ms;
    int64_t started_ms;
    int64_t deadline_ms; /* INT64_MAX: none */
    struct call_hooks hooks;
    struct call_error error;
    char provider[LIMIT_PROVIDER_CHARS + 1];
    atomic_int http;
    bool keeping_forbidden;
    bool takes_any_size;
    bool asks_anew;
    bool takes_text;
    bool for_operator;
    bool on_command_line;
    atomic_uint references;
    atomic_bool cancelled;
    pthread_mutex_t cancel_lock; /* guards cancel_event against a cancel while it is made */
    int cancel_event;            /* made by the first wait; -1 before */
};

static const struct parts NO_PARTS;

static struct account *account_of(struct call *whole)
{
    struct account *account = whole ? whole->account : calloc(1, sizeof *account);
    if (whole) {
        atomic_fetch_add(&account->references, 1);
    } else if (account) {
        atomic_init(&account->references, 1);
        pthread_mutex_init(&account->lock, NULL);
    }
    return account;
}

static void account_leave(struct account *account)
{
    if (atomic_fetch_sub(&account->references, 1) == 1) {
        pthread_mutex_destroy(&account->lock);
        free(account);
    }
}

struct call *call_new(const struct call_options *options)
{
    struct arena *arena = arena_new(LIMIT_CALL_ARENA_BYTES);
    struct call *call = arena ? arena_zalloc(arena, sizeof *call) : NULL;
    struct account *account = call ? account_of(options->part_of) : NULL;
    if (!account) {
        arena_free(arena);
        return NULL;
    }
    call->arena = arena;
    call->account = account;
    call->caller = options->caller;
    call->parts = options->parts ? options->parts : &NO_PARTS;
    call->hooks = options->hooks;
    call->takes_any_size = options->takes_any_size;
    call->asks_anew = options->asks_anew;
    call->takes_text = options->takes_text;
    call->for_operator = options->for_operator;
    call->on_command_line = options->on_command_line;
    call->session = options->session ? arena_strdup(arena, options->session) : NULL;
    call->started_ms = clock_now_ms();
    call->said_ms = call->said_first_ms = call->started_ms;
    call->said_done = call->said_base = -1;
    call->deadline_ms = INT64_MAX;
    call->cancel_event = -1;
    atomic_init(&call->references, 1);
    atomic_init(&call->cancelled, false);
    pthread_mutex_init(&call->cancel_lock, NULL);
    if (options->request_id) {
        memcpy(call->request_id, options->request_id,
               strnlen(options->request_id, sizeof call->request_id - 1));
    } else {
        id_make(call->request_id);
    }
    if (options->timeout_ms > 0) {
        call_limit_time(call, options->timeout_ms);
    }
    return call;
}

struct call *call_ref(struct call *call)
{
    atomic_fetch_add(&call->references, 1);
    return call;
}

struct call *call_free(struct call *call)
{
    if (call && atomic_fetch_sub(&call->references, 1) == 1) {
        event_close(call->cancel_event);
        pthread_mutex_destroy(&call->cancel_lock);
        account_leave(call->account);
        arena_free(call->arena);
    }
    return NULL;
}

struct arena *call_arena(struct call *call)
{
    return call->arena;
}

const char *call_request_id(const struct call *call)
{
    return call->request_id;
}

const struct caller *call_caller(const struct call *call)
{
    return call->caller;
}

const char *call_owner(const struct call *call)
{
    return call->caller ? call->caller->name : NULL;
}

const struct parts *call_parts(const struct call *call)
{
    return call->parts;
}

int64_t call_started_ms(const struct call *call)
{
    return call->started_ms;
}

bool call_takes_any_size(const struct call *call)
{
    return call->takes_any_size;
}

bool call_asks_anew(const struct call *call)
{
    return call->asks_anew;
}

bool call_is_for_operator(const struct call *call)
{
    return call->for_operator;
}

bool call_is_on_command_line(const struct call *call)
{
    return call->on_command_line;
}

bool call_takes_text(const struct call *call)
{
    return call->takes_text;
}

const char *call_session(const struct call *call)
{
    return call->session;
}

const char *call_tried(const struct call *call)
{
    return call->tried;
}

int call_try(struct call *call, const char *tried)
{
    call->tried = tried ? arena_strdup(call->arena, tried) : NULL;
    return tried && !call->tried ? ERR_NOMEM : OK;
}

struct journal *call_journal(const struct call *call)
{
    return call->journal;
}

void call_set_journal(struct call *call, struct journal *journal)
{
    call->journal = journal;
}

int64_t call_patience_ms(const struct call *call)
{
    return call->hooks.patience ? call->hooks.patience(call->hooks.context) : -1;
}

void call_limit_time(struct call *call, int64_t timeout_ms)
{
    int64_t deadline = clock_now_ms() + timeout_ms;
    if (deadline < call->deadline_ms) {
        call->deadline_ms = deadline;
    }
}

int64_t call_time_left_ms(const struct call *call)
{
    if (call->deadline_ms == INT64_MAX) {
        return INT64_MAX;
    }
    int64_t left = call->deadline_ms - clock_now_ms();
    return left > 0 ? left : 0;
}

/* ---- waiting ---- */

void call_cancel(struct call *call)
{
    pthread_mutex_lock(&call->cancel_lock);
    atomic_store(&call->cancelled, true);
    if (call->cancel_event >= 0) {
        event_signal(call->cancel_event);
    }
    pthread_mutex_unlock(&call->cancel_lock);
}

bool call_cancelled(const struct call *call)
{
    return atomic_load(&call->cancelled);
}

int call_check(const struct call *call)
{
    if (call_cancelled(call)) {
        return ERR_CANCELLED;
    }
    return call_time_left_ms(call) > 0 ? OK : ERR_DEADLINE;
}

int call_cancel_fd(struct call *call)
{
    pthread_mutex_lock(&call->cancel_lock);
    if (call->cancel_event < 0) {
        call->cancel_event = event_open();
        if (call->cancel_event >= 0 && atomic_load(&call->cancelled)) {
            event_signal(call->cancel_event);
        }
    }
    int event = call->cancel_event;
    pthread_mutex_unlock(&call->cancel_lock);
    return event;
}

/* How long one poll may take: the shorter of the caller's limit and the call's. */
static int poll_time(int64_t own_left, int64_t call_left)
{
    int64_t time = own_left < call_left ? own_left : call_left;
    return time > INT_MAX ? INT_MAX : (int)time;
}

int call_wait(struct call *call, struct pollfd *fds, nfds_t count, int64_t timeout_ms)
{
    struct pollfd watched[MOST_WAITED_FDS + 1];
    int event = call_cancel_fd(call);
    if (event < 0 || count > MOST_WAITED_FDS) {
        return ERR_IO;
    }
    if (count) {
        memcpy(watched, fds, count * sizeof *fds);
    }
    watched[count] = (struct pollfd){.fd = event, .events = POLLIN};
    int64_t end = timeout_ms < 0 ? INT64_MAX : clock_now_ms() + timeout_ms;
    for (;;) {
        int64_t own_left = end == INT64_MAX ? INT64_MAX : end - clock_now_ms();
        if (own_left < 0) {
            own_left = 0;
        }
        int64_t call_left = call_time_left_ms(call);
        int64_t word_left = call_sign_of_life(call);
        int ready = poll(watched, count + 1,
                         poll_time(own_left, call_left < word_left ? call_left : word_left));
        if (ready < 0 && errno != EINTR) {
            return ERR_IO;
        }
        if (call_cancelled(call)) {
            return ERR_CANCELLED;
        }
        if (ready > 0 && count) {
            memcpy(fds, watched, count * sizeof *fds);
            return ready;
        }
        if (call_time_left_ms(call) == 0) {
            return ERR_DEADLINE;
        }
        if (end != INT64_MAX && clock_now_ms() >= end) {
            return 0;
        }
    }
}

int call_sleep(struct call *call, int64_t timeout_ms)
{
    return call_wait(call, NULL, 0, timeout_ms);
}

/* ---- speaking to whoever started it ---- */

/* Writes words for a client, as valid UTF-8. */
__attribute__((format(printf, 3, 0))) static void write_words(char *out, size_t size,
                                                              const char *format, va_list args)
{
    vsnprintf(out, size, format, args);
    text_repair(out);
}

void call_progress(struct call *call, double done, double total, const char *format, ...)
{
    if (!call->hooks.progress) {
        return;
    }
    if (!call->said) {
        call->said = arena_zalloc(call->arena, MOST_SAID);
    }
    if (!call->said) {
        return;
    }
    va_list args;
    va_start(args, format);
    write_words(call->said, MOST_SAID, format, args);
    va_end(args);
    call->said_first_ms = clock_now_ms();
    call->said_total = total;
    /* Protocols pass over a number that does not grow; these words come with the next sign of
     * life. */
    if (done > call->said_done) {
        call->said_done = call->said_base = done;
        call->small_steps = 0;
        call->said_ms = call->said_first_ms;
    }
    call->hooks.progress(call->hooks.context, done, total, call->said);
}

int64_t call_sign_of_life(struct call *call)
{
    char message[MOST_SAID + 64];
    if (!call->hooks.progress) {
        return INT64_MAX;
    }
    int64_t now = clock_now_ms();
    int64_t left = call->said_ms + TIME_PROGRESS_MS - now;
    if (left > WORD_SLACK_MS) {
        return left;
    }
    int64_t since_ms = call->said_first_ms;
    const char *what = call_waits_since(call, &since_ms);
    if (what && now - since_ms < TIME_STUCK_MS) {
        what = NULL; /* it has hardly begun, and will soon be over */
        since_ms = call->said_first_ms;
    }
    int length = snprintf(message, sizeof message, "%s%s", what ? "waiting for " : "",
                          what         ? what
                          : call->said ? call->said
                                       : "working");
    if (!call->hooks.shows_time && length > 0 && (size_t)length < sizeof message) {
        snprintf(message + length, sizeof message - (size_t)length, " (%lld s)",
                 (long long)((now - since_ms) / 1000));
    }
    call->said_base = call->said_base < 0 ? 0 : call->said_base;
    call->said_done = call->said_base + ++call->small_steps * SMALL_STEP;
    call->said_ms = now;
    double total = call->said_done <= call->said_total ? call->said_total : 0;
    call->hooks.progress(call->hooks.context, call->said_done, total, message);
    return TIME_PROGRESS_MS;
}

void call_waits_for(struct call *call, const char *what)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now); /* cheap enough for every row of a database */
    atomic_store(&call->waits_since_ms, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    atomic_store(&call->waits_for, what);
}

const char *call_waits_since(const struct call *call, int64_t *since_ms)
{
    const char *what = atomic_load(&call->waits_for);
    if (what) {
        *since_ms = atomic_load(&call->waits_since_ms);
    }
    return what;
}

void call_log(struct call *call, const char *level, const char *format, ...)
{
    char text[1024];
    if (call->hooks.log) {
        va_list args;
        va_start(args, format);
        write_words(text, sizeof text, format, args);
        va_end(args);
        call->hooks.log(call->hooks.context, level, text);
    }
}

int call_ask(struct call *call, const char *key, const char *method, const char *params_json,
             const char **response_json)
{
    if (!call->hooks.ask) {
        return ERR_UNSUPPORTED;
    }
    return call->hooks.ask(call->hooks.context, call, key, method, params_json, response_json);
}

const char *call_resume_state(struct call *call)
{
    return call->hooks.resume_state ? call->hooks.resume_state(call->hooks.context) : NULL;
}

int call_keep_state(struct call *call, const char *state)
{
    return call->hooks.keep_state ? call->hooks.keep_state(call->hooks.context, state)
                                  : ERR_UNSUPPORTED;
}

bool call_has_capability(struct call *call, const char *name)
{
    return call->hooks.has_capability && call->hooks.has_capability(call->hooks.context, name);
}

/* ---- what it used ---- */

/* A copy of a name, cut between two characters where it is too long. */
static void copy_name(char out[LIMIT_PROVIDER_CHARS + 1], const char *name)
{
    size_t length = strlen(name);
    if (length <= LIMIT_PROVIDER_CHARS) {
        memcpy(out, name, length + 1);
    } else {
        snprintf(out, LIMIT_PROVIDER_CHARS + 1, "%.*s",
                 (int)text_prefix(name, length, LIMIT_PROVIDER_CHARS), name);
    }
}

void call_book_for(struct call *call, const char *tool, const char *job)
{
    copy_name(call->account->tool, tool);
    copy_name(call->account->job, job ? job : "");
}

const char *call_booked_tool(const struct call *call)
{
    return call->account->tool;
}

const char *call_booked_job(const struct call *call)
{
    return call->account->job;
}

/* The name of a sum: the first that was said. */
static const char *first_name(const char *now, char kept[LIMIT_PROVIDER_CHARS + 1],
                              const char *name)
{
    if (!now && name) {
        copy_name(kept, name);
        now = kept;
    }
    return now;
}

/* Counts come from answers of others. */
static void add_count(int64_t *sum, int64_t count)
{
    int64_t more = count < LIMIT_USAGE_COUNT ? count : LIMIT_USAGE_COUNT;
    int64_t all = *sum + (more > -LIMIT_USAGE_COUNT ? more : -LIMIT_USAGE_COUNT);
    *sum = all < 0 ? 0 : all < LIMIT_USAGE_COUNT ? all : LIMIT_USAGE_COUNT;
}

void call_report_usage(struct call *call, const struct call_usage *usage)
{
    struct account *account = call->account;
    struct call_usage *sum = &account->sum;
    pthread_mutex_lock(&account->lock);
    sum->service = first_name(sum->service, account->service, usage->service);
    sum->model = first_name(sum->model, account->model, usage->model);
    add_count(&sum->requests, usage->requests);
    add_count(&sum->input_tokens, usage->input_tokens);
    add_count(&sum->output_tokens, usage->output_tokens);
    add_count(&sum->cached_tokens, usage->cached_tokens);
    add_count(&sum->stored_tokens, usage->stored_tokens);
    add_count(&sum->unpriced, usage->unpriced);
    sum->nano_usd += usage->nano_usd;
    pthread_mutex_unlock(&account->lock);
}

struct call_usage call_usage_change(const struct call_usage *from, const struct call_usage *to)
{
    return (struct call_usage){
        .service = from->service,
        .requests = to->requests - from->requests,
        .model = from->model,
        .input_tokens = to->input_tokens - from->input_tokens,
        .output_tokens = to->output_tokens - from->output_tokens,
        .cached_tokens = to->cached_tokens - from->cached_tokens,
        .stored_tokens = to->stored_tokens - from->stored_tokens,
        .nano_usd = to->nano_usd - from->nano_usd,
        .unpriced = to->unpriced - from->unpriced,
    };
}

struct call_usage call_used(const struct call *call)
{
    pthread_mutex_lock(&call->account->lock);
    struct call_usage sum = call->account->sum;
    pthread_mutex_unlock(&call->account->lock);
    return sum;
}

void call_name_provider(struct call *call, const char *name)
{
    if (name) {
        copy_name(call->provider, name);
    }
}

const char *call_provider(const struct call *call)
{
    return call->provider;
}

void call_note_http(struct call *call, int status)
{
    if (status > 0 || (status < 0 && atomic_load(&call->http) <= 0)) {
        atomic_store(&call->http, status);
    }
}

int call_http(const struct call *call)
{
    return atomic_load(&call->http);
}

void call_forbid_keeping(struct call *call)
{
    call->keeping_forbidden = true;
}

bool call_may_keep(const struct call *call)
{
    return !call->keeping_forbidden;
}

/* ---- failing ---- */

int call_fail(struct call *call, const char *code, const char *format, ...)
{
    if (call->error.code) {
        return ERR_FAILED;
    }
    va_list args;
    va_start(args, format);
    char *message = arena_vprintf(call->arena, format, args);
    va_end(args);
    if (message) {
        text_repair(message);
    }
    call->error.code = code;
    call->error.message = message ? message : "out of memory";
    return ERR_FAILED;
}

void call_fail_details(struct call *call, const char *json)
{
    call->error.details = json ? arena_strdup(call->arena, json) : NULL;
}

void call_fail_retry_after(struct call *call, int seconds)
{
    call->error.retry_after_s = seconds;
}

static const struct {
    int status;
    const char *code;
    const char *message;
} STATUS_ERRORS[] = {
    {ERR_NOMEM, CODE_INTERNAL, "forage ran out of memory for this call; ask for less at once"},
    {ERR_LIMIT, CODE_TOO_LARGE, "the work grew beyond a size limit; ask for less at once"},
    {ERR_CANCELLED, CODE_CANCELLED, "the call was cancelled"},
    {ERR_DEADLINE, CODE_TIMEOUT, "the call ran out of time; try again"},
    {ERR_BUSY, CODE_BUSY, "forage is busy with as many calls as it may run; try again in a moment"},
    {ERR_UNSUPPORTED, CODE_VALIDATION, "the client cannot answer what this tool has to ask"},
};

int call_fail_status(struct call *call, int status)
{
    if (status == OK || status == ERR_NEED_INPUT) {
        return status;
    }
    for (size_t i = 0; i < sizeof STATUS_ERRORS / sizeof *STATUS_ERRORS; i++) {
        if (STATUS_ERRORS[i].status == status) {
            return call_fail(call, STATUS_ERRORS[i].code, "%s", STATUS_ERRORS[i].message);
        }
    }
    return call_fail(call, CODE_INTERNAL, "internal error: %s; the log has the request id %s",
                     status_name(status), call->request_id);
}

const struct call_error *call_error(const struct call *call)
{
    return call->error.code ? &call->error : NULL;
}

void call_take_error(struct call *call, struct call_error *error)
{
    *error = call->error;
    call->error = (struct call_error){0};
}
