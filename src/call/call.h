/* A call: one piece of work that somebody asked for, from the moment a door understood it to the
 * moment its answer is on its way. It carries what every layer below needs: an arena, a deadline, a
 * way to be cancelled, a way to report progress, who is asking, and a request id for the logs.
 *
 * One thread works on a call; any thread may cancel it. Everything that waits - a transfer, a
 * child, a sleep, a name look-up - waits in call_wait(), which also watches the deadline and the
 * cancellation, so that a cancelled call is over within milliseconds wherever it is. */
#ifndef FORAGE_CALL_CALL_H
#define FORAGE_CALL_CALL_H

#include "core/arena.h"
#include "core/status.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#define CALL_ID_SIZE 20

struct call;
struct journal; /* call/journal.h */
struct parts;   /* call/parts.h */

/* Who asks. guard/callers.h tells callers from each other; there is one of each. */
struct caller {
    const char *name;
    bool is_operator; /* sees what all callers do, and what the program is set to */
};

/* What a failed call tells its caller: a stable code, what happened and what to do about it. */
struct call_error {
    const char *code;    /* one of call/errors.h */
    const char *message; /* in the call's arena */
    const char *details; /* JSON text in the call's arena, or NULL */
    int retry_after_s;   /* 0: not said */
};

/* How a call reaches back to whoever started it. Every member may be NULL. */
struct call_hooks {
    void *context;
    /* "reading example.org", with how much is done of how much (total 0: unknown). */
    void (*progress)(void *context, double done, double total, const char *message);
    bool shows_time; /* whoever shows progress counts the seconds, so that no message has to */
    /* A line for the client's log, where a client asked for it. */
    void (*log)(void *context, const char *level, const char *text);
    /* See call_ask(). */
    int (*ask)(void *context, struct call *call, const char *key, const char *method,
               const char *params_json, const char **response_json);
    /* See call_resume_state() and call_keep_state(). */
    const char *(*resume_state)(void *context);
    int (*keep_state)(void *context, const char *state);
    /* See call_has_capability(). */
    bool (*has_capability)(void *context, const char *name);
    /* See call_patience_ms(). */
    int64_t (*patience)(void *context);
};

struct call_options {
    const char *request_id; /* NULL: one is made */
    struct call *part_of;   /* whose account it shares, as a piece of that call; NULL: its own */
    const struct caller *caller;
    const struct parts *parts; /* of the program that it runs in, which outlive it; NULL: none */
    const char *session;       /* see call_session(); copied */
    int64_t timeout_ms;        /* 0: none */
    bool takes_any_size;       /* see call_takes_any_size() */
    bool asks_anew;            /* see call_asks_anew() */
    bool takes_text;           /* see call_takes_text() */
    bool for_operator;         /* see call_is_for_operator() */
    bool on_command_line;      /* see call_is_on_command_line() */
    struct call_hooks hooks;
};

/* NULL when there is no memory. The call is shared by counting: call_free drops one reference. */
struct call *call_new(const struct call_options *options);
struct call *call_ref(struct call *call);
struct call *call_free(struct call *call);

struct arena *call_arena(struct call *call);
const char *call_request_id(const struct call *call);
const struct caller *call_caller(const struct call *call);
/* In whose name the call takes its share of what callers share (core/stock.h): its caller's; NULL
 * where forage itself asks. */
const char *call_owner(const struct call *call);
const struct parts *call_parts(const struct call *call);
int64_t call_started_ms(const struct call *call);
/* Whether the result goes to somebody who takes it whole, however long: a person, not a model. */
bool call_takes_any_size(const struct call *call);
/* Whether an answer that was kept from an earlier call will not do. */
bool call_asks_anew(const struct call *call);
/* Whether a long text in the result goes out as it is, and not escaped inside JSON: more fits. */
bool call_takes_text(const struct call *call);
/* Whether whoever runs forage asks, over stdio or on the command line, and may know its machine. */
bool call_is_for_operator(const struct call *call);
/* Whether a person asks on the command line, who has no other server to ask. */
bool call_is_on_command_line(const struct call *call);
/* What tells one conversation of its caller from others; NULL where nobody said so. */
const char *call_session(const struct call *call);
/* What is tried with it (registry/trying.h), in words between blanks; NULL: nothing. */
const char *call_tried(const struct call *call);
/* Tries something with it, before it is worked on; `tried` is copied. OK or ERR_NOMEM. */
MUST_CHECK int call_try(struct call *call, const char *tried);
/* What it did in earlier runs; NULL: it is not kept. */
struct journal *call_journal(const struct call *call);
void call_set_journal(struct call *call, struct journal *journal);
/* How long whoever started it waits for a result that can be asked for later too: INT64_MAX for as
 * long as it takes, 0 for not at all, negative where nobody knows. */
int64_t call_patience_ms(const struct call *call);
/* Shortens the deadline to `timeout_ms` from now; it is never extended. */
void call_limit_time(struct call *call, int64_t timeout_ms);
/* Milliseconds until the deadline, never negative; INT64_MAX without one. */
int64_t call_time_left_ms(const struct call *call);

/* ---- waiting ---- */

/* Ends the call early. May be called by any thread, more than once. */
void call_cancel(struct call *call);
bool call_cancelled(const struct call *call);
/* OK, ERR_CANCELLED or ERR_DEADLINE; for loops that compute. */
MUST_CHECK int call_check(const struct call *call);
/* Waits until one of `fds` is ready, `timeout_ms` passes (negative: no limit of its own), the
 * deadline comes or the call is cancelled. The number of ready descriptors, 0 when timeout_ms
 * passed, ERR_CANCELLED, ERR_DEADLINE or ERR_IO. */
MUST_CHECK int call_wait(struct call *call, struct pollfd *fds, nfds_t count, int64_t timeout_ms);
/* OK after the whole time; ERR_CANCELLED or ERR_DEADLINE. */
MUST_CHECK int call_sleep(struct call *call, int64_t timeout_ms);
/* A descriptor that becomes readable when the call is cancelled, for libraries that do their own
 * polling (curl_multi_poll): bound that wait by call_time_left_ms(). Owned by the call. Negative on
 * failure. */
int call_cancel_fd(struct call *call);

/* ---- speaking to whoever started it ---- */

void call_progress(struct call *call, double done, double total, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Tells the client what the call does or waits for, and for how long already, where it has heard
 * nothing for TIME_PROGRESS_MS. The milliseconds until the next time; INT64_MAX where nobody
 * listens. call_wait() does so; libraries that do their own polling need it. */
int64_t call_sign_of_life(struct call *call);
/* From here on the call waits for that part of the server, such as "the memory store": a constant,
 * which everybody who asks for the server's status may read. NULL: for none of them. */
void call_waits_for(struct call *call, const char *what);
/* What that was, with the time of the monotonic clock in `since_ms`; NULL, and `since_ms` as it
 * was, where the call waits for nothing. Any thread may ask. */
const char *call_waits_since(const struct call *call, int64_t *since_ms);
void call_log(struct call *call, const char *level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Asks the client something (method elicitation/create, sampling/createMessage or roots/list). OK
 * with the client's result as JSON text; ERR_NEED_INPUT when the client has to call again with the
 * answer (the handler returns that at once, after asking everything it wants to know);
 * ERR_UNSUPPORTED when nobody can answer; otherwise a status as of call_wait. `key` tells one
 * question of a handler from another. */
MUST_CHECK int call_ask(struct call *call, const char *key, const char *method,
                        const char *params_json, const char **response_json);
/* State that a handler which returned ERR_NEED_INPUT left for its next round, or NULL. It travels
 * through the client, sealed against change but readable: no secrets. */
const char *call_resume_state(struct call *call);
MUST_CHECK int call_keep_state(struct call *call, const char *state);
/* Whether the client declared a capability ("sampling", "elicitation", "roots"). */
bool call_has_capability(struct call *call, const char *name);

/* ---- what it used ---- */

/* What was used of services that cost money. Names are those of data/prices.json. */
struct call_usage {
    const char *service; /* what is paid by the request ("openai_web_search"), or NULL */
    int64_t requests;
    const char *model;     /* what is paid by the token ("gpt-5-nano"), or NULL */
    int64_t input_tokens;  /* the next but one and the one after it included */
    int64_t output_tokens; /* reasoning included */
    int64_t cached_tokens; /* read from the service's cache of prompts */
    int64_t stored_tokens; /* written to it, where that has a price of its own */
    int64_t nano_usd;      /* what all that costs, in billionths of a dollar */
    int64_t unpriced;      /* requests whose price is not known */
};

/* For which tool, and which job (NULL: none), the call's requests are booked; both are copied.
 * Before the call does anything. */
void call_book_for(struct call *call, const char *tool, const char *job);
/* "" where nobody said so. */
const char *call_booked_tool(const struct call *call);
const char *call_booked_job(const struct call *call);
/* Adds to the account of the call, which its pieces share: less than nothing too, where an estimate
 * was too high. Any thread may, also when the call is over. The names are copied. */
void call_report_usage(struct call *call, const struct call_usage *usage);
/* What has to be added to `from` for `to`, under the names of `from`. */
struct call_usage call_usage_change(const struct call_usage *from, const struct call_usage *to);
/* The sums, with the names of the first service and model; NULL: there were none. */
struct call_usage call_used(const struct call *call);
/* Names whom it asks outside, for its record; the last name counts, and is copied. NULL: nothing is
 * said. */
void call_name_provider(struct call *call, const char *name);
/* "" where nobody was named. */
const char *call_provider(const struct call *call);
/* Notes the HTTP status of an answer from outside, for the log; that of a page is negative, and
 * never takes the place of a service's. 0: none came. */
void call_note_http(struct call *call, int status);
/* The last one noted. */
MUST_CHECK int call_http(const struct call *call);
/* The result must not be given again to the same question, as it otherwise may (definitions with
 * "cached"). */
void call_forbid_keeping(struct call *call);
bool call_may_keep(const struct call *call);

/* ---- failing ---- */

/* Sets the error and returns ERR_FAILED. The first error stays. */
int call_fail(struct call *call, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What something of this machine said, for the words of an error: for the operator as it is, for
 * others with "[path]" in place of each absolute path, and then the whole is in the log, unless it
 * may hold private words. In the call's arena. */
const char *call_without_paths(struct call *call, const char *text, bool may_log);
/* Adds details as JSON text, copied; NULL: there are none. */
void call_fail_details(struct call *call, const char *json);
void call_fail_retry_after(struct call *call, int seconds);
/* Turns a status into the call's error where none is set (ERR_CANCELLED becomes CANCELLED and so
 * on), and returns ERR_FAILED; OK and ERR_NEED_INPUT are returned as they are. */
int call_fail_status(struct call *call, int status);
const struct call_error *call_error(const struct call *call); /* NULL: none */
/* Takes the error back, for whoever goes on after a step that failed; it is in `error`, if there
 * was one. */
void call_take_error(struct call *call, struct call_error *error);

#endif
