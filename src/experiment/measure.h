/* What the outcome of a call says for an experiment, read off its result. Pure. */
#ifndef FORAGE_EXPERIMENT_MEASURE_H
#define FORAGE_EXPERIMENT_MEASURE_H

#include "ops/trials.h"
#include "registry/registry.h"

/* Fills in everything but who, what and when, cost and reformulation. */
void measure_outcome(const struct call *call, const struct outcome *outcome, struct trial *trial);

#endif
