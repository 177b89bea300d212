/* What experiments measure: a table of metrics, what one trial says of each, and how a trial is
 * read off the outcome of a call. Pure. */
#ifndef FORAGE_EXPERIMENT_MEASURE_H
#define FORAGE_EXPERIMENT_MEASURE_H

#include "ops/trials.h"
#include "registry/registry.h"

#include <stdbool.h>
#include <stddef.h>

enum metric {
    METRIC_LATENCY,
    METRIC_COST,
    METRIC_ERRORS,
    METRIC_VERIFIED,
    METRIC_NOTHING_FOUND,
    METRIC_REFORMULATION,
    METRIC_PAGES,
    METRICS
};

/* How values of a metric are put together. */
enum metric_kind {
    METRIC_IS_MEAN,
    METRIC_IS_RATE,  /* of calls to which something happened or not */
    METRIC_IS_RATIO, /* of what is skewed and never 0: logarithms are compared, so that a difference
                        is a ratio */
};

struct metric_about {
    const char *name; /* as files of experiments have it */
    enum metric_kind kind;
    bool higher;      /* is better, where nobody says otherwise */
    const char *unit; /* behind a number, for people, */
    double scale;     /* who see so many times what it is */
    const char *what; /* a phrase */
};

extern const struct metric_about METRIC_TABLE[METRICS];

/* The metric of that name; METRICS: there is none. */
enum metric metric_named(const char *name);
/* What a trial says; not a number where it says nothing. The logarithm of a METRIC_IS_RATIO. */
double metric_of(enum metric metric, const struct trial *trial);
/* The value that people see in place of that one. */
double metric_shown(enum metric metric, double value);

/* Fills in everything but who, what and when, cost and reformulation. */
void measure_outcome(const struct call *call, const struct outcome *outcome, struct trial *trial);

#endif
