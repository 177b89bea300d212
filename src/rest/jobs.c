/* Jobs over REST: a caller's own, each with a path. */
#include "jobs/jobs.h"

#include "call/errors.h"
#include "core/limits.h"
#include "rest/http.h"
#include "rest/query.h"

#include <string.h>

#define MOST_WAIT_S   3600
#define MOST_LISTED   300
#define TIME_STORE_MS 10000 /* beside waiting for a job */

/* ---- all of them ---- */

static void list_jobs(struct rest_call *rest)
{
    yyjson_mut_val *body;
    int status = jobs_describe_all(rest->call, MOST_LISTED, &body);
    if (status == OK) {
        rest_answer(rest, body);
    } else {
        rest_refuse(rest, status);
    }
}

/* ---- one of them ---- */

/* The id behind the fixed part of the path; NULL without memory. */
static const char *id_of(struct rest_call *rest)
{
    struct slice path = exchange_request(rest->exchange)->path;
    size_t skip = strcspn(rest->route->path, "{");
    return slice_copy(call_arena(rest->call), (struct slice){path.data + skip, path.length - skip});
}

/* A job that failed is found all the same: its failure is its result, and not that of the request.
 */
static void get_job(struct rest_call *rest)
{
    struct call *call = rest->call;
    struct call_error error;
    struct slice query = exchange_request(rest->exchange)->query;
    int64_t wait = query_number(query, "wait", 0, 0, MOST_WAIT_S);
    const char *id = id_of(rest);
    struct reply reply = {.doc = json_new(call_arena(call))};
    if (wait < 0) {
        rest_refuse(rest, call_fail(call, CODE_VALIDATION, "wait: a number of seconds from 0 to %d",
                                    MOST_WAIT_S));
        return;
    }
    call_limit_time(call, wait * 1000 + TIME_STORE_MS);
    int status = id && reply.doc ? jobs_look(call, id, wait * 1000, &reply) : ERR_NOMEM;
    if (status != OK) {
        rest_refuse(rest, status);
        return;
    }
    call_take_error(call, &error);
    yyjson_mut_val *body = jobs_describe(reply.doc, reply.job);
    if (job_is_over(reply.job->status) && reply.structured) {
        yyjson_mut_obj_add_val(reply.doc, body, "result", reply.structured);
    }
    rest_answer(rest, body);
}

static void end_job(struct rest_call *rest)
{
    const char *id = id_of(rest);
    yyjson_mut_doc *doc = json_new(call_arena(rest->call));
    bool removed = false;
    call_limit_time(rest->call, TIME_STORE_MS);
    int status = id && doc ? jobs_end(rest->call, id, &removed) : ERR_NOMEM;
    if (status != OK) {
        rest_refuse(rest, status);
        return;
    }
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    json_add_string(doc, body, "job", id);
    yyjson_mut_obj_add_str(doc, body, "ended", removed ? "removed" : "cancelled");
    rest_answer(rest, body);
}

void serve_jobs(const struct visit *visit)
{
    static const struct {
        const char *operation; /* of the route */
        void (*work)(struct rest_call *rest);
    } OPERATIONS[] = {{"list_jobs", list_jobs}, {"get_job", get_job}, {"end_job", end_job}};
    struct rest_call *rest = rest_call_new(visit);
    for (size_t i = 0; rest && i < sizeof OPERATIONS / sizeof *OPERATIONS; i++) {
        if (strcmp(OPERATIONS[i].operation, visit->route->operation) == 0) {
            rest_work(rest, OPERATIONS[i].work);
            return;
        }
    }
}
