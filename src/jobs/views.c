/* What somebody who asks for a job sees of it, and its result as it is stored. */
#include "call/errors.h"
#include "core/clock.h"
#include "core/redact.h"
#include "jobs/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- results ---- */

char *result_write(struct call *call, const struct reply *reply)
{
    struct arena *arena = call_arena(call);
    yyjson_mut_doc *doc = reply->doc;
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    const struct call_error *error = call_error(call);
    struct buf text;
    if (reply->structured) {
        yyjson_mut_obj_add_val(doc, result, "structured", reply->structured);
    }
    if (reply->content) {
        yyjson_mut_obj_add_val(doc, result, "content", reply->content);
    }
    yyjson_mut_obj_add_bool(doc, result, "is_error", reply->is_error);
    if (error) {
        yyjson_mut_val *told = yyjson_mut_obj_add_obj(doc, result, "error");
        json_add_string(doc, told, "code", error->code);
        json_add_string(doc, told, "message", error->message);
        yyjson_mut_obj_add_int(doc, told, "retry_after_s", error->retry_after_s);
    }
    buf_init(&text, LIMIT_CALL_ARENA_BYTES);
    int status = json_write(&text, arena, result);
    redact_buf(&text, 0, WORDS_FROM_OUTSIDE); /* it is stored */
    char *copy = status == OK && buf_error(&text) == OK ? strdup(text.data) : NULL;
    buf_done(&text);
    return copy;
}

/* Makes the failure of a job that of the call which asks for it, so that every door words it as it
 * words its own. */
static void fail_as_job(struct call *call, yyjson_val *error)
{
    const char *message = json_string(error, "message");
    call_fail(call, error_code_named(json_string(error, "code")), "%s", message ? message : "");
    call_fail_retry_after(call, yyjson_get_int(yyjson_obj_get(error, "retry_after_s")));
}

int view_reply(struct call *call, const struct job_view *view, const char *result,
               struct reply *reply)
{
    struct arena *arena = call_arena(call);
    struct job_view *copy = arena_alloc(arena, sizeof *copy);
    if (!copy || !reply->doc) {
        return ERR_NOMEM;
    }
    *copy = *view;
    reply->job = copy;
    reply->entry = view->entry;
    if (!result || !job_is_over(view->status)) {
        reply->structured = job_handle(reply->doc, view);
        return OK;
    }
    yyjson_doc *doc = json_parse(arena, result, strlen(result), NULL);
    yyjson_val *root = yyjson_doc_get_root(doc);
    if (!root) {
        return ERR_NOMEM;
    }
    yyjson_val *error = yyjson_obj_get(root, "error");
    reply->structured = json_copy(reply->doc, yyjson_obj_get(root, "structured"));
    reply->content = json_copy(reply->doc, yyjson_obj_get(root, "content"));
    reply->is_error = yyjson_get_bool(yyjson_obj_get(root, "is_error"));
    copy->trouble = json_string(error, "message");
    if (error) {
        fail_as_job(call, error);
    }
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

/* ---- views ---- */

static yyjson_val *parsed(struct arena *arena, const char *text)
{
    yyjson_doc *doc = text ? json_parse(arena, text, strlen(text), NULL) : NULL;
    return yyjson_doc_get_root(doc);
}

/* {key: {method, params}}: what is asked and not answered; with the lock held. */
static const char *asks_of(const struct job *job, struct arena *arena)
{
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *asks = yyjson_mut_obj(doc);
    for (const struct job_ask *ask = job->asks; doc && ask; ask = ask->next) {
        if (!ask->response && ask->key && ask->method && ask->params) {
            yyjson_mut_val *one = yyjson_mut_obj(doc);
            yyjson_mut_obj_add_strcpy(doc, one, "method", ask->method);
            yyjson_mut_obj_add_val(doc, one, "params", json_copy(doc, parsed(arena, ask->params)));
            yyjson_mut_obj_add(asks, yyjson_mut_strcpy(doc, ask->key), one);
        }
    }
    return doc ? json_text(arena, asks, NULL) : NULL;
}

int view_of_job(struct job *job, struct arena *arena, struct job_view *view, const char **result)
{
    pthread_mutex_lock(&job->jobs->lock);
    *view = (struct job_view){
        .id = arena_strdup(arena, job->id),
        .entry = job->entry,
        .tool = job->entry->name,
        .status = job->status,
        .background = job->background,
        .message =
            job->said ? arena_strdup(arena, job->words[(job->said - 1) % JOB_WORDS].message) : "",
        .arguments = parsed(arena, job->arguments),
        .state = parsed(arena, job->state),
        .runs = job->runs,
        .created_ms = job->created_ms,
        .updated_ms = job->updated_ms,
        .expires_ms = job->expires_ms,
        .input_tokens = job->input_tokens,
        .output_tokens = job->output_tokens,
        .nano_usd = job->nano_usd,
        .asks = job->status == JOB_ASKING ? asks_of(job, arena) : NULL,
        .unkept = job->kept ? NULL : arena_strdup(arena, job->unkept),
    };
    *result = job->result ? arena_strdup(arena, job->result) : NULL;
    pthread_mutex_unlock(&job->jobs->lock);
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

int view_of_row(const struct jobs *jobs, const struct job_row *row, struct arena *arena,
                struct job_view *view)
{
    *view = (struct job_view){
        .id = arena_strdup(arena, row->id),
        .entry = registry_tool(jobs->options.registry, row->tool),
        .tool = arena_strdup(arena, row->tool),
        .status = row->status,
        .background = row->background,
        .message = "",
        .arguments = parsed(arena, row->arguments),
        .state = parsed(arena, row->state),
        .runs = row->runs,
        .created_ms = row->created_ms,
        .updated_ms = row->updated_ms,
        .expires_ms = row->expires_ms,
        .input_tokens = row->input_tokens,
        .output_tokens = row->output_tokens,
        .nano_usd = row->nano_usd,
    };
    return arena_failed(arena) ? ERR_NOMEM : OK;
}

/* ---- for people and programs ---- */

static void add_stamp(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key, int64_t ms)
{
    char stamp[CLOCK_STAMP_SIZE];
    yyjson_mut_obj_add_strcpy(doc, object, key, clock_stamp_of(ms, stamp));
}

yyjson_mut_val *jobs_describe(yyjson_mut_doc *doc, const struct job_view *view)
{
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    const char *question = registry_query_of(view->arguments);
    yyjson_val *rounds = yyjson_obj_get(view->state, "rounds");
    json_add_string(doc, object, "job", view->id);
    json_add_string(doc, object, "tool", view->tool);
    json_add_string(doc, object, "question", question);
    json_add_string(doc, object, "status", job_status_word(view->status));
    yyjson_mut_obj_add_sint(doc, object, "rounds", yyjson_get_sint(rounds));
    yyjson_mut_obj_add_bool(doc, object, "background", view->background);
    yyjson_mut_obj_add_uint(doc, object, "runs", view->runs);
    if (*view->message && !job_is_over(view->status)) {
        json_add_string(doc, object, "doing", view->message);
    }
    add_stamp(doc, object, "created_at", view->created_ms);
    add_stamp(doc, object, "updated_at", view->updated_ms);
    add_stamp(doc, object, "expires_at", view->expires_ms);
    yyjson_mut_val *usage = yyjson_mut_obj_add_obj(doc, object, "usage");
    yyjson_mut_obj_add_sint(doc, usage, "input_tokens", view->input_tokens);
    yyjson_mut_obj_add_sint(doc, usage, "output_tokens", view->output_tokens);
    yyjson_mut_obj_add_real(doc, usage, "usd", (double)view->nano_usd / (double)NANO_PER_USD);
    if (view->state) {
        yyjson_mut_obj_add_val(doc, object, "progress", json_copy(doc, view->state));
    }
    if (view->unkept) {
        json_add_string(doc, object, "warning", view->unkept);
    }
    return object;
}
