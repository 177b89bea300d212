/* What the records say, over REST: usage, history, single calls, and what they come to over an
 * hour, a day or a month. Each caller sees its own; an operator sees all, or those of one caller.
 */
#include "call/errors.h"
#include "call/parts.h"
#include "core/clock.h"
#include "core/limits.h"
#include "ops/allowances.h"
#include "ops/call_overview.h"
#include "ops/ledger.h"
#include "ops/reports.h"
#include "rest/http.h"
#include "rest/query.h"

#include <string.h>

#define TIME_RECORDS_MS 10000 /* for reading them */

/* One question about the records. */
struct records_request {
    struct rest_call *rest;
    struct call *call;
    struct slice query;
    struct db *db;
    yyjson_mut_doc *doc;
};

/* ---- what is asked for ---- */

int records_read_caller(struct call *call, struct slice query, const char **caller)
{
    const struct caller *self = call_caller(call);
    int status = query_text(call, query, "caller", caller);
    if (status != OK || !*caller) {
        *caller = self->name;
        return status;
    }
    if (!self->is_operator && strcmp(*caller, self->name) != 0) {
        return call_fail(call, CODE_FORBIDDEN, "caller: only an operator sees what others did");
    }
    *caller = strcmp(*caller, "*") == 0 ? NULL : *caller;
    return OK;
}

static int read_caller(const struct records_request *asking, const char **caller)
{
    return records_read_caller(asking->call, asking->query, caller);
}

int records_overview(const struct http_door *door, struct db *db, struct arena *arena,
                     const struct overview_wish *wish, yyjson_mut_doc *doc, yyjson_mut_val **body)
{
    int64_t bytes = 0;
    int status = overview_make(db, arena, wish, doc, body);
    if (status == OK) {
        status = allowances_describe(ledger_rules(door->app->ledger), door->app->registry, db,
                                     wish->caller, doc, *body);
    }
    if (status == OK) {
        status = records_bytes(db, &bytes);
    }
    if (status == OK) {
        yyjson_mut_val *store = yyjson_mut_obj_add_obj(doc, *body, "store");
        yyjson_mut_obj_add_str(doc, store, "engine", db_engine_name(db));
        yyjson_mut_obj_add_sint(doc, store, "bytes", bytes);
    }
    return status;
}

static int read_times(const struct records_request *asking, int64_t *from_ms, int64_t *until_ms)
{
    int status = query_moment(asking->call, asking->query, "from", from_ms);
    return status == OK ? query_moment(asking->call, asking->query, "until", until_ms) : status;
}

/* How many, and older than which. */
static int read_page(const struct records_request *asking, int64_t preset, int64_t *limit,
                     int64_t *before)
{
    *limit = query_number(asking->query, "limit", preset, 1, REPORT_MOST_HISTORY);
    *before = query_number(asking->query, "before", 0, 1, INT64_C(1000000000000000));
    return *limit >= 0 && *before >= 0 ? OK
                                       : call_fail(asking->call, CODE_VALIDATION, "%s",
                                                   *limit < 0 ? "limit: a number from 1 to 1000"
                                                              : "before: the id of a call");
}

/* ---- answers ---- */

static int get_usage(struct records_request *asking, yyjson_mut_val **body)
{
    int64_t days = query_number(asking->query, "days", 7, 1, REPORT_MOST_DAYS);
    const char *caller;
    int status = read_caller(asking, &caller);
    if (status == OK && days < 0) {
        status = call_fail(asking->call, CODE_VALIDATION, "days: a number from 1 to %d",
                           REPORT_MOST_DAYS);
    }
    return status == OK ? report_usage(asking->db, caller, days, asking->doc, body) : status;
}

static int get_history(struct records_request *asking, yyjson_mut_val **body)
{
    struct record_filter filter = {0};
    int status = read_caller(asking, &filter.caller);
    if (status == OK) {
        status = read_page(asking, 20, &filter.limit, &filter.before);
    }
    if (status == OK) {
        status = read_times(asking, &filter.from_ms, &filter.until_ms);
    }
    if (status == OK) {
        status = query_text(asking->call, asking->query, "tool", &filter.tool);
    }
    if (status == OK) {
        status = query_text(asking->call, asking->query, "text", &filter.text);
    }
    return status == OK
               ? report_history(asking->db, call_arena(asking->call), &filter, asking->doc, body)
               : status;
}

static int get_past_call(struct records_request *asking, yyjson_mut_val **body)
{
    struct slice path = exchange_request(asking->rest->exchange)->path;
    size_t skip = strcspn(asking->rest->route->path, "{");
    const char *caller;
    int64_t id = query_digits((struct slice){path.data + skip, path.length - skip}, 1,
                              INT64_C(1000000000000000));
    int status = read_caller(asking, &caller);
    if (status == OK) {
        status = id < 0 ? ERR_NOTFOUND
                        : report_past_call(asking->db, call_arena(asking->call), caller, id,
                                           asking->doc, body);
    }
    return status == ERR_NOTFOUND
               ? call_fail(asking->call, CODE_NOT_FOUND, "there is no such call in the history")
               : status;
}

static int wipe_history(struct records_request *asking, yyjson_mut_val **body)
{
    int64_t wiped = 0;
    const char *caller = call_caller(asking->call)->name;
    ledger_forget(asking->rest->door->app->ledger, caller);
    int status = records_wipe(asking->db, caller, &wiped);
    *body = yyjson_mut_obj(asking->doc);
    yyjson_mut_obj_add_sint(asking->doc, *body, "wiped", wiped);
    return status;
}

static int get_calls(struct records_request *asking, yyjson_mut_val **body)
{
    struct call_filter filter = {0};
    const struct {
        const char *name;
        const char **text;
    } TEXTS[] = {
        {"tool", &filter.tool}, {"provider", &filter.provider}, {"outcome", &filter.outcome}};
    int status = read_caller(asking, &filter.caller);
    if (status == OK) {
        status = read_page(asking, 100, &filter.limit, &filter.before);
    }
    if (status == OK) {
        status = read_times(asking, &filter.from_ms, &filter.until_ms);
    }
    for (size_t i = 0; status == OK && i < sizeof TEXTS / sizeof *TEXTS; i++) {
        status = query_text(asking->call, asking->query, TEXTS[i].name, TEXTS[i].text);
    }
    return status == OK ? report_calls(asking->db, &filter, asking->doc, body) : status;
}

static int get_overview(struct records_request *asking, yyjson_mut_val **body)
{
    struct overview_wish wish = {.now_ms = clock_wall_ms()};
    const struct {
        const char *name;
        const char **text;
    } TEXTS[] = {{"span", &wish.span}, {"tool", &wish.tool}, {"provider", &wish.provider}};
    int status = read_caller(asking, &wish.caller);
    for (size_t i = 0; status == OK && i < sizeof TEXTS / sizeof *TEXTS; i++) {
        status = query_text(asking->call, asking->query, TEXTS[i].name, TEXTS[i].text);
    }
    wish.span = wish.span ? wish.span : "hour";
    if (status == OK && !overview_has_span(wish.span)) {
        status = call_fail(asking->call, CODE_VALIDATION, "span: hour, day or month");
    }
    return status == OK ? records_overview(asking->rest->door, asking->db, call_arena(asking->call),
                                           &wish, asking->doc, body)
                        : status;
}

static const struct {
    const char *operation; /* of the route */
    int (*answer)(struct records_request *asking, yyjson_mut_val **body);
} ANSWERS[] = {
    {"get_usage", get_usage},       {"get_history", get_history}, {"get_past_call", get_past_call},
    {"wipe_history", wipe_history}, {"get_calls", get_calls},     {"get_overview", get_overview},
};

static void answer_records(struct rest_call *rest)
{
    struct call *call = rest->call;
    char problem[640] = "out of memory";
    yyjson_mut_val *body = NULL;
    struct records_request asking = {.rest = rest,
                                     .call = call,
                                     .query = exchange_request(rest->exchange)->query,
                                     .doc = json_new(call_arena(call))};
    call_waits_for(call, "the records of usage and limits");
    asking.db =
        asking.doc ? records_open(call_parts(call)->places, call, problem, sizeof problem) : NULL;
    int status = ERR_IO;
    for (size_t i = 0; asking.db && i < sizeof ANSWERS / sizeof *ANSWERS; i++) {
        if (strcmp(rest->route->operation, ANSWERS[i].operation) == 0) {
            status = ANSWERS[i].answer(&asking, &body);
        }
    }
    if (status == ERR_IO || status == ERR_BUSY || status == ERR_INVALID) {
        call_fail(call, CODE_CONFIG, "the records cannot be read: %s",
                  call_without_paths(call, asking.db ? db_problem(asking.db) : problem, true));
    }
    db_close(asking.db);
    if (status == OK) {
        rest_answer(rest, body);
    } else {
        rest_refuse(rest, status);
    }
}

/* Reading waits for the disk, so it has a thread of the pool. */
void serve_records(const struct visit *visit)
{
    struct rest_call *rest = rest_call_new(visit);
    if (rest) {
        call_limit_time(rest->call, TIME_RECORDS_MS);
        rest_work(rest, answer_records);
    }
}
