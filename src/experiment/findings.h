/* What is known of the arms of an experiment, whichever way it was found out: estimates with their
 * intervals, how far the arms are apart, and which of them is the best. */
#ifndef FORAGE_EXPERIMENT_FINDINGS_H
#define FORAGE_EXPERIMENT_FINDINGS_H

#include "experiment/file.h"
#include "experiment/stats.h"

#define FINDINGS_ERROR 0.05 /* of an interval of 95 % */

struct arm_finding {
    size_t count; /* observations */
    struct stats_estimate estimate;
};

/* How far one arm is from another by the metric that decides. */
struct comparison {
    size_t arm, against;
    struct stats_estimate difference;
};

/* Values are those of metric_of(): of some metrics they are logarithms. */
struct findings {
    size_t arm_count;
    struct arm_findings {
        size_t units, calls;
        struct arm_finding metrics[METRICS];
    } arms[LIMIT_EXPERIMENT_ARMS];
    struct comparison comparisons[LIMIT_EXPERIMENT_ARMS];
    size_t comparison_count;
    double error; /* of the interval of each: smaller where there are several */
    size_t best;  /* the arm that beats every other; arm_count: there is none */
};

/* The difference of the metric that decides, of `other` less `one`. */
typedef struct stats_estimate (*findings_difference)(const void *context, size_t one, size_t other,
                                                     double error);

/* Compares the arms, whose estimates are there: of two the second with the first, of more the best
 * with every other, each with a part of the error that all of them may have together. */
void findings_compare(struct findings *findings, const struct experiment *experiment,
                      findings_difference difference, const void *context);

#endif
