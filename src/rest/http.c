/* The HTTP door: which path leads where, what is checked first, and the server's life from its
 * first connection to its last. */
#include "rest/http.h"
#include "jobs/jobs.h"

#include "call/errors.h"
#include "call/parts.h"
#include "config/config.h"
#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/log.h"
#include "ops/ledger.h"
#include "ops/metrics.h"
#include "ops/status.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>

#define MOST_OPEN_BYTES 4096 /* of a body from somebody without a token */

/* ---- helpers for the routes ---- */

/* The origin was checked when the head came: whoever is still here may read the answer. */
static void add_cors(struct buf *headers, struct exchange *exchange)
{
    struct slice origin = exchange_header(exchange, "Origin", NULL);
    if (origin.data) {
        buf_printf(headers,
                   "Access-Control-Allow-Origin: %.*s\r\nVary: Origin\r\n"
                   "Access-Control-Expose-Headers: Mcp-Session-Id, X-Request-Id, Retry-After\r\n",
                   (int)origin.length, origin.data);
    }
}

void answer_headers(struct buf *lines, struct exchange *exchange, const char *type,
                    const char *more)
{
    buf_init(lines, LIMIT_HTTP_HEAD_BYTES);
    if (type) {
        buf_puts(lines, "Content-Type: ");
        buf_puts(lines, type);
        buf_puts(lines, "\r\nCache-Control: no-store\r\n");
    }
    if (more) {
        buf_puts(lines, more);
    }
    add_cors(lines, exchange);
}

void respond(struct exchange *exchange, int status, const char *headers, const char *type,
             const char *body, size_t length)
{
    struct buf lines;
    answer_headers(&lines, exchange, type, headers);
    pool_work_is_done();
    exchange_respond(exchange, status, lines.data, body, length);
    buf_done(&lines);
}

static void write_error_body(struct buf *body, struct exchange *exchange, const char *code,
                             const char *message)
{
    buf_init(body, KIB(8));
    buf_printf(body,
               "{\"success\":false,\"error\":{\"code\":\"%s\",\"message\":\"%s\","
               "\"request_id\":\"%s\"}}",
               code, message, exchange_id(exchange));
}

void respond_error_status(struct exchange *exchange, int status, const char *headers,
                          const char *code, const char *message)
{
    struct buf body;
    write_error_body(&body, exchange, code, message);
    respond(exchange, status, headers, "application/json", body.data, body.length);
    buf_done(&body);
}

void respond_forbidden(struct exchange *exchange, const char *message)
{
    struct buf body;
    write_error_body(&body, exchange, CODE_FORBIDDEN, message);
    exchange_respond(exchange, error_http_status(CODE_FORBIDDEN),
                     "Content-Type: application/json\r\nCache-Control: no-store\r\n", body.data,
                     body.length);
    buf_done(&body);
}

void respond_error(struct exchange *exchange, const char *code, const char *message)
{
    respond_error_status(exchange, error_http_status(code), NULL, code, message);
}

struct accepted read_accept(const struct exchange *exchange)
{
    struct slice accept = exchange_header(exchange, "Accept", NULL);
    struct accepted accepted = {.json = accept.length == 0};
    const char *end = accept.data + accept.length;
    for (const char *item = accept.data; item < end;) {
        const char *comma = memchr(item, ',', (size_t)(end - item));
        const char *stop = comma ? comma : end;
        const char *semicolon = memchr(item, ';', (size_t)(stop - item));
        struct slice type =
            slice_trim((struct slice){item, (size_t)((semicolon ? semicolon : stop) - item)});
        accepted.events = accepted.events || slice_is_any_case(type, "text/event-stream");
        accepted.json = accepted.json || slice_is_any_case(type, "application/json") ||
                        slice_is(type, "*/*") || slice_is_any_case(type, "application/*");
        item = comma ? comma + 1 : end;
    }
    return accepted;
}

int stream_event(struct exchange *exchange, const char *name, const char *data, size_t length,
                 bool last)
{
    struct buf event;
    buf_init(&event, length + 96);
    buf_printf(&event, "event: %s\ndata: ", name);
    buf_append(&event, data, length);
    buf_puts(&event, "\n\n");
    int status = buf_error(&event);
    if (last) {
        exchange_stream_end(exchange, event.data, status == OK ? event.length : 0);
    } else if (status == OK) {
        status = exchange_stream_send(exchange, event.data, event.length);
    }
    buf_done(&event);
    return status;
}

void stream_comment(struct exchange *exchange, void *context)
{
    if (exchange_stream_send(exchange, ": still here\n\n", 14) == OK) {
        exchange_set_timer(exchange, TIME_SSE_COMMENT_MS, stream_comment, context);
    }
}

/* ---- small routes ---- */

static void serve_metrics(const struct visit *visit)
{
    struct app *app = visit->door->app;
    struct server *server = atomic_load(&visit->door->server);
    struct buf text;
    buf_init(&text, MIB(1));
    metrics_write(&text, app->parts.status, server ? server_connections(server) : 0);
    if (buf_error(&text) == OK) {
        respond(visit->exchange, 200, NULL, "text/plain; version=0.0.4; charset=utf-8", text.data,
                text.length);
    } else {
        respond_error(visit->exchange, CODE_INTERNAL, "out of memory");
    }
    buf_done(&text);
}

/* ---- routing ---- */

/* The first that fits serves, so that a {variable} comes after the names that it could stand for.
 * /health tells next to nothing, so it asks for no token; ?full does. */
const struct route ROUTES[] = {
    {"GET", "/", serve_dashboard, BODY_ANY, .open = true, .page = true, .dashboard = true},
    {"GET", "/dashboard/{file}", serve_dashboard, BODY_ANY, .open = true, .dashboard = true},
    {"GET", "/api/v1/session", serve_session, BODY_ANY, .open = true, .dashboard = true},
    {"POST", "/api/v1/session", serve_session, BODY_JSON, .open = true, .dashboard = true},
    {"DELETE", "/api/v1/session", serve_session, BODY_ANY, .open = true, .dashboard = true},
    {"POST", "/mcp", serve_mcp, BODY_JSON, .programs = true, .operation = NULL},
    {"GET", "/api/v1/tools", serve_tool_list, BODY_ANY, .operation = "list_tools",
     .summary = "The tools that are switched on.", .result = "ToolList"},
    {"GET", "/api/v1/usage", serve_records, BODY_ANY, .operation = "get_usage",
     .summary = "The caller's calls, tokens and money, per day and tool.",
     .parameters = "days caller", .result = "Usage"},
    {"GET", "/api/v1/overview", serve_records, BODY_ANY, .operation = "get_overview",
     .summary = "What calls came to over the last hour, day or month.",
     .parameters = "span caller of_tool provider", .result = "Overview"},
    {"GET", "/api/v1/state", serve_state, BODY_ANY, .operation = "get_state",
     .summary = "What the program does at this moment, for an operator.", .result = "State"},
    {"GET", "/api/v1/events", serve_events, BODY_ANY, .operation = NULL},
    {"GET", "/api/v1/calls", serve_records, BODY_ANY, .operation = "get_calls",
     .summary = "Records of single calls, newest first; never what was asked.",
     .parameters = "calls before from_moment until_moment caller of_tool provider outcome",
     .result = "Calls"},
    {"GET", "/api/v1/history", serve_records, BODY_ANY, .operation = "get_history",
     .summary = "What the caller asked, newest first.",
     .parameters = "calls before from_moment until_moment caller of_tool text",
     .result = "History"},
    {"GET", "/api/v1/history/{id}", serve_records, BODY_ANY, .operation = "get_past_call",
     .summary = "One call of the history, with what came of it.", .parameters = "id caller",
     .result = "PastCall"},
    {"DELETE", "/api/v1/history", serve_records, BODY_ANY, .operation = "wipe_history",
     .summary = "Forgets what the caller asked.", .result = "Wiped"},
    {"GET", "/api/v1/jobs", serve_jobs, BODY_ANY, .operation = "list_jobs",
     .summary = "The caller's research, newest first: what runs and what is kept.",
     .result = "Jobs"},
    {"GET", "/api/v1/jobs/{job}", serve_jobs, BODY_ANY, .operation = "get_job",
     .summary = "Where a research stands, and its result once it is over.",
     .parameters = "job wait", .result = "Job"},
    {"DELETE", "/api/v1/jobs/{job}", serve_jobs, BODY_ANY, .operation = "end_job",
     .summary = "Cancels a research that runs; removes one that is over.", .parameters = "job",
     .result = "JobEnded"},
    {"GET", "/api/v1/setup", serve_setup, BODY_ANY, .operation = "get_setup",
     .summary =
         "Settings in force, callers with a token, and entries for clients; for an operator.",
     .result = "Setup"},
    {"GET", "/api/v1/doctor", serve_setup, BODY_ANY, .operation = "get_doctor",
     .summary = "What works here, what is missing and how to repair it; for an operator.",
     .result = "Doctor"},
    {"GET", "/api/v1/experiments", serve_experiments, BODY_ANY, .operation = "list_experiments",
     .summary = "The experiments that run here, with their results. Only for the operator.",
     .result = "Experiments"},
    {"GET", "/api/v1/experiments/{experiment}", serve_experiments, BODY_ANY,
     .operation = "get_experiment",
     .summary = "One experiment, with its results. Only for the operator.",
     .parameters = "experiment", .result = "Experiment"},
    {"GET", "/api/v1/openapi.json", serve_openapi, BODY_ANY, .operation = "get_openapi",
     .summary = "This description.", .result = "OpenApi"},
    {"GET", "/health", serve_health, BODY_ANY, .open = true, .operation = "get_health",
     .summary = "Whether the server is up and well. Needs no token, but for the whole of it.",
     .parameters = "full", .result = "Health"},
    {"GET", "/metrics", serve_metrics, BODY_ANY, .operation = "get_metrics",
     .summary = "Numbers in Prometheus' text format."},
    {"POST", "/api/v1/tools/{name}", serve_tool_call, BODY_JSON, .streams = true,
     .operation = "tools"},
    {"GET", "/api/v1/memories", serve_memory, BODY_ANY, .tool = "memory_list",
     .operation = "list_memories", .summary = "Lists memories, newest first."},
    {"POST", "/api/v1/memories", serve_memory, BODY_JSON, .tool = "memory_add",
     .operation = "add_memory", .summary = "Adds or replaces a memory."},
    {"GET", "/api/v1/memories/search", serve_memory, BODY_ANY, .tool = "memory_search",
     .operation = "search_memories", .summary = "Finds memories by what they are about."},
    {"GET", "/api/v1/memories/fulltext", serve_memory, BODY_ANY, .tool = "memory_fulltext_search",
     .operation = "search_memory_words", .summary = "Finds memories by the words that they hold."},
    {"POST", "/api/v1/memories/import", serve_memory_import, BODY_LINES, .tool = "memory_add",
     .operation = "import_memories", .summary = "Adds many memories, or none where one is wrong.",
     .parameters = "into format",
     .lines = "One memory on each line, as a JSON object: namespace, key, summary, text, tags, "
              "metadata, session, place, role, created_at, expires_at; or a JSON array of them, or "
              "the file of another program (see format). With namespace, lines of others are left "
              "out, and lines that name none belong to it. At most 64 MiB. The type may also be "
              "application/x-ndjson.",
     .result = "Imported"},
    {"GET", "/api/v1/memories/export", serve_memory_export, BODY_ANY, .tool = "memory_list",
     .operation = "export_memories",
     .summary = "All memories of the caller, or of one namespace, as the import takes them.",
     .lines = "One memory on each line, in the order of namespaces and keys. An export that could "
              "not be completed ends with a line that holds an error."},
    {"GET", "/api/v1/memories/{key}", serve_memory, BODY_ANY, .tool = "memory_get",
     .operation = "get_memory", .summary = "Reads a memory.",
     .without = "keys prefix tags time from until session role limit offset"},
    {"PUT", "/api/v1/memories/{key}", serve_memory, BODY_JSON, .tool = "memory_add",
     .operation = "put_memory", .summary = "Adds the memory of this key, or replaces it."},
    {"PATCH", "/api/v1/memories/{key}", serve_memory, BODY_JSON, .tool = "memory_update",
     .operation = "update_memory", .summary = "Changes parts of a memory."},
    {"DELETE", "/api/v1/memories/{key}", serve_memory, BODY_JSON, .tool = "memory_delete",
     .operation = "delete_memory", .summary = "Deletes a memory.", .without = "keys"},
};

const size_t ROUTE_COUNT = sizeof ROUTES / sizeof *ROUTES;

static bool path_matches(const struct route *route, struct slice path)
{
    size_t fixed = strcspn(route->path, "{");
    return (route->path[fixed] ? path.length > fixed : path.length == fixed) &&
           memcmp(path.data, route->path, fixed) == 0;
}

static bool method_matches(const struct route *route, struct slice method)
{
    return slice_is(method, route->method) ||
           (slice_is(method, "HEAD") && strcmp(route->method, "GET") == 0);
}

/* Where there is no dashboard, nothing of it is there. */
static bool is_served(const struct http_door *door, const struct route *route)
{
    return !route->dashboard || door->sessions;
}

static const struct route *find_route(const struct http_door *door,
                                      const struct http_request *request)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (is_served(door, &ROUTES[i]) && method_matches(&ROUTES[i], request->method) &&
            path_matches(&ROUTES[i], request->path)) {
            return &ROUTES[i];
        }
    }
    return NULL;
}

/* The methods that a path knows; empty when there is no such path. */
static void list_methods(const struct http_door *door, struct slice path, char *allowed,
                         size_t size)
{
    allowed[0] = '\0';
    for (size_t i = 0; i < ROUTE_COUNT; i++) {
        if (is_served(door, &ROUTES[i]) && path_matches(&ROUTES[i], path) &&
            !strstr(allowed, ROUTES[i].method)) {
            size_t length = strlen(allowed);
            snprintf(allowed + length, size - length, "%s%s", length ? ", " : "", ROUTES[i].method);
        }
    }
}

/* A browser asks before it sends: yes, for an origin that passed the check. */
static void serve_preflight(struct exchange *exchange, const char *allowed)
{
    char headers[512];
    snprintf(headers, sizeof headers,
             "Access-Control-Allow-Methods: %s\r\n"
             "Access-Control-Allow-Headers: Authorization, Content-Type, Accept, Mcp-Session-Id, "
             "MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID\r\n"
             "Access-Control-Max-Age: 600\r\n",
             allowed);
    respond(exchange, 204, headers, NULL, "", 0);
}

static void refuse_method(struct exchange *exchange, const char *allowed)
{
    char headers[128];
    snprintf(headers, sizeof headers, "Allow: %s\r\n", allowed);
    respond_error_status(
        exchange, 405, headers, CODE_VALIDATION,
        "this path does not know this method; the Allow header names what it knows");
}

/* No route for this path and method: say so, or answer a browser's question. */
static void answer_unrouted(const struct http_door *door, struct exchange *exchange,
                            const struct http_request *request)
{
    char allowed[64];
    list_methods(door, request->path, allowed, sizeof allowed);
    if (!*allowed) {
        respond_error(
            exchange, CODE_NOT_FOUND,
            "there is nothing here; try /mcp, /api/v1/tools, /api/v1/memories, "
            "/api/v1/jobs, /api/v1/experiments, /api/v1/openapi.json, /health or /metrics");
    } else if (slice_is(request->method, "OPTIONS")) {
        serve_preflight(exchange, allowed);
    } else {
        refuse_method(exchange, allowed);
    }
}

/* Everything that can be refused is refused before the body is read. The exchange holds the
 * caller until the body is there. */
static void on_head(struct exchange *exchange, void *context)
{
    struct http_door *door = context;
    const struct http_request *request = exchange_request(exchange);
    const struct route *route = find_route(door, request);
    if (!check_host_and_origin(door, route, exchange)) {
        return;
    }
    if (!route) {
        answer_unrouted(door, exchange, request);
        return;
    }
    if (route->open && (request->content_length > MOST_OPEN_BYTES || request->content_length < 0)) {
        respond_error_status(exchange, 413, NULL, CODE_TOO_LARGE, "the body is too long");
        return;
    }
    const struct caller *caller =
        route->open ? caller_local() : check_caller(door, route, exchange);
    if (caller && !check_page(door, route, exchange)) {
        return;
    }
    if (route->open) {
        exchange_let_in(
            exchange); /* whoever watches the server must hear from it when it is full */
    } else if (caller && callers_count(door->app->callers) > 0) {
        exchange_set_owner(exchange, caller->name);
    }
    if (route->body == BODY_LINES) {
        exchange_body_in_pieces(exchange);
    }
    bool empty = request->content_length == 0; /* nothing to be of a type */
    if (caller && (empty || check_content_type(exchange, route->body))) {
        /* Nobody writes to it; an exchange just has no other pocket. */
        exchange_set_user(exchange, (void *)(uintptr_t)caller, NULL);
    }
}

static void on_request(struct exchange *exchange, void *context)
{
    struct visit visit = {
        .door = context,
        .exchange = exchange,
        .caller = exchange_user(exchange),
        .route = find_route(context, exchange_request(exchange)),
    };
    serve_visit(&visit);
}

/* ---- the server's life ---- */

/* Answers that are still on their way when the calls are over get a moment to arrive, and a longer
 * one while their clients go on reading. */
static void finish_sending(struct server *server)
{
    static const struct timespec PAUSE = {.tv_nsec = 2 * 1000 * 1000};
    int64_t last = clock_now_ms() + TIME_SHUTDOWN_LAST_MS;
    int64_t end = clock_now_ms() + TIME_SHUTDOWN_SEND_MS;
    size_t seen = server_flushes(server);
    while (server_connections(server) && clock_now_ms() < end) {
        nanosleep(&PAUSE, NULL);
        size_t flushes = server_flushes(server);
        if (flushes != seen) {
            seen = flushes;
            int64_t next = clock_now_ms() + TIME_SHUTDOWN_SEND_MS;
            end = next < last ? next : last;
        }
    }
}

/* Each connection is a descriptor, and the usual limit of 1,024 is below our own. How many there
 * may be: where the system gives fewer descriptors, half of them, since calls need some too. */
static unsigned allow_connections(void)
{
    struct rlimit limit;
    rlim_t wanted = LIMIT_HTTP_CONNECTIONS + LIMIT_OTHER_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
        return LIMIT_HTTP_CONNECTIONS;
    }
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    rlim_t got = setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
    if (got / 2 >= LIMIT_HTTP_CONNECTIONS) {
        return LIMIT_HTTP_CONNECTIONS;
    }
    log_warn(NULL, "only %llu descriptors: at most %llu connections at once, not %d",
             (unsigned long long)got, (unsigned long long)got / 2, LIMIT_HTTP_CONNECTIONS);
    return (unsigned)(got / 2);
}

/* A proxy that the operator named brings the clients of many addresses. */
static bool is_proxy(void *context, const char *peer)
{
    const struct http_door *door = context;
    return proxies_hold(door->app->proxies, peer);
}

static void free_shares(struct http_door *door)
{
    sessions_free(door->sessions);
    stock_free(door->watchers);
    stock_free(door->uploads);
}

int door_http(struct app *app, int signals)
{
    const char *host = config_text("FORAGE_HOST");
    struct http_door door = {.app = app, .host = host, .on_loopback = is_loopback_host(host)};
    char problem[256];
    if (!door.on_loopback && callers_count(app->callers) == 0) {
        log_error(NULL,
                  "%s=%s can be reached from other machines, and there are no tokens: set "
                  "FORAGE_TOKENS=name:token (or FORAGE_TOKENS_FILE), or stay on 127.0.0.1",
                  config_name_used("FORAGE_HOST"), host);
        return 2;
    }
    struct server_options options = {
        .host = host,
        .port = (uint16_t)config_int("FORAGE_PORT"),
        .reactors = (unsigned)config_int("FORAGE_REACTORS"),
        .connections = allow_connections(),
        .stocks = app->parts.stocks,
        .context = &door,
        .is_proxy = is_proxy,
        .head = on_head,
        .request = on_request,
    };
    door.uploads = stock_new(
        app->parts.stocks,
        &(struct stock_rule){.name = "upload_bytes",
                             .help = "bytes of imports that may be in files while they are checked",
                             .all = LIMIT_UPLOADS_BYTES});
    door.watchers = stock_new(
        app->parts.stocks,
        &(struct stock_rule){.name = "watchers",
                             .help = "streams of events, one for each page of the dashboard",
                             .all = LIMIT_WATCHERS});
    bool dashboard = config_bool("FORAGE_DASHBOARD");
    door.sessions = dashboard ? sessions_new(app->callers) : NULL;
    snprintf(problem, sizeof problem, "out of memory");
    struct server *server = door.uploads && door.watchers && (door.sessions || !dashboard)
                                ? server_start(&options, problem, sizeof problem)
                                : NULL;
    if (!server) {
        log_error(NULL, "cannot serve on %s: %s", host, problem);
        free_shares(&door);
        return EXIT_FAILURE;
    }
    atomic_store(&door.server, server);
    log_info(NULL, "forage %s serves http://%s%s%s:%u (MCP at /mcp, REST at /api/v1)",
             FORAGE_VERSION, strchr(host, ':') ? "[" : "", host, strchr(host, ':') ? "]" : "",
             server_port(server));
    if (jobs_serve(app->parts.jobs) != OK) {
        log_warn(NULL, "what other processes left unfinished is not taken up: no thread");
    }
    struct pollfd watched = {.fd = signals, .events = POLLIN};
    while (poll(&watched, 1, -1) <= 0 || !signals_take(signals)) {
    }
    log_info(NULL, "ending: running calls get %d seconds", TIME_SHUTDOWN_GRACE_MS / 1000);
    atomic_store(&door.ending, true);
    server_stop_accepting(server);
    mcp_close_listeners(app->mcp);
    app_finish_calls(app, false, NULL);
    finish_sending(server);
    server_free(server);
    app_end_calls(app); /* steps of exports, which a client could still take */
    free_shares(&door);
    return EXIT_SUCCESS;
}
