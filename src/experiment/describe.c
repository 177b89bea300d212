/* Describes experiments and what was found. */
#include "experiment/describe.h"

#include "core/clock.h"
#include "experiment/gather.h"
#include "text/text.h"

#include <math.h>
#include <string.h>

/* ---- what it is ---- */

static void add_arm(yyjson_mut_doc *doc, yyjson_mut_val *list, const struct experiment_arm *arm)
{
    yyjson_mut_val *item = yyjson_mut_arr_add_obj(doc, list);
    json_add_string(doc, item, "arm", arm->name);
    if (arm->arguments) {
        yyjson_mut_obj_add_val(doc, item, "arguments", json_share(doc, arm->arguments));
    }
}

yyjson_mut_val *experiment_describe(yyjson_mut_doc *doc, const struct experiment *experiment)
{
    yyjson_mut_val *result = yyjson_mut_obj(doc);
    json_add_string(doc, result, "name", experiment->name);
    json_add_string(doc, result, "about", experiment->about);
    json_add_strings(doc, result, "tool", experiment->tools, experiment->tool_count);
    json_add_string(doc, result, "unit", UNIT_NAMES[experiment->unit]);
    yyjson_mut_obj_add_real(doc, result, "share", experiment->share);
    json_add_string(doc, result, "metric", METRIC_TABLE[experiment->metric].name);
    json_add_string(doc, result, "better", experiment->higher ? "higher" : "lower");
    yyjson_mut_obj_add_uint(doc, result, "sample", experiment->sample);
    json_add_string(doc, result, "until", experiment->until);
    json_add_string(doc, result, "version", experiment->version);
    yyjson_mut_val *arms = yyjson_mut_obj_add_arr(doc, result, "arms");
    for (size_t i = 0; i < experiment->arm_count; i++) {
        add_arm(doc, arms, &experiment->arms[i]);
    }
    return result;
}

/* ---- what was found ---- */

/* JSON has no word for what is not a number. */
static void add_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, double value)
{
    yyjson_mut_obj_add_val(doc, object, name,
                           isfinite(value) ? yyjson_mut_real(doc, value) : yyjson_mut_null(doc));
}

static void add_estimate(yyjson_mut_doc *doc, yyjson_mut_val *object, enum metric metric,
                         const struct stats_estimate *estimate)
{
    add_number(doc, object, "estimate", metric_shown(metric, estimate->value));
    add_number(doc, object, "low", metric_shown(metric, estimate->low));
    add_number(doc, object, "high", metric_shown(metric, estimate->high));
}

static void add_arm_findings(yyjson_mut_doc *doc, yyjson_mut_val *arm,
                             const struct arm_findings *findings)
{
    yyjson_mut_obj_add_uint(doc, arm, "units", findings->units);
    yyjson_mut_obj_add_uint(doc, arm, "calls", findings->calls);
    yyjson_mut_val *metrics = yyjson_mut_obj_add_obj(doc, arm, "metrics");
    for (int i = 0; i < METRICS; i++) {
        yyjson_mut_val *metric = yyjson_mut_obj_add_obj(doc, metrics, METRIC_TABLE[i].name);
        yyjson_mut_obj_add_uint(doc, metric, "n", findings->metrics[i].count);
        add_estimate(doc, metric, (enum metric)i, &findings->metrics[i].estimate);
    }
}

static bool is_ratio(const struct experiment *experiment)
{
    return METRIC_TABLE[experiment->metric].kind == METRIC_IS_RATIO;
}

static void add_difference(yyjson_mut_doc *doc, yyjson_mut_val *result,
                           const struct experiment *experiment, const struct findings *findings)
{
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, result, "difference");
    json_add_string(doc, object, "metric", METRIC_TABLE[experiment->metric].name);
    json_add_string(doc, object, "as", is_ratio(experiment) ? "ratio" : "difference");
    yyjson_mut_obj_add_real(doc, object, "level", 1 - findings->error);
    yyjson_mut_val *pairs = yyjson_mut_obj_add_arr(doc, object, "pairs");
    for (size_t i = 0; i < findings->comparison_count; i++) {
        const struct comparison *one = &findings->comparisons[i];
        yyjson_mut_val *pair = yyjson_mut_arr_add_obj(doc, pairs);
        json_add_string(doc, pair, "arm", experiment->arms[one->arm].name);
        json_add_string(doc, pair, "against", experiment->arms[one->against].name);
        add_estimate(doc, pair, experiment->metric, &one->difference);
    }
}

/* ---- the verdict ---- */

/* "B's latency is 0.81 times that of A, from 0.7 to 0.94". */
static void put_comparison(struct buf *out, const struct experiment *experiment,
                           const struct comparison *one)
{
    bool ratio = is_ratio(experiment);
    const struct stats_estimate *found = &one->difference;
    enum metric metric = experiment->metric;
    buf_printf(out, "%s of %s is ", METRIC_TABLE[metric].name, experiment->arms[one->arm].name);
    if (ratio) {
        buf_printf(out, "%.3g times that of %s, from %.3g to %.3g",
                   metric_shown(metric, found->value), experiment->arms[one->against].name,
                   metric_shown(metric, found->low), metric_shown(metric, found->high));
    } else {
        buf_printf(out, "%+.3g beside that of %s, from %+.3g to %+.3g", found->value,
                   experiment->arms[one->against].name, found->low, found->high);
    }
}

/* The first comparison that leaves it open; the first of all where none does. */
static const struct comparison *telling(const struct findings *findings)
{
    for (size_t i = 0; i < findings->comparison_count; i++) {
        const struct stats_estimate *found = &findings->comparisons[i].difference;
        if (!(found->low > 0 || found->high < 0)) {
            return &findings->comparisons[i];
        }
    }
    return &findings->comparisons[0];
}

static const char *explain(struct arena *arena, const struct experiment *experiment,
                           const struct findings *findings, const char *open)
{
    struct buf words;
    buf_init(&words, KIB(4));
    const struct comparison *one = telling(findings);
    bool compared = findings->comparison_count && isfinite(one->difference.low);
    if (open) {
        buf_puts(&words, open);
    } else if (!compared) {
        buf_printf(&words, "too few %ss have a value of %s", UNIT_NAMES[experiment->unit],
                   METRIC_TABLE[experiment->metric].name);
    } else {
        put_comparison(&words, experiment, one);
        buf_puts(&words, findings->best < findings->arm_count ? ": the interval leaves no doubt"
                         : is_ratio(experiment)               ? ": the interval holds 1"
                                                              : ": the interval holds 0");
    }
    return buf_to_arena(&words, arena);
}

/* Adds to what experiment_describe() made: the arms' numbers, difference, and the verdict, which
 * `open`, unless it is NULL, keeps from being decided and says why. */
static void add_findings(yyjson_mut_doc *doc, struct arena *arena,
                         const struct experiment *experiment, const struct findings *findings,
                         const char *open, yyjson_mut_val *result)
{
    bool decided = !open && findings->best < findings->arm_count;
    size_t index, most;
    yyjson_mut_val *arm;
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "arms"), index, most, arm)
    {
        add_arm_findings(doc, arm, &findings->arms[index]);
    }
    add_difference(doc, result, experiment, findings);
    json_add_string(doc, result, "verdict",
                    decided ? experiment->arms[findings->best].name : "undecided");
    json_add_string(doc, result, "why", explain(arena, experiment, findings, open));
}

/* ---- of trials ---- */

/* "so far 12 of 50 sessions in A, 9 of 50 in B". */
static const char *describe_progress(struct arena *arena, const struct experiment *experiment,
                                     const struct findings *findings, bool over)
{
    struct buf words;
    buf_init(&words, KIB(4));
    buf_puts(&words, over ? "its time was over before the sample was full: " : "so far ");
    for (size_t i = 0; i < findings->arm_count; i++) {
        buf_printf(&words, "%s%zu of %zu%s%s in %s", i ? ", " : "", findings->arms[i].units,
                   experiment->sample, i ? "" : " ",
                   i                                  ? ""
                   : experiment->unit == UNIT_SESSION ? "sessions"
                                                      : "callers",
                   experiment->arms[i].name);
    }
    const char *made = buf_to_arena(&words, arena);
    return made ? made : "the sample is not full";
}

int experiment_result(yyjson_mut_doc *doc, struct arena *arena, const struct experiment *experiment,
                      struct db *db, yyjson_mut_val **result)
{
    int64_t others = 0;
    struct findings findings;
    struct gather *gather = gather_new(experiment);
    int status = gather
                     ? trials_read(db, experiment->name, experiment->version, gather_take, gather)
                     : ERR_NOMEM;
    if (status == OK) {
        status = trials_of_others(db, experiment->name, experiment->version, &others);
    }
    if (status == OK) {
        bool full = gather_is_full(gather);
        bool over = clock_wall_ms() >= experiment->until_ms;
        gather_find(gather, &findings);
        *result = experiment_describe(doc, experiment);
        yyjson_mut_obj_add_str(doc, *result, "status", full ? "full" : over ? "over" : "running");
        yyjson_mut_obj_add_sint(doc, *result, "passed_over", others);
        add_findings(doc, arena, experiment, &findings,
                     full ? NULL : describe_progress(arena, experiment, &findings, over), *result);
    }
    gather_free(gather);
    return status == OK && arena_failed(arena) ? ERR_NOMEM : status;
}
