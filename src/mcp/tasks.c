/* Tasks: what MCP calls a call that outlives its request, on the jobs that the registry's host
 * keeps. The modern era has them as an extension: a client that names it with a request may get a
 * task in place of a result, and asks for it until the result is inside. In the legacy version
 * 2025-11-25 a client asks for a task with the call, and for its result by a method of its own. To
 * everybody else a job is a result like any other. */
#include "config/budget.h"
#include "core/clock.h"
#include "mcp/internal.h"

#include <string.h>

#define POLL_MS        2000 /* between two looks of a client */
#define CANCEL_WAIT_MS 5000 /* for a job that is cancelled to end */
#define MOST_LISTED    400

/* ---- who knows them ---- */

bool tasks_offered(const struct mcp *mcp)
{
    const struct registry *registry = mcp->options.registry;
    bool some = false;
    for (size_t i = 0; registry->host.run && i < registry->tool_count && !some; i++) {
        some = registry->tools[i].job && registry_is_offered(registry, &registry->tools[i]);
    }
    return some;
}

bool tasks_known(const struct mcp_work *work)
{
    if (!work->modern) {
        return work->version && strcmp(work->version, NEWEST_LEGACY_VERSION) == 0;
    }
    yyjson_val *capabilities = yyjson_obj_get(work->meta, META_CAPABILITIES);
    return yyjson_is_obj(
        yyjson_obj_get(yyjson_obj_get(capabilities, "extensions"), TASKS_EXTENSION));
}

int tasks_refuse(struct mcp_work *work)
{
    yyjson_mut_doc *doc = work->doc;
    yyjson_mut_val *data = yyjson_mut_obj(doc);
    yyjson_mut_val *required = yyjson_mut_obj_add_obj(doc, data, "requiredCapabilities");
    yyjson_mut_val *extensions = yyjson_mut_obj_add_obj(doc, required, "extensions");
    yyjson_mut_obj_add_obj(doc, extensions, TASKS_EXTENSION);
    return answer_error(work, RPC_MISSING_CAPABILITY, data,
                        "this needs a client with the extension \"%s\"", TASKS_EXTENSION);
}

void tasks_add_capability(struct mcp_work *work, yyjson_mut_val *capabilities)
{
    yyjson_mut_doc *doc = work->doc;
    if (!tasks_offered(work->mcp)) {
        return;
    }
    if (work->modern) {
        add_extension(work, capabilities, TASKS_EXTENSION);
    } else if (tasks_known(work)) {
        yyjson_mut_val *tasks = yyjson_mut_obj_add_obj(doc, capabilities, "tasks");
        yyjson_mut_obj_add_obj(doc, tasks, "list");
        yyjson_mut_obj_add_obj(doc, tasks, "cancel");
        yyjson_mut_val *requests = yyjson_mut_obj_add_obj(doc, tasks, "requests");
        yyjson_mut_obj_add_obj(doc, yyjson_mut_obj_add_obj(doc, requests, "tools"), "call");
    }
}

int tasks_read_call(struct mcp_work *work)
{
    bool known = tasks_offered(work->mcp) && tasks_known(work);
    bool asked = yyjson_is_obj(yyjson_obj_get(work->params, "task"));
    work->wants_task = known && work->entry->job && (work->modern || asked);
    if (!work->modern && known && asked && !work->entry->job) {
        return answer_error(work, RPC_METHOD_NOT_FOUND, NULL,
                            "\"%s\" cannot be called as a task; leave params.task out",
                            work->entry->name);
    }
    if (!work->entry->only_job || work->wants_task) {
        return OK;
    }
    return work->modern ? tasks_refuse(work)
                        : answer_error(work, RPC_METHOD_NOT_FOUND, NULL,
                                       "\"%s\" can only be called as a task", work->entry->name);
}

int64_t tasks_patience(void *context)
{
    const struct mcp_work *work = context;
    int64_t known_ms = budget_patience_ms();
    return work->wants_task ? 0 : known_ms ? known_ms : work->progress_token ? INT64_MAX : -1;
}

/* ---- what a client sees of one ---- */

static const char *status_word(const struct mcp_work *work, enum job_status status)
{
    switch (status) {
    case JOB_WAITING:
    case JOB_RUNNING:
        return "working";
    case JOB_ASKING:
        return "input_required";
    case JOB_DONE:
        return "completed";
    case JOB_FAILED:
        return work->modern ? "completed" : "failed";
    case JOB_CANCELLED:
        return "cancelled";
    default:
        return "failed";
    }
}

static void add_stamp(yyjson_mut_doc *doc, yyjson_mut_val *task, const char *key, int64_t ms)
{
    char stamp[CLOCK_STAMP_SIZE];
    yyjson_mut_obj_add_strcpy(doc, task, key, clock_stamp_of(ms, stamp));
}

static void add_task(struct mcp_work *work, yyjson_mut_val *task, const struct job_view *view)
{
    yyjson_mut_doc *doc = work->doc;
    json_add_string(doc, task, "taskId", view->id);
    yyjson_mut_obj_add_str(doc, task, "status", status_word(work, view->status));
    const char *message = view->status == JOB_BROKEN ? view->trouble : view->message;
    if (message && *message) {
        json_add_string(doc, task, "statusMessage", message);
    }
    add_stamp(doc, task, "createdAt", view->created_ms);
    add_stamp(doc, task, "lastUpdatedAt", view->updated_ms);
    yyjson_mut_obj_add_sint(doc, task, work->modern ? "ttlMs" : "ttl",
                            view->expires_ms - view->created_ms);
    yyjson_mut_obj_add_int(doc, task, work->modern ? "pollIntervalMs" : "pollInterval", POLL_MS);
}

void tasks_answer_created(struct mcp_work *work, const struct job_view *view)
{
    yyjson_mut_doc *doc = work->doc;
    struct job_view begun = *view;
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    begun.status = JOB_RUNNING; /* a task begins so, however soon it ends */
    if (work->modern) {
        yyjson_mut_obj_add_str(doc, result, "resultType", "task");
        add_task(work, result, &begun);
    } else {
        add_task(work, yyjson_mut_obj_add_obj(doc, result, "task"), &begun);
    }
    answer_result(work, result);
}

/* ---- asking for one ---- */

/* What is wrong, as the protocol words it: a task of somebody else is one that never was. */
static void answer_failure(struct mcp_work *work, int status)
{
    call_fail_status(work->call, status);
    const struct call_error *error = call_error(work->call);
    bool unknown = strcmp(error->code, "NOT_FOUND") == 0;
    answer_error(work, unknown ? RPC_INVALID_PARAMS : RPC_INTERNAL, NULL, "%s", error->message);
}

/* The task that the request names, after at most so long. False after answering. */
static bool find_task(struct mcp_work *work, int64_t wait_ms, struct reply *reply)
{
    const struct job_host *host = &work->mcp->options.registry->host;
    const char *id = json_string(work->params, "taskId");
    if (!id) {
        answer_error(work, RPC_INVALID_PARAMS, NULL, "params.taskId must be a string");
        return false;
    }
    *reply = (struct reply){.doc = work->doc};
    int status = host->look(host->context, work->call, id, wait_ms, reply);
    if (status != OK) {
        answer_failure(work, status);
    }
    return status == OK;
}

static void add_failure(struct mcp_work *work, yyjson_mut_val *task, const struct job_view *view)
{
    yyjson_mut_val *error = yyjson_mut_obj_add_obj(work->doc, task, "error");
    yyjson_mut_obj_add_int(work->doc, error, "code", RPC_INTERNAL);
    yyjson_mut_obj_add_str(work->doc, error, "message",
                           view->trouble ? view->trouble : "it could not be run to its end");
}

void tasks_get(struct mcp_work *work)
{
    struct reply reply;
    if (!find_task(work, 0, &reply)) {
        return;
    }
    yyjson_mut_val *task = yyjson_mut_obj(work->doc);
    const struct job_view *view = reply.job;
    add_task(work, task, view);
    if (work->modern && view->status == JOB_ASKING && view->asks) {
        yyjson_mut_obj_add_val(work->doc, task, "inputRequests",
                               yyjson_mut_raw(work->doc, view->asks));
    }
    if (work->modern && (view->status == JOB_DONE || view->status == JOB_FAILED)) {
        /* As the call itself would have been answered, and so with its own kind. */
        yyjson_mut_val *result = tool_result(work, &reply);
        yyjson_mut_obj_add_str(work->doc, result, "resultType", "complete");
        yyjson_mut_obj_add_val(work->doc, task, "result", result);
    }
    if (work->modern && view->status == JOB_BROKEN) {
        add_failure(work, task, view);
    }
    answer_result(work, task);
}

/* Legacy alone: waits for the end, and answers as the call would have been answered. */
void tasks_result(struct mcp_work *work)
{
    struct reply reply;
    if (!find_task(work, INT64_MAX, &reply)) {
        return;
    }
    const struct job_view *view = reply.job;
    if (view->status == JOB_BROKEN || !job_is_over(view->status)) {
        answer_error(work, RPC_INTERNAL, NULL, "%s",
                     view->trouble ? view->trouble : "it could not be run to its end");
        return;
    }
    yyjson_mut_val *result = tool_result(work, &reply);
    yyjson_mut_val *meta = yyjson_mut_obj_add_obj(work->doc, result, "_meta");
    yyjson_mut_val *related = yyjson_mut_obj_add_obj(work->doc, meta, META_RELATED_TASK);
    json_add_string(work->doc, related, "taskId", view->id);
    answer_result(work, result);
}

/* ---- all of them, legacy alone ---- */

struct task_listing {
    struct mcp_work *work;
    yyjson_mut_val *items;
};

static void take_task(void *context, const struct job_view *view)
{
    struct task_listing *listing = context;
    yyjson_mut_val *task = yyjson_mut_arr_add_obj(listing->work->doc, listing->items);
    add_task(listing->work, task, view);
}

void tasks_list(struct mcp_work *work)
{
    const struct job_host *host = &work->mcp->options.registry->host;
    struct task_listing listing = {work, yyjson_mut_arr(work->doc)};
    int status = host->list(host->context, work->call, MOST_LISTED, take_task, &listing);
    if (status != OK) {
        answer_failure(work, status);
    } else {
        answer_items(work, "tasks", listing.items);
    }
}

/* ---- changing one ---- */

void tasks_cancel(struct mcp_work *work)
{
    const struct job_host *host = &work->mcp->options.registry->host;
    struct reply reply;
    if (!find_task(work, 0, &reply)) {
        return;
    }
    bool over = job_is_over(reply.job->status);
    if (over && !work->modern) {
        answer_error(work, RPC_INVALID_PARAMS, NULL, "the task is over: it is %s",
                     status_word(work, reply.job->status));
        return;
    }
    int status = over ? OK : host->cancel(host->context, work->call, reply.job->id);
    if (status != OK) {
        answer_failure(work, status);
        return;
    }
    yyjson_mut_val *result = yyjson_mut_obj(work->doc);
    if (!work->modern) {
        if (!find_task(work, CANCEL_WAIT_MS, &reply)) {
            return;
        }
        add_task(work, result, reply.job);
    }
    answer_result(work, result);
}

/* Modern alone: answers to what a task asks. */
void tasks_update(struct mcp_work *work)
{
    const struct job_host *host = &work->mcp->options.registry->host;
    const char *id = json_string(work->params, "taskId");
    yyjson_val *answers = yyjson_obj_get(work->params, "inputResponses");
    if (!id || !yyjson_is_obj(answers)) {
        answer_error(work, RPC_INVALID_PARAMS, NULL,
                     "params.taskId must be a string and params.inputResponses an object");
        return;
    }
    int status = host->answer(host->context, work->call, id, answers);
    if (status != OK) {
        answer_failure(work, status);
    } else {
        answer_result(work, yyjson_mut_obj(work->doc));
    }
}
