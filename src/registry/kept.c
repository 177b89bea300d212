/* The words for where a job stands, and what a client is told that does not wait for its end. */
#include "registry/kept.h"

#include <string.h>

static const char *const WORDS[JOB_STATUSES] = {
    [JOB_WAITING] = "waiting",     [JOB_RUNNING] = "running", [JOB_ASKING] = "asking",
    [JOB_DONE] = "done",           [JOB_FAILED] = "failed",   [JOB_BROKEN] = "broken",
    [JOB_CANCELLED] = "cancelled",
};

const char *job_status_word(enum job_status status)
{
    return WORDS[status];
}

enum job_status job_status_of(const char *word)
{
    int status = 0;
    while (status < JOB_STATUSES && strcmp(WORDS[status], word) != 0) {
        status++;
    }
    return (enum job_status)status;
}

bool job_is_over(enum job_status status)
{
    return status >= JOB_DONE;
}

yyjson_mut_val *job_handle(yyjson_mut_doc *doc, const struct job_view *view)
{
    yyjson_mut_val *handle = yyjson_mut_obj(doc);
    yyjson_val *rounds = yyjson_obj_get(view->state, "rounds");
    yyjson_mut_obj_add_bool(doc, handle, "success", true);
    json_add_string(doc, handle, "job", view->id);
    json_add_string(doc, handle, "status", job_status_word(view->status));
    yyjson_mut_obj_add_sint(doc, handle, "rounds", yyjson_get_sint(rounds));
    if (view->message && *view->message) {
        json_add_string(doc, handle, "doing", view->message);
    }
    if (view->unkept) {
        json_add_string(doc, handle, "warning", view->unkept);
    }
    return handle;
}
