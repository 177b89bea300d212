/* The table of metrics, what a trial says of each, and reading a trial off a result: what was
 * found, what was read, what was proved. The members are those that the definitions of tools
 * promise; a result without them says nothing of that metric. */
#include "experiment/measure.h"

#include "call/errors.h"
#include "guard/admission.h"

#include <math.h>
#include <string.h>

const struct metric_about METRIC_TABLE[METRICS] = {
    [METRIC_LATENCY] = {"latency", METRIC_IS_RATIO, false, " ms", 1,
                        "time of calls that did not fail, geometric mean"},
    [METRIC_COST] = {"cost", METRIC_IS_MEAN, false, " USD", 1, "what a call costs"},
    [METRIC_ERRORS] = {"errors", METRIC_IS_RATE, false, " %", 100, "calls that failed"},
    [METRIC_VERIFIED] = {"verified", METRIC_IS_MEAN, true, " %", 100,
                         "claims whose quote is on its page"},
    [METRIC_NOTHING_FOUND] = {"nothing_found", METRIC_IS_RATE, false, " %", 100,
                              "calls that found nothing"},
    [METRIC_REFORMULATION] = {"reformulation", METRIC_IS_RATE, false, " %", 100,
                              "searches that word the one before anew"},
    [METRIC_PAGES] = {"pages", METRIC_IS_MEAN, true, "", 1, "pages that a call reads"},
};

enum metric metric_named(const char *name)
{
    int metric = 0;
    while (metric < METRICS && strcmp(METRIC_TABLE[metric].name, name) != 0) {
        metric++;
    }
    return (enum metric)metric;
}

static double known(int64_t value)
{
    return value == TRIAL_UNKNOWN ? NAN : (double)value;
}

/* What fails is quick, or reads nothing: it must not look like what works well. */
double metric_of(enum metric metric, const struct trial *trial)
{
    switch (metric) {
    case METRIC_LATENCY:
        return trial->failed ? NAN : log((double)(trial->took_us > 0 ? trial->took_us : 1) / 1000);
    case METRIC_COST:
        return (double)trial->nano_usd / (double)NANO_PER_USD;
    case METRIC_ERRORS:
        return trial->failed ? 1 : 0;
    case METRIC_VERIFIED:
        return trial->claims > 0 ? (double)trial->verified / (double)trial->claims : NAN;
    case METRIC_NOTHING_FOUND:
        return known(trial->nothing_found);
    case METRIC_REFORMULATION:
        return known(trial->reformulates);
    case METRIC_PAGES:
        return trial->failed ? NAN : known(trial->pages);
    default:
        return NAN;
    }
}

double metric_shown(enum metric metric, double value)
{
    return METRIC_TABLE[metric].kind == METRIC_IS_RATIO ? exp(value) : value;
}

/* ---- the outcome of a call ---- */

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
