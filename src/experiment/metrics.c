/* The table of metrics, and reading them off a trial. */
#include "experiment/metrics.h"

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
