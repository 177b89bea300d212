/* The stream of those who watch: what calls come to, what the program does, and research that runs,
 * as server-sent events, each when it has changed. One look a second at most, for as long as
 * somebody watches. */
#include "call/errors.h"
#include "call/parts.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/redact.h"
#include "core/sha256.h"
#include "jobs/jobs.h"
#include "ops/activity.h"
#include "ops/call_overview.h"
#include "ops/records.h"
#include "rest/http.h"
#include "rest/query.h"

#include <stdatomic.h>
#include <string.h>

#define TICK_MS      1000
#define ANEW_MS      5000 /* other processes write to the same records */
#define TIME_LOOK_MS 5000
#define MOST_JOBS    50

/* What is sent, and when it was looked at. */
enum news { OVERVIEW, STATE, JOBS, KINDS };

struct events_watch {
    struct holding place; /* of the door's watchers */
    struct overview_wish wish;
    struct session session; /* of its cookie; without a caller: it came with a token, or none */
    atomic_bool looking;    /* a thread of the pool is at it */
    int64_t looked_ms;      /* when, from here on only for that thread */
    int64_t sent_ms;
    uint64_t calls;                         /* that were counted then */
    unsigned char sent[KINDS][SHA256_SIZE]; /* digests of what the client has */
};

/* ---- sending ---- */

static const char *const NAMES[KINDS] = {"overview", "state", "jobs"};

/* Sends a value, unless the client has it already. */
static void send_news(struct rest_call *rest, struct events_watch *watch, enum news kind,
                      struct arena *arena, yyjson_mut_val *value)
{
    struct buf event;
    struct sha256 sha;
    unsigned char digest[SHA256_SIZE];
    buf_init(&event, MIB(8));
    buf_printf(&event, "event: %s\ndata: ", NAMES[kind]);
    int written = value ? json_write(&event, arena, value) : ERR_NOMEM;
    redact_buf(&event, 0, WORDS_FROM_OUTSIDE);
    buf_puts(&event, "\n\n");
    if (written == OK && buf_error(&event) == OK) {
        sha256_init(&sha);
        sha256_add(&sha, event.data, event.length);
        sha256_end(&sha, digest);
        if (memcmp(digest, watch->sent[kind], sizeof digest) != 0 &&
            exchange_stream_send(rest->exchange, event.data, event.length) == OK) {
            memcpy(watch->sent[kind], digest, sizeof digest);
            watch->sent_ms = clock_now_ms();
        }
    }
    buf_done(&event);
}

/* ---- looking ---- */

static void send_overview(struct rest_call *rest, struct events_watch *watch, struct call *call)
{
    char problem[DB_PROBLEM_SIZE];
    struct arena *arena = call_arena(call);
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *body = NULL;
    struct db *db =
        doc ? records_open(call_parts(call)->places, call, problem, sizeof problem) : NULL;
    watch->wish.now_ms = clock_wall_ms();
    if (watch->session.caller && (!db || watch->session.expires_ms <= watch->wish.now_ms ||
                                  sessions_look(db, &watch->session) != OK)) {
        exchange_stream_end(rest->exchange, NULL, 0); /* whoever signs out watches no longer */
    } else if (db && records_overview(rest->door, db, arena, &watch->wish, doc, &body) == OK) {
        /* The time alone is no news. */
        yyjson_mut_obj_remove_key(body, "until");
        send_news(rest, watch, OVERVIEW, arena, body);
    }
    db_close(db); /* what cannot be read is among the troubles of the state */
}

static void send_state(struct rest_call *rest, struct events_watch *watch, struct call *call)
{
    const struct parts *parts = call_parts(call);
    struct arena *arena = call_arena(call);
    yyjson_mut_doc *doc = json_new(arena);
    bool all = call_caller(call)->is_operator;
    yyjson_mut_val *body =
        doc && all ? activity_describe(parts->status, parts->upstreams, doc) : NULL;
    if (body) {
        send_news(rest, watch, STATE, arena, body);
    }
}

static void send_jobs(struct rest_call *rest, struct events_watch *watch, struct call *call)
{
    yyjson_mut_val *body;
    if (jobs_describe_all(call, MOST_JOBS, &body) == OK) {
        send_news(rest, watch, JOBS, call_arena(call), body);
    }
}

static void look(struct rest_call *rest)
{
    struct events_watch *watch = rest->own;
    struct call *call = call_new(&(struct call_options){.caller = call_caller(rest->call),
                                                        .parts = call_parts(rest->call),
                                                        .timeout_ms = TIME_LOOK_MS});
    int64_t now = clock_now_ms();
    uint64_t calls = activity_calls(call_parts(rest->call)->status);
    if (call) {
        send_state(rest, watch, call);
    }
    if (call && (calls != watch->calls || now - watch->looked_ms >= ANEW_MS)) {
        send_overview(rest, watch, call);
        send_jobs(rest, watch, call);
        watch->calls = calls;
        watch->looked_ms = now;
    }
    if (now - watch->sent_ms >= TIME_SSE_COMMENT_MS) {
        exchange_stream_send(rest->exchange, ": still here\n\n", 14);
        watch->sent_ms = now;
    }
    call_free(call);
    atomic_store(&watch->looking, false);
}

/* On the reactor's thread. A look that finds no thread is left out. */
static void tick(struct exchange *exchange, void *context)
{
    struct rest_call *rest = context;
    struct events_watch *watch = rest->own;
    if (atomic_load(&rest->door->ending)) {
        exchange_stream_end(exchange, NULL, 0);
        return;
    }
    exchange_set_timer(exchange, TICK_MS, tick, rest);
    if (!atomic_exchange(&watch->looking, true) && rest_try_work(rest, look) != OK) {
        atomic_store(&watch->looking, false);
    }
}

static int read_wish(struct rest_call *rest, struct overview_wish *wish)
{
    struct slice query = exchange_request(rest->exchange)->query;
    int status = records_read_caller(rest->call, query, &wish->caller);
    if (status == OK) {
        status = query_text(rest->call, query, "span", &wish->span);
    }
    wish->span = wish->span ? wish->span : "hour";
    return status == OK && !overview_has_span(wish->span)
               ? call_fail(rest->call, CODE_VALIDATION, "span: hour, day or month")
               : status;
}

static void stop_watching(struct rest_call *rest)
{
    struct events_watch *watch = rest->own;
    stock_give_all(&watch->place);
}

/* A place among those who watch, in the name of the caller. */
static int take_place(struct rest_call *rest, struct events_watch *watch)
{
    int status = stock_take(rest->door->watchers, call_owner(rest->call), false, 1, &watch->place);
    if (status == ERR_LIMIT) {
        return call_fail(rest->call, CODE_BUSY,
                         "you watch as often at once as one caller may while others can come; "
                         "close a page of the dashboard");
    }
    return status == ERR_BUSY
               ? call_fail(rest->call, CODE_BUSY, "%d watch already, and no more may at once",
                           LIMIT_WATCHERS)
               : status;
}

void serve_events(const struct visit *visit)
{
    struct buf headers;
    struct rest_call *rest = rest_call_new(visit);
    struct events_watch *watch = rest ? arena_zalloc(call_arena(rest->call), sizeof *watch) : NULL;
    if (!rest) {
        return;
    }
    int status = watch ? read_wish(rest, &watch->wish) : ERR_NOMEM;
    if (status == OK) {
        status = take_place(rest, watch);
    }
    if (status != OK) {
        rest_refuse(rest, status);
        return;
    }
    (void)find_session(visit->door, visit->route, visit->exchange, &watch->session);
    rest->own = watch;
    rest->left = stop_watching;
    answer_headers(&headers, visit->exchange, "text/event-stream", "X-Accel-Buffering: no\r\n");
    if (exchange_stream_start(visit->exchange, 200, headers.data) == OK) {
        tick(visit->exchange, rest);
    }
    buf_done(&headers);
}

/* ---- the same once ---- */

void serve_state(const struct visit *visit)
{
    struct rest_call *rest = rest_call_new(visit);
    if (rest && rest_check_operator(rest, "what the program does")) {
        const struct parts *parts = call_parts(rest->call);
        yyjson_mut_doc *doc = json_new(call_arena(rest->call));
        rest_answer(rest, doc ? activity_describe(parts->status, parts->upstreams, doc) : NULL);
    }
}
