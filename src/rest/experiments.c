/* Experiments over REST, for whoever runs the server. */
#include "experiment/experiment.h"

#include "call/errors.h"
#include "call/parts.h"
#include "experiment/describe.h"
#include "ops/records.h"
#include "rest/http.h"

#include <string.h>

#define TIME_EXPERIMENTS_MS 30000 /* for reading all trials */

/* The results of all experiments, or of the one of that name. A status. */
static int describe_all(struct rest_call *rest, struct db *db, const char *name,
                        yyjson_mut_doc *doc, yyjson_mut_val *list)
{
    const struct experiments *experiments = call_parts(rest->call)->experiments;
    const struct experiment *experiment;
    int status = OK;
    for (size_t i = 0; status == OK && (experiment = experiments_at(experiments, i)) != NULL; i++) {
        yyjson_mut_val *result = NULL;
        if (!name || strcmp(experiment->name, name) == 0) {
            status = experiment_result(doc, call_arena(rest->call), experiment, db, &result);
            yyjson_mut_arr_append(list, result);
        }
    }
    return status;
}

/* Without experiments there is nothing to read, and no database to open. */
static int read_all(struct rest_call *rest, const char *name, yyjson_mut_doc *doc,
                    yyjson_mut_val *list)
{
    struct call *call = rest->call;
    char problem[640] = "";
    if (!call_parts(call)->experiments) {
        return OK;
    }
    struct db *db = records_open(call_parts(call)->places, call, problem, sizeof problem);
    int status = db ? describe_all(rest, db, name, doc, list) : ERR_IO;
    if (status == ERR_IO || status == ERR_BUSY || status == ERR_CLOSED) {
        status = call_fail(call, CODE_CONFIG, "the records cannot be read: %s",
                           call_without_paths(call, db ? db_problem(db) : problem, true));
    }
    db_close(db);
    return status;
}

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
    int status = doc && (name || !one) ? read_all(rest, name, doc, list) : ERR_NOMEM;
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
