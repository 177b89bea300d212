/* From trials to a verdict: puts the trials of each unit together, the units of each arm, and
 * compares the arms by the metric that decides. */
#include "experiment/results.h"

#include "call/errors.h"
#include "call/parts.h"
#include "core/clock.h"
#include "core/hash.h"
#include "experiment/experiment.h"
#include "experiment/stats.h"
#include "ops/records.h"
#include "text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ERROR 0.05 /* of an interval of 95 % */

struct trial_unit {
    uint64_t key;
    size_t arm;
    size_t calls;
    struct {
        double sum;
        size_t count;
    } values[METRICS];
};

struct trial_sums {
    const struct experiment *experiment;
    struct trial_unit *units;
    size_t unit_count;
    uint32_t *slots; /* the place of a unit, from 1; 0: free. Found by the unit's key */
    size_t slot_count;
    size_t per_arm[LIMIT_EXPERIMENT_ARMS];
    bool full;
};

/* ---- gathering ---- */

static size_t arm_named(const struct experiment *experiment, const char *name)
{
    size_t arm = 0;
    while (arm < experiment->arm_count && strcmp(experiment->arms[arm].name, name) != 0) {
        arm++;
    }
    return arm;
}

/* The unit of a trial; NULL where the arm has all that count. Half of the slots always are free. */
static struct trial_unit *find_unit(struct trial_sums *all, const char *name, size_t arm)
{
    uint64_t key = hash_add(HASH_START, name, strlen(name));
    size_t at = (size_t)(key % all->slot_count);
    while (all->slots[at] && all->units[all->slots[at] - 1].key != key) {
        at = (at + 1) % all->slot_count;
    }
    if (!all->slots[at] && all->per_arm[arm] < all->experiment->sample) {
        all->per_arm[arm]++;
        all->units[all->unit_count] = (struct trial_unit){.key = key, .arm = arm};
        all->slots[at] = (uint32_t)++all->unit_count;
    }
    struct trial_unit *unit = all->slots[at] ? &all->units[all->slots[at] - 1] : NULL;
    return unit && unit->arm == arm ? unit : NULL;
}

/* Takes a trial, in the order in which they were written. False once the sample is full. */
static bool take_trial(void *context, const struct trial *trial)
{
    struct trial_sums *all = context;
    const struct experiment *experiment = all->experiment;
    size_t arm = arm_named(experiment, trial->arm);
    struct trial_unit *unit = arm < experiment->arm_count ? find_unit(all, trial->unit, arm) : NULL;
    for (int i = 0; unit && i < METRICS; i++) {
        double value = metric_of((enum metric)i, trial);
        if (!isnan(value)) {
            unit->values[i].sum += value;
            unit->values[i].count++;
        }
    }
    if (unit) {
        unit->calls++;
    }
    all->full = all->unit_count == experiment->arm_count * experiment->sample;
    return !all->full;
}

/* What all arms say of one metric. */
struct arm_samples {
    struct stats_sample arms[LIMIT_EXPERIMENT_ARMS];
    bool are_rates; /* each unit was seen once, and something happened to it or not */
};

static struct arm_samples take_samples(const struct trial_sums *all, enum metric metric)
{
    struct arm_samples samples = {.are_rates = METRIC_TABLE[metric].kind == METRIC_IS_RATE};
    for (size_t i = 0; i < all->unit_count; i++) {
        const struct trial_unit *unit = &all->units[i];
        size_t count = unit->values[metric].count;
        if (count) {
            stats_add(&samples.arms[unit->arm], unit->values[metric].sum / (double)count);
            samples.are_rates = samples.are_rates && count == 1;
        }
    }
    return samples;
}

/* ---- what it is ---- */

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
        yyjson_mut_val *arm = yyjson_mut_arr_add_obj(doc, arms);
        json_add_string(doc, arm, "arm", experiment->arms[i].name);
        if (experiment->arms[i].arguments) {
            yyjson_mut_obj_add_val(doc, arm, "arguments",
                                   json_share(doc, experiment->arms[i].arguments));
        }
    }
    return result;
}

/* ---- what was found ---- */

/* JSON has no word for what is not a number. */
static void add_number(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                       enum metric metric, double value)
{
    double shown = metric_shown(metric, value);
    yyjson_mut_obj_add_val(doc, object, name,
                           isfinite(shown) ? yyjson_mut_real(doc, shown) : yyjson_mut_null(doc));
}

static void add_estimate(yyjson_mut_doc *doc, yyjson_mut_val *object, enum metric metric,
                         const struct stats_estimate *estimate)
{
    add_number(doc, object, "estimate", metric, estimate->value);
    add_number(doc, object, "low", metric, estimate->low);
    add_number(doc, object, "high", metric, estimate->high);
}

static void add_arm(yyjson_mut_doc *doc, yyjson_mut_val *item, const struct trial_sums *all,
                    size_t arm)
{
    size_t calls = 0;
    for (size_t i = 0; i < all->unit_count; i++) {
        calls += all->units[i].arm == arm ? all->units[i].calls : 0;
    }
    yyjson_mut_obj_add_uint(doc, item, "units", all->per_arm[arm]);
    yyjson_mut_obj_add_uint(doc, item, "calls", calls);
    yyjson_mut_val *metrics = yyjson_mut_obj_add_obj(doc, item, "metrics");
    for (int i = 0; i < METRICS; i++) {
        struct arm_samples samples = take_samples(all, (enum metric)i);
        const struct stats_sample *sample = &samples.arms[arm];
        struct stats_estimate estimate =
            samples.are_rates ? stats_rate(sample, ERROR) : stats_mean(sample, ERROR);
        yyjson_mut_val *metric = yyjson_mut_obj_add_obj(doc, metrics, METRIC_TABLE[i].name);
        yyjson_mut_obj_add_uint(doc, metric, "n", sample->count);
        add_estimate(doc, metric, (enum metric)i, &estimate);
    }
}

/* ---- the verdict ---- */

/* The arm with the best mean; the first of several, and `arm_count` where none has one. */
static size_t find_best(const struct experiment *experiment, const struct arm_samples *samples)
{
    size_t best = experiment->arm_count;
    double most = NAN;
    for (size_t i = 0; i < experiment->arm_count; i++) {
        const struct stats_sample *sample = &samples->arms[i];
        double value = sample->count ? sample->sum / (double)sample->count : NAN;
        if (!isnan(value) && (isnan(most) || (experiment->higher ? value > most : value < most))) {
            best = i;
            most = value;
        }
    }
    return best;
}

/* What the comparisons of the metric that decides came to. */
struct verdict {
    size_t best;  /* the arm that beats every other; arm_count: there is none */
    bool unknown; /* one of them lacks values */
};

/* Of two arms the second is compared with the first, of more the best with every other, each with a
 * part of the error that all of them may have together. */
static struct verdict compare_arms(yyjson_mut_doc *doc, yyjson_mut_val *result,
                                   const struct trial_sums *all)
{
    const struct experiment *experiment = all->experiment;
    enum metric metric = experiment->metric;
    bool ratio = METRIC_TABLE[metric].kind == METRIC_IS_RATIO;
    size_t count = experiment->arm_count;
    struct arm_samples samples = take_samples(all, metric);
    struct verdict verdict = {.best = find_best(experiment, &samples)};
    size_t best = verdict.best;
    size_t arm = count == 2 ? 1 : best;
    double error = ERROR / (double)(count - 1);
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(doc, result, "difference");
    json_add_string(doc, object, "metric", METRIC_TABLE[metric].name);
    json_add_string(doc, object, "as", ratio ? "ratio" : "difference");
    yyjson_mut_obj_add_real(doc, object, "level", 1 - error);
    yyjson_mut_val *pairs = yyjson_mut_obj_add_arr(doc, object, "pairs");
    verdict.unknown = best == count;
    for (size_t i = 0; best < count && i < count; i++) {
        if (i == arm) {
            continue;
        }
        struct stats_estimate found =
            (samples.are_rates ? stats_rate_difference
                               : stats_difference)(&samples.arms[i], &samples.arms[arm], error);
        bool wants_above = experiment->higher == (best == arm);
        bool beats = wants_above ? found.low > 0 : found.high < 0;
        verdict.best = beats ? verdict.best : count;
        verdict.unknown |= !isfinite(found.low);
        yyjson_mut_val *pair = yyjson_mut_arr_add_obj(doc, pairs);
        json_add_string(doc, pair, "arm", experiment->arms[arm].name);
        json_add_string(doc, pair, "against", experiment->arms[i].name);
        add_estimate(doc, pair, metric, &found);
    }
    return verdict;
}

/* "so far 12 of 50 sessions in A, 9 of 50 in B". */
static void put_progress(struct buf *words, const struct trial_sums *all, bool over)
{
    const struct experiment *experiment = all->experiment;
    buf_puts(words, over ? "its time was over before the sample was full: " : "so far ");
    for (size_t i = 0; i < experiment->arm_count; i++) {
        buf_printf(words, i ? ", %zu of %zu" : "%zu of %zu", all->per_arm[i], experiment->sample);
        if (i == 0) {
            buf_printf(words, " %ss", UNIT_NAMES[experiment->unit]);
        }
        buf_printf(words, " in %s", experiment->arms[i].name);
    }
}

static void add_verdict(yyjson_mut_doc *doc, struct arena *arena, yyjson_mut_val *result,
                        const struct trial_sums *all, bool over)
{
    const struct experiment *experiment = all->experiment;
    struct verdict verdict = compare_arms(doc, result, all);
    bool decided = all->full && verdict.best < experiment->arm_count;
    bool ratio = METRIC_TABLE[experiment->metric].kind == METRIC_IS_RATIO;
    struct buf why;
    buf_init(&why, KIB(4));
    if (!all->full) {
        put_progress(&why, all, over);
    } else if (verdict.unknown) {
        buf_printf(&why, "too few %ss have a value of %s", UNIT_NAMES[experiment->unit],
                   METRIC_TABLE[experiment->metric].name);
    } else {
        buf_printf(&why, "%s interval of a %s holds %d", decided ? "no" : "an",
                   ratio ? "ratio" : "difference", ratio);
    }
    json_add_string(doc, result, "verdict",
                    decided ? experiment->arms[verdict.best].name : "undecided");
    json_add_string(doc, result, "why", buf_to_arena(&why, arena));
}

/* ---- all of it ---- */

static void add_result(yyjson_mut_doc *doc, struct arena *arena, const struct trial_sums *all,
                       int64_t others, yyjson_mut_val *list)
{
    size_t index, most;
    yyjson_mut_val *arm;
    bool over = clock_wall_ms() >= all->experiment->until_ms;
    yyjson_mut_val *result = experiment_describe(doc, all->experiment);
    json_add_string(doc, result, "status", all->full ? "full" : over ? "over" : "running");
    yyjson_mut_obj_add_sint(doc, result, "passed_over", others);
    yyjson_mut_arr_foreach(yyjson_mut_obj_get(result, "arms"), index, most, arm)
    {
        add_arm(doc, arm, all, index);
    }
    add_verdict(doc, arena, result, all, over);
    yyjson_mut_arr_append(list, result);
}

static int find_result(const struct experiment *experiment, struct db *db, yyjson_mut_doc *doc,
                       struct arena *arena, yyjson_mut_val *list)
{
    size_t most = experiment->arm_count * experiment->sample;
    struct trial_sums all = {.experiment = experiment, .slot_count = 2 * most};
    int64_t others = 0;
    all.units = calloc(most, sizeof *all.units);
    all.slots = calloc(all.slot_count, sizeof *all.slots);
    int status = all.units && all.slots
                     ? trials_read(db, experiment->name, experiment->version, take_trial, &all)
                     : ERR_NOMEM;
    if (status == OK) {
        status = trials_of_others(db, experiment->name, experiment->version, &others);
    }
    if (status == OK) {
        add_result(doc, arena, &all, others, list);
    }
    free(all.units);
    free(all.slots);
    return status == OK && arena_failed(arena) ? ERR_NOMEM : status;
}

static int find_results(const struct experiments *experiments, const char *name, struct db *db,
                        yyjson_mut_doc *doc, struct arena *arena, yyjson_mut_val *list)
{
    const struct experiment *experiment;
    int status = OK;
    for (size_t i = 0; status == OK && (experiment = experiments_at(experiments, i)) != NULL; i++) {
        if (!name || strcmp(name, experiment->name) == 0) {
            status = find_result(experiment, db, doc, arena, list);
        }
    }
    return status;
}

/* Without experiments there is nothing to read, and no database to open. */
int experiments_add_results(struct call *call, const char *name, yyjson_mut_doc *doc,
                            yyjson_mut_val *list)
{
    const struct parts *parts = call_parts(call);
    char problem[640] = "";
    if (!parts->experiments) {
        return OK;
    }
    struct db *db = records_open(parts->places, call, problem, sizeof problem);
    int status =
        db ? find_results(parts->experiments, name, db, doc, call_arena(call), list) : ERR_IO;
    if (status == ERR_IO || status == ERR_BUSY || status == ERR_CLOSED) {
        status = call_fail(call, CODE_CONFIG, "the records cannot be read: %s",
                           call_without_paths(call, db ? db_problem(db) : problem, true));
    }
    db_close(db);
    return status;
}
