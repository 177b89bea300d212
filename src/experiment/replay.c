/* Runs an experiment over queries: the order of the runs, the arm of each, and what they say
 * together. */
#include "experiment/replay.h"

#include "core/sha256.h"
#include "experiment/measure.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What one run says. */
struct value {
    double metrics[METRICS];
    bool known;
};

struct replay {
    struct replay_options options;
    size_t *queries; /* in the order of their runs */
    size_t *arms;    /* of each run */
    struct value *values;
    size_t query, arm;   /* of the run that goes on */
    struct value now;    /* what it says; it may be a job, whose thread tells it */
    atomic_bool is_told; /* from then on that belongs to who runs */
};

/* ---- the order ---- */

struct shuffling {
    uint64_t state;
};

/* The same numbers for the same experiment (splitmix64). */
static uint64_t next_number(struct shuffling *shuffling)
{
    uint64_t x = shuffling->state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The numbers below `count`, in some order. */
static void shuffle(struct shuffling *shuffling, size_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t other = (size_t)(next_number(shuffling) % (i + 1));
        numbers[i] = numbers[other];
        numbers[other] = i;
    }
}

static void shuffle_runs(struct replay *replay)
{
    const struct experiment *experiment = replay->options.experiment;
    unsigned char digest[SHA256_SIZE];
    struct sha256 sha;
    struct shuffling shuffling;
    sha256_init(&sha);
    sha256_add(&sha, experiment->salt, strlen(experiment->salt));
    sha256_end(&sha, digest);
    memcpy(&shuffling.state, digest, sizeof shuffling.state);
    shuffle(&shuffling, replay->queries, replay->options.queries);
    for (size_t i = 0; i < replay->options.queries; i++) {
        shuffle(&shuffling, &replay->arms[i * experiment->arm_count], experiment->arm_count);
    }
}

/* ---- one run ---- */

static struct value *value_of(const struct replay *replay, size_t query, size_t arm)
{
    return &replay->values[query * replay->options.experiment->arm_count + arm];
}

static int begin(void *context, struct call *call, const struct entry *entry,
                 yyjson_val **arguments)
{
    const struct replay *replay = context;
    const struct experiment *experiment = replay->options.experiment;
    const struct experiment_arm *arm = &experiment->arms[replay->arm];
    struct arena *arena = call_arena(call);
    (void)entry;
    const char *tried =
        arena_printf(arena, "%s/%s %s", experiment->name, arm->name, experiment->version);
    *arguments = experiment_arguments(arena, arm, *arguments);
    return tried && *arguments ? call_try(call, tried, arm->overlay) : ERR_NOMEM;
}

static void end(void *context, struct call *call, const struct entry *entry,
                const struct outcome *outcome)
{
    struct replay *replay = context;
    struct trial trial = {.reformulates = TRIAL_UNKNOWN,
                          .nano_usd = experiment_cost(call, outcome)};
    (void)entry;
    measure_outcome(call, outcome, &trial);
    for (int i = 0; i < METRICS; i++) {
        replay->now.metrics[i] = metric_of((enum metric)i, &trial);
    }
    atomic_store(&replay->is_told, true);
}

size_t replay_begin(struct replay *replay, size_t run)
{
    replay->query = replay->queries[run / replay->options.experiment->arm_count];
    replay->arm = replay->arms[run];
    atomic_store(&replay->is_told, false);
    return replay->query;
}

bool replay_end(struct replay *replay)
{
    struct value *value = value_of(replay, replay->query, replay->arm);
    *value = replay->now;
    value->known = atomic_load(&replay->is_told);
    return value->known;
}

/* ---- all of them ---- */

/* What a run says of a metric; not a number where it says nothing. */
static double said(const struct replay *replay, size_t query, size_t arm, enum metric metric)
{
    const struct value *value = value_of(replay, query, arm);
    return value->known ? value->metrics[metric] : NAN;
}

/* Each query is its own control: the differences are one sample. */
static struct stats_estimate difference(const void *context, size_t one, size_t other, double error)
{
    const struct replay *replay = context;
    enum metric metric = replay->options.experiment->metric;
    struct stats_sample sample = {0};
    for (size_t i = 0; i < replay->options.queries; i++) {
        double change = said(replay, i, other, metric) - said(replay, i, one, metric);
        if (!isnan(change)) {
            stats_add(&sample, change);
        }
    }
    return stats_mean(&sample, error);
}

static void find_arm(const struct replay *replay, size_t arm, struct arm_findings *findings)
{
    for (size_t i = 0; i < replay->options.queries; i++) {
        findings->calls += value_of(replay, i, arm)->known;
    }
    findings->units = findings->calls;
    for (int metric = 0; metric < METRICS; metric++) {
        struct stats_sample sample = {0};
        for (size_t i = 0; i < replay->options.queries; i++) {
            double value = said(replay, i, arm, (enum metric)metric);
            if (!isnan(value)) {
                stats_add(&sample, value);
            }
        }
        bool rate = METRIC_TABLE[metric].kind == METRIC_IS_RATE;
        findings->metrics[metric] =
            (struct finding){sample.count, rate ? stats_rate(&sample, FINDINGS_ERROR)
                                                : stats_mean(&sample, FINDINGS_ERROR)};
    }
}

size_t replay_find(const struct replay *replay, struct findings *findings)
{
    const struct experiment *experiment = replay->options.experiment;
    size_t whole = 0;
    *findings = (struct findings){.arm_count = experiment->arm_count};
    for (size_t i = 0; i < experiment->arm_count; i++) {
        find_arm(replay, i, &findings->arms[i]);
    }
    for (size_t i = 0; i < replay->options.queries; i++) {
        size_t known = 0;
        for (size_t arm = 0; arm < experiment->arm_count; arm++) {
            known += value_of(replay, i, arm)->known;
        }
        whole += known == experiment->arm_count;
    }
    findings_compare(findings, experiment, difference, replay);
    return whole;
}

/* ---- its life ---- */

struct replay *replay_new(const struct replay_options *options)
{
    size_t runs = options->queries * options->experiment->arm_count;
    struct replay *replay = calloc(1, sizeof *replay);
    if (!replay) {
        return NULL;
    }
    replay->options = *options;
    replay->queries = calloc(options->queries, sizeof *replay->queries);
    replay->arms = calloc(runs, sizeof *replay->arms);
    replay->values = calloc(runs, sizeof *replay->values);
    if (!replay->queries || !replay->arms || !replay->values) {
        return replay_free(replay);
    }
    shuffle_runs(replay);
    options->registry->trying = (struct trying){.context = replay, .begin = begin, .end = end};
    return replay;
}

struct replay *replay_free(struct replay *replay)
{
    if (replay) {
        replay->options.registry->trying = (struct trying){.context = NULL};
        free(replay->queries);
        free(replay->arms);
        free(replay->values);
        free(replay);
    }
    return NULL;
}
