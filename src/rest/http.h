/* What the files of the HTTP door share: the door itself, its checks, its routes, and a call over
 * REST. */
#ifndef FORAGE_REST_HTTP_H
#define FORAGE_REST_HTTP_H

#include "app/app.h"
#include "core/buf.h"
#include "guard/admission.h"
#include "guard/ranges.h"
#include "guard/sessions.h"
#include "ops/call_overview.h"
#include "server/server.h"

#include <stdatomic.h>
#include <stdbool.h>

struct http_door {
    struct app *app;
    _Atomic(struct server *) server; /* NULL while it starts */
    struct stock *uploads;           /* bytes of large bodies in files */
    struct sessions *sessions;       /* of the dashboard; NULL: there is none */
    struct stock *watchers;          /* streams of events */
    atomic_bool ending;              /* they end with their next look */
    bool on_loopback;
    const char *host;
};

#define SESSION_COOKIE "forage_session"

/* What a body may be declared as. */
enum body_type {
    BODY_ANY,
    BODY_JSON,
    BODY_LINES, /* of JSON */
};

/* A request that passed the checks, for the function that serves its route. */
struct visit {
    struct http_door *door;
    struct exchange *exchange;
    const struct caller *caller;
    const struct route *route;
    bool signed_out; /* the cookie of its session does not count; only open routes see such a one */
};

/* A path, who serves it, and how the OpenAPI description presents it. Lists are words between
 * spaces. */
struct route {
    const char *method;
    const char *path; /* a {variable} at its end stands for anything below */
    void (*serve)(const struct visit *visit);
    enum body_type body;
    bool open;              /* asks for no token */
    bool page;              /* a file of the dashboard: any site may lead to it */
    bool dashboard;         /* only where there is one */
    bool streams;           /* who takes events hears what the call does */
    bool programs;          /* not for pages: no cookie counts, and they need no token of a page */
    const char *operation;  /* its name in the description; NULL: it is not described */
    const char *summary;    /* the same in a sentence */
    const char *tool;       /* the memory tool whose arguments it takes, or NULL */
    const char *without;    /* the arguments of the tool that it is not described with */
    const char *lines;      /* an import or export: what its lines are; otherwise NULL */
    const char *parameters; /* of openapi.json, besides those of its tool; NULL: none */
    const char *result;     /* the schema of openapi.json for its JSON; NULL: a tool's, or text */
};

/* ---- http.c ---- */

extern const struct route ROUTES[];
extern const size_t ROUTE_COUNT;

/* The headers of an answer with that content type, CORS headers included. */
void answer_headers(struct buf *lines, struct exchange *exchange, const char *type,
                    const char *more);
/* Answers with {success: false, error: {code, message, request_id}} and the status of the code. */
void respond_error(struct exchange *exchange, const char *code, const char *message);
void respond_error_status(struct exchange *exchange, int status, const char *headers,
                          const char *code, const char *message);
/* Answers a request whose Host or Origin is not allowed: without CORS headers, so that the page
 * that sent it cannot read the answer. */
void respond_forbidden(struct exchange *exchange, const char *message);
/* Answers with a document; CORS headers are added. */
void respond(struct exchange *exchange, int status, const char *headers, const char *type,
             const char *body, size_t length);

/* What an Accept header names; its weights and parameters do not matter to us. */
struct accepted {
    bool json;
    bool events;
};
struct accepted read_accept(const struct exchange *exchange);
/* Sends an event of a stream, whose data is one line; with the last one the stream ends. ERR_LIMIT
 * and ERR_CLOSED as of exchange_stream_send(). */
int stream_event(struct exchange *exchange, const char *name, const char *data, size_t length,
                 bool last);
/* The timer of a stream that is silent for long: the client sees that somebody is there. */
void stream_comment(struct exchange *exchange, void *context);

/* ---- checks.c: may this request come in? ---- */

/* Answers and returns false when the Host is not ours, or a page of another site asks. */
bool check_host_and_origin(const struct http_door *door, const struct route *route,
                           struct exchange *exchange);
/* Whether it comes with the cookie of a session, and with no token. Whether that was ended,
 * serve_visit() finds out. */
bool find_session(const struct http_door *door, const struct route *route,
                  const struct exchange *exchange, struct session *session);
/* Whose token or cookie it is; NULL: nobody's. */
const struct caller *find_caller(const struct http_door *door, const struct route *route,
                                 const struct exchange *exchange);
/* The caller, or for an operator the one whom it speaks for; NULL after answering. */
const struct caller *check_caller(const struct http_door *door, const struct route *route,
                                  struct exchange *exchange);
/* Answers 401, where a token (or cookie) is wrong or none was given. */
void refuse_token(const struct http_door *door, struct exchange *exchange, bool given);
/* Answers and returns false when a page in a browser wants to change something in the name of
 * whoever sits before it, and is not our own: a browser sends cookies along with any request, and
 * anybody's requests to this machine. */
bool check_page(const struct http_door *door, const struct route *route, struct exchange *exchange);
/* Answers 415 and returns false when the body is declared as something else. */
bool check_content_type(struct exchange *exchange, enum body_type wanted);
/* Whether that address is this machine's own. */
bool is_loopback_host(const char *host);
/* "name:port" or "[v6]:port" without its port; false when it is neither. */
bool host_without_port(struct slice value, char *host, size_t size);

/* ---- forwarded.c: what the connection says, or a proxy that the operator named ---- */

/* The address of the client: of the connection's other end, or of whom the named proxies speak
 * for. */
void client_address(const struct http_door *door, const struct exchange *exchange,
                    char address[ADDRESS_SIZE]);
/* What tells one conversation of a client from another: the label that it gives it, or else, in
 * `session`, its address and the day. NULL where nobody wants to know. */
#define SESSION_NAME_SIZE (ADDRESS_SIZE + ADMISSION_DAY_SIZE)
const char *session_of(const struct http_door *door, const struct exchange *exchange,
                       const char *label, char session[SESSION_NAME_SIZE]);
/* The name and port by which the client knows this server. */
struct slice host_of(const struct http_door *door, const struct exchange *exchange);
/* "https://forage.example.org": how the client reached us, and the origin of our own pages. */
void write_base_url(struct buf *out, const struct http_door *door, const struct exchange *exchange);

/* ---- rest.c: one call over REST ---- */

/* It belongs to its exchange and is freed with it. */
struct rest_call {
    struct http_door *door;
    struct exchange *exchange;
    const struct route *route;
    struct call *call;
    const struct entry *entry; /* the tool */
    yyjson_val *arguments;     /* NULL: none */
    void (*work)(struct rest_call *rest);
    void (*left)(
        struct rest_call *rest); /* it ends without having been worked off; NULL: nothing */
    void *own;                   /* what the work remembers, in the call's arena */
    bool streams;                /* its answer is the last of several events */
};

/* NULL after answering that there is no memory. */
struct rest_call *rest_call_new(const struct visit *visit);
/* Reads the body as the arguments: an object, or nothing at all. False after answering. */
bool rest_read_body(struct rest_call *rest);
/* Runs the tool with its arguments and answers, here or on a thread of the pool. */
void rest_run(struct rest_call *rest);
/* Lets a thread of the pool do the work, which answers; when the client leaves the call is
 * cancelled. */
void rest_work(struct rest_call *rest, void (*work)(struct rest_call *rest));
/* The same for work that is done in steps, from the reactor's thread: where no thread can be had it
 * answers nothing. A status of pool_run(). */
MUST_CHECK int rest_try_work(struct rest_call *rest, void (*work)(struct rest_call *rest));
/* Whether an operator asks; false after answering that only one sees `what`. */
bool rest_check_operator(struct rest_call *rest, const char *what);
/* Answers with the error that `status` stands for, or with the one that the call already has. */
void rest_refuse(struct rest_call *rest, int status);
/* Answers with a body that lives in the call's arena. */
void rest_answer(struct rest_call *rest, yyjson_mut_val *body);

/* ---- signed_in.c: sessions that were ended ---- */

/* Serves the route; where the request comes with the cookie of a session, as soon as a worker has
 * found in the records that the session was not ended. */
void serve_visit(const struct visit *visit);
/* OK; ERR_NOTFOUND: the session was ended; a status of the database. */
MUST_CHECK int sessions_look(struct db *db, const struct session *session);
/* Ends the session, on every server that shares the records. A status of the database. */
MUST_CHECK int sessions_end(struct rest_call *rest, const struct session *session);

/* ---- records.c ---- */

/* Whose records: the caller's own or, for an operator, those of the one that the query names, or of
 * all ("*"), which is NULL. OK, or ERR_FAILED after call_fail(). */
MUST_CHECK int records_read_caller(struct call *call, struct slice query, const char **caller);
/* What calls came to, what may still be done and spent, and how large the records are. A status. */
MUST_CHECK int records_overview(const struct http_door *door, struct db *db, struct arena *arena,
                                const struct overview_wish *wish, yyjson_mut_doc *doc,
                                yyjson_mut_val **body);

/* ---- what serves the routes ---- */

void serve_health(const struct visit *visit);        /* health.c */
void serve_mcp(const struct visit *visit);           /* mcp_http.c */
void serve_tool_list(const struct visit *visit);     /* rest.c */
void serve_tool_call(const struct visit *visit);     /* rest.c */
void serve_records(const struct visit *visit);       /* records.c */
void serve_memory(const struct visit *visit);        /* memories.c */
void serve_memory_import(const struct visit *visit); /* memories.c */
void serve_memory_export(const struct visit *visit); /* memories.c */
void serve_jobs(const struct visit *visit);          /* jobs.c */
void serve_experiments(const struct visit *visit);   /* experiments.c */
void serve_openapi(const struct visit *visit);       /* openapi.c */
void serve_dashboard(const struct visit *visit);     /* dashboard.c */
void serve_session(const struct visit *visit);       /* dashboard.c */
void serve_events(const struct visit *visit);        /* events.c */
void serve_state(const struct visit *visit);         /* events.c */
void serve_setup(const struct visit *visit);         /* setup.c */

/* MCP at /mcp, REST at /api/v1, /health and /metrics, on FORAGE_HOST and FORAGE_PORT. Serves until
 * it is told to stop: `signals` is a descriptor of core/event.h. An exit code for the program. */
int door_http(struct app *app, int signals);

#endif
