/* The statistics of experiments: what a sample says of the arm that it comes from, and how far two
 * arms are apart. Pure functions; docs/experiments.md says why these and no others.
 *
 * `error` is how often an interval may miss what it estimates: 0.05 for one of 95 %. */
#ifndef FORAGE_EXPERIMENT_STATS_H
#define FORAGE_EXPERIMENT_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* What was observed, and the interval around it; not a number where there is too little. */
struct stats_estimate {
    double value;
    double low, high;
};

/* The observations of one arm, one of each unit. Zeroed is empty. */
struct stats_sample {
    size_t count;
    double sum;     /* exact where they are 0 and 1: rates that are the same look the same */
    double middle;  /* their mean, as it grows with them */
    double squares; /* the sum of the squares of the distances from the mean */
};

void stats_add(struct stats_sample *sample, double observation);

/* The mean of what the sample comes from: Student's t. */
struct stats_estimate stats_mean(const struct stats_sample *sample, double error);
/* The mean of `other` less that of `one`: Welch's t. */
struct stats_estimate stats_difference(const struct stats_sample *one,
                                       const struct stats_sample *other, double error);
/* The rate of what the sample comes from, where each observation is 0 or 1: Wilson's score. */
struct stats_estimate stats_rate(const struct stats_sample *sample, double error);
/* The rate of `other` less that of `one`: Newcombe's hybrid score (his method 10). */
struct stats_estimate stats_rate_difference(const struct stats_sample *one,
                                            const struct stats_sample *other, double error);

#endif
