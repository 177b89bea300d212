/* Experiments over REST, for whoever runs the server. */
#include "call/errors.h"
#include "experiment/results.h"
#include "rest/http.h"

#include <string.h>

#define TIME_EXPERIMENTS_MS 30000 /* for reading all trials */

static void answer_experiments(struct rest_call *rest)
{
    struct call *call = rest->call;
    struct slice path = exchange_request(rest->exchange)->path;
    size_t skip = strcspn(rest->route->path, "{");
    bool one = rest->route->path[skip] != '\0';
    const char *name =
        one ? slice_copy(call_arena(call), (struct slice){path.data + skip, path.length - skip})
            : NULL;
    yyjson_mut_doc *doc = json_new(call_arena(call));
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, body, "experiments");
    int status = doc && (name || !one) ? experiments_add_results(call, name, doc, list) : ERR_NOMEM;
    if (status == OK && one && yyjson_mut_arr_size(list) == 0) {
        status = call_fail(call, CODE_NOT_FOUND,
                           "there is no such experiment; GET /api/v1/experiments names them");
    }
    if (status == OK) {
        rest_answer(rest, one ? yyjson_mut_arr_get_first(list) : body);
    } else {
        rest_refuse(rest, status);
    }
}

void serve_experiments(const struct visit *visit)
{
    struct rest_call *rest = rest_call_new(visit);
    /* What is tried on callers is not theirs to know. */
    if (rest && rest_check_operator(rest, "experiments")) {
        call_limit_time(rest->call, TIME_EXPERIMENTS_MS);
        rest_work(rest, answer_experiments);
    }
}
