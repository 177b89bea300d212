/* GET /health. Without a token it tells only whether all is well, and what calls wait for; `?full`
 * has the reasons and the stocks, for whoever may call. */
#include "call/errors.h"
#include "core/trouble.h"
#include "ops/activity.h"
#include "rest/http.h"
#include "text/json.h"

#include <string.h>

static yyjson_mut_val *describe(yyjson_mut_doc *doc, const struct program_status *status, bool full)
{
    struct trouble troubles[TROUBLES];
    size_t count = troubles_copy(troubles);
    yyjson_mut_val *body = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, body, "status", count ? "degraded" : "ok");
    yyjson_mut_obj_add_str(doc, body, "name", "forage");
    yyjson_mut_obj_add_str(doc, body, "version", FORAGE_VERSION);
    yyjson_mut_obj_add_real(doc, body, "uptime_s", status_uptime_s(status));
    status_add_waits(status, doc, body);
    if (full) {
        activity_add_troubles(doc, body);
        activity_add_stocks(status, doc, body);
        if (status->add) {
            status->add(status->part, doc, body);
        }
    }
    return body;
}

void serve_health(const struct visit *visit)
{
    struct slice query = exchange_request(visit->exchange)->query;
    bool full = slice_is(query, "full") || slice_is(query, "full=true");
    if (full && visit->signed_out) {
        refuse_token(visit->door, visit->exchange, false);
        return;
    }
    if (full && !check_caller(visit->door, visit->route, visit->exchange)) {
        return;
    }
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    size_t length = 0;
    char *text = NULL;
    if (doc) {
        yyjson_mut_doc_set_root(doc, describe(doc, visit->door->app->parts.status, full));
        text = yyjson_mut_write(doc, 0, &length);
    }
    if (text) {
        respond(visit->exchange, 200, NULL, "application/json", text, length);
    } else {
        respond_error(visit->exchange, CODE_INTERNAL, "out of memory");
    }
    free(text);
    yyjson_mut_doc_free(doc);
}
