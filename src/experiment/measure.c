/* Reads results: what was found, what was read, what was proved. The members are those that the
 * definitions of tools promise; a result without them says nothing of that metric. */
#include "experiment/measure.h"

#include "call/errors.h"

#include <string.h>

static yyjson_mut_val *member(yyjson_mut_val *object, const char *name)
{
    return yyjson_mut_obj_get(object, name);
}

/* What a search found: pages, or memories. */
static yyjson_mut_val *results_of(yyjson_mut_val *result)
{
    yyjson_mut_val *results = member(result, "results");
    return results ? results : member(member(result, "data"), "results");
}

static bool has_code(const struct call *call, const char *code)
{
    const struct call_error *error = call_error(call);
    return error && strcmp(error->code, code) == 0;
}

static int64_t found_nothing(const struct call *call, const struct outcome *outcome)
{
    yyjson_mut_val *result = outcome->reply->structured;
    yyjson_mut_val *results = results_of(result);
    yyjson_mut_val *citations = member(result, "citations");
    if (outcome->failed) {
        return has_code(call, CODE_NO_EVIDENCE) ? 1 : TRIAL_UNKNOWN;
    }
    if (yyjson_mut_is_arr(results)) {
        return yyjson_mut_arr_size(results) == 0;
    }
    if (yyjson_mut_is_arr(citations)) { /* of a short answer, its sources */
        return yyjson_mut_arr_size(citations) == 0;
    }
    return yyjson_mut_is_obj(citations) ? yyjson_mut_get_sint(member(citations, "claims")) == 0
                                        : TRIAL_UNKNOWN;
}

/* Whether a result, or one of several, holds the text of a page. */
static bool has_page(yyjson_mut_val *item)
{
    return yyjson_mut_get_len(member(item, "page_content")) > 0 &&
           !yyjson_mut_get_bool(member(item, "failed"));
}

static int64_t pages_read(yyjson_mut_val *result)
{
    yyjson_mut_val *results = member(result, "results");
    yyjson_mut_val *visited = member(member(result, "metadata"), "sources_visited");
    size_t index, most;
    yyjson_mut_val *item;
    int64_t count = 0;
    if (yyjson_mut_is_arr(visited)) {
        return (int64_t)yyjson_mut_arr_size(visited);
    }
    if (member(result, "page_content")) {
        return has_page(result);
    }
    yyjson_mut_arr_foreach(results, index, most, item)
    {
        count += has_page(item);
    }
    return yyjson_mut_is_arr(results) ? count : TRIAL_UNKNOWN;
}

void measure_outcome(const struct call *call, const struct outcome *outcome, struct trial *trial)
{
    yyjson_mut_val *result = outcome->reply->structured;
    yyjson_mut_val *citations = member(result, "citations");
    yyjson_mut_val *claims = member(citations, "claims");
    trial->took_us = outcome->took_us;
    trial->failed = outcome->failed;
    trial->claims = claims ? yyjson_mut_get_sint(claims) : TRIAL_UNKNOWN;
    trial->verified = claims ? yyjson_mut_get_sint(member(citations, "exact")) +
                                   yyjson_mut_get_sint(member(citations, "near"))
                             : TRIAL_UNKNOWN;
    trial->nothing_found = found_nothing(call, outcome);
    trial->pages = outcome->failed ? TRIAL_UNKNOWN : pages_read(result);
}
