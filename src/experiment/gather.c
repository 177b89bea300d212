/* Puts the trials of each unit together, and the units of each arm. */
#include "experiment/gather.h"

#include "core/hash.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct trial_unit {
    uint64_t key;
    size_t arm;
    size_t calls;
    struct {
        double sum;
        size_t count;
    } values[METRICS];
};

struct gather {
    const struct experiment *experiment;
    struct trial_unit *units;
    size_t unit_count;
    uint32_t *slots; /* the place of a unit, from 1; 0: free. Found by the unit's key */
    size_t slot_count;
    size_t per_arm[LIMIT_EXPERIMENT_ARMS];
    bool full;
};

struct gather *gather_new(const struct experiment *experiment)
{
    size_t most = experiment->arm_count * experiment->sample;
    struct gather *gather = calloc(1, sizeof *gather);
    if (!gather) {
        return NULL;
    }
    gather->experiment = experiment;
    gather->slot_count = 2 * most;
    gather->units = calloc(most, sizeof *gather->units);
    gather->slots = calloc(gather->slot_count, sizeof *gather->slots);
    return gather->units && gather->slots ? gather : gather_free(gather);
}

struct gather *gather_free(struct gather *gather)
{
    if (gather) {
        free(gather->units);
        free(gather->slots);
        free(gather);
    }
    return NULL;
}

/* ---- taking ---- */

static size_t arm_named(const struct experiment *experiment, const char *name)
{
    size_t arm = 0;
    while (arm < experiment->arm_count && strcmp(experiment->arms[arm].name, name) != 0) {
        arm++;
    }
    return arm;
}

/* The slot of a key: its unit's, or a free one. Half of them always are. */
static uint32_t *find_slot(const struct gather *gather, uint64_t key)
{
    size_t at = (size_t)(key % gather->slot_count);
    while (gather->slots[at] && gather->units[gather->slots[at] - 1].key != key) {
        at = (at + 1) % gather->slot_count;
    }
    return &gather->slots[at];
}

/* The unit of a trial; NULL where the arm has all that count. */
static struct trial_unit *find_unit(struct gather *gather, const char *name, size_t arm)
{
    uint64_t key = hash_add(HASH_START, name, strlen(name));
    uint32_t *slot = find_slot(gather, key);
    if (!*slot && gather->per_arm[arm] < gather->experiment->sample) {
        gather->per_arm[arm]++;
        gather->units[gather->unit_count] = (struct trial_unit){.key = key, .arm = arm};
        *slot = (uint32_t)++gather->unit_count;
    }
    struct trial_unit *unit = *slot ? &gather->units[*slot - 1] : NULL;
    return unit && unit->arm == arm ? unit : NULL;
}

bool gather_take(void *context, const struct trial *trial)
{
    struct gather *gather = context;
    const struct experiment *experiment = gather->experiment;
    size_t arm = arm_named(experiment, trial->arm);
    struct trial_unit *unit =
        arm < experiment->arm_count ? find_unit(gather, trial->unit, arm) : NULL;
    if (unit) {
        unit->calls++;
        for (int i = 0; i < METRICS; i++) {
            double value = metric_of((enum metric)i, trial);
            if (!isnan(value)) {
                unit->values[i].sum += value;
                unit->values[i].count++;
            }
        }
    }
    gather->full = gather->unit_count == experiment->arm_count * experiment->sample;
    return !gather->full;
}

bool gather_is_full(const struct gather *gather)
{
    return gather->full;
}

/* ---- finding ---- */

/* The samples of all arms by one metric. */
struct samples {
    struct stats_sample arms[LIMIT_EXPERIMENT_ARMS];
    bool are_rates; /* each unit was seen once, and something happened to it or not */
};

static void take_samples(const struct gather *gather, enum metric metric, struct samples *samples)
{
    *samples = (struct samples){.are_rates = METRIC_TABLE[metric].kind == METRIC_IS_RATE};
    for (size_t i = 0; i < gather->unit_count; i++) {
        const struct trial_unit *unit = &gather->units[i];
        size_t count = unit->values[metric].count;
        if (count) {
            stats_add(&samples->arms[unit->arm], unit->values[metric].sum / (double)count);
            samples->are_rates = samples->are_rates && count == 1;
        }
    }
}

static struct stats_estimate difference(const void *context, size_t one, size_t other, double error)
{
    const struct samples *samples = context;
    return samples->are_rates
               ? stats_rate_difference(&samples->arms[one], &samples->arms[other], error)
               : stats_difference(&samples->arms[one], &samples->arms[other], error);
}

void gather_find(const struct gather *gather, struct findings *findings)
{
    const struct experiment *experiment = gather->experiment;
    struct samples samples;
    *findings = (struct findings){.arm_count = experiment->arm_count};
    for (size_t i = 0; i < gather->unit_count; i++) {
        findings->arms[gather->units[i].arm].units++;
        findings->arms[gather->units[i].arm].calls += gather->units[i].calls;
    }
    for (int metric = 0; metric < METRICS; metric++) {
        take_samples(gather, (enum metric)metric, &samples);
        for (size_t i = 0; i < experiment->arm_count; i++) {
            const struct stats_sample *sample = &samples.arms[i];
            findings->arms[i].metrics[metric] = (struct arm_finding){
                sample->count, samples.are_rates ? stats_rate(sample, FINDINGS_ERROR)
                                                 : stats_mean(sample, FINDINGS_ERROR)};
        }
    }
    take_samples(gather, experiment->metric, &samples);
    findings_compare(findings, experiment, difference, &samples);
}
