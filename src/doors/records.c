/* Usage and history over REST: each caller sees its own and nothing else. Reading waits for the
 * disk, so it has a thread of the pool. */
#include "call/errors.h"
#include "core/limits.h"
#include "doors/http.h"
#include "ops/reports.h"

#include <stdlib.h>
#include <string.h>

#define TIME_READING_MS 10000

struct records_request;
typedef int (*records_answer)(struct records_request *request, struct store *store,
                              yyjson_mut_doc *doc, yyjson_mut_val **body);

struct records_request {
    struct exchange *exchange;
    struct call *call;
    const char *caller;
    records_answer answer;
};

static void free_request(void *context)
{
    struct records_request *request = context;
    call_free(request->call);
    free(request);
}

/* A number of the query string; `preset` where it is not given, and -1 where it is wrong. */
static int64_t read_number(struct slice query, const char *name, int64_t preset, int64_t most)
{
    size_t length = strlen(name);
    const char *at = query.data;
    const char *end = query.data + query.length;
    while (at && at < end) {
        const char *next = memchr(at, '&', (size_t)(end - at));
        const char *stop = next ? next : end;
        if ((size_t)(stop - at) > length && memcmp(at, name, length) == 0 && at[length] == '=') {
            int64_t number = 0;
            at += length + 1;
            for (; at < stop && *at >= '0' && *at <= '9' && number <= most; at++) {
                number = number * 10 + (*at - '0');
            }
            return at == stop && number >= 1 && number <= most ? number : -1;
        }
        at = next ? next + 1 : NULL;
    }
    return preset;
}

static int answer_usage(struct records_request *request, struct store *store, yyjson_mut_doc *doc,
                        yyjson_mut_val **body)
{
    struct slice query = exchange_request(request->exchange)->query;
    int64_t days = read_number(query, "days", 7, REPORT_MOST_DAYS);
    if (days < 0) {
        return call_fail(request->call, CODE_VALIDATION, "days: a number from 1 to %d",
                         REPORT_MOST_DAYS);
    }
    return report_usage(store, request->call, request->caller, days, doc, body);
}

static int answer_history(struct records_request *request, struct store *store, yyjson_mut_doc *doc,
                          yyjson_mut_val **body)
{
    struct slice query = exchange_request(request->exchange)->query;
    int64_t limit = read_number(query, "limit", 20, REPORT_MOST_HISTORY);
    int64_t before = read_number(query, "before", 0, INT64_C(1000000000000000));
    if (limit < 0 || before < 0) {
        return call_fail(request->call, CODE_VALIDATION, "%s",
                         limit < 0 ? "limit: a number from 1 to 1000" : "before: the id of a call");
    }
    return report_history(store, request->call, request->caller, before, limit, doc, body);
}

static int answer_wipe(struct records_request *request, struct store *store, yyjson_mut_doc *doc,
                       yyjson_mut_val **body)
{
    int64_t wiped = 0;
    int status = store->functions->wipe(store, request->call, request->caller, &wiped);
    *body = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_sint(doc, *body, "wiped", wiped);
    return status;
}

static void answer(struct records_request *request)
{
    struct call *call = request->call;
    char problem[640] = "out of memory";
    yyjson_mut_doc *doc = json_new(call_arena(call));
    yyjson_mut_val *body = NULL;
    struct store *store = doc ? store_open(call, problem, sizeof problem) : NULL;
    int status = store ? request->answer(request, store, doc, &body) : ERR_IO;
    if (status == ERR_IO || status == ERR_BUSY || status == ERR_INVALID) {
        call_fail(call, CODE_CONFIG, "the records cannot be read: %s",
                  store ? store->functions->problem(store) : problem);
    }
    if (store) {
        store->functions->close(store);
    }
    if (status == OK) {
        respond_json(request->exchange, call_arena(call), 200, NULL, body);
        return;
    }
    call_fail_status(call, status);
    respond_json(request->exchange, call_arena(call), error_http_status(call_error(call)->code),
                 NULL, registry_error_body(call, doc ? doc : json_new(call_arena(call))));
}

static void run(void *context)
{
    struct records_request *request = context;
    struct exchange *exchange = request->exchange;
    answer(request);
    exchange_free(exchange);
}

static void client_gone(void *context)
{
    struct records_request *request = context;
    call_cancel(request->call);
}

static void serve(struct http_door *door, struct exchange *exchange, const struct caller *caller,
                  records_answer how)
{
    struct call_options options = {.request_id = exchange_id(exchange),
                                   .caller = caller,
                                   .parts = app_parts(door->app),
                                   .timeout_ms = TIME_READING_MS};
    struct records_request *request = calloc(1, sizeof *request);
    struct call *call = request ? call_new(&options) : NULL;
    if (!call) {
        free(request);
        respond_error(exchange, CODE_INTERNAL, "out of memory");
        return;
    }
    *request = (struct records_request){exchange, call, caller->name, how};
    exchange_set_user(exchange, request, free_request);
    exchange_ref(exchange);
    exchange_on_gone(exchange, client_gone, request);
    if (pool_run(app_pool(door->app), call, run, request) != OK) {
        respond_error_status(exchange, 503, "Retry-After: 1\r\n", CODE_BUSY,
                             "forage is busy with as many calls as it may run (FORAGE_WORKERS); "
                             "try again in a moment");
        exchange_free(exchange);
    }
}

void serve_usage(struct http_door *door, struct exchange *exchange, const struct caller *caller)
{
    serve(door, exchange, caller, answer_usage);
}

void serve_history(struct http_door *door, struct exchange *exchange, const struct caller *caller)
{
    serve(door, exchange, caller, answer_history);
}

void serve_history_wipe(struct http_door *door, struct exchange *exchange,
                        const struct caller *caller)
{
    serve(door, exchange, caller, answer_wipe);
}
