/* From trials to findings. What was randomised is the unit, so a unit is one observation: the mean
 * of its calls. The first units of each arm count, as many as the experiment wants, with their
 * calls up to the trial that made the sample full; nothing that comes later changes what was found.
 */
#ifndef FORAGE_EXPERIMENT_GATHER_H
#define FORAGE_EXPERIMENT_GATHER_H

#include "experiment/findings.h"

struct gather;

/* NULL without memory. */
struct gather *gather_new(const struct experiment *experiment);
struct gather *gather_free(struct gather *gather);
/* Takes a trial, in the order in which they were written. False once the sample is full: then no
 * more are wanted. */
bool gather_take(void *gather, const struct trial *trial);
bool gather_is_full(const struct gather *gather);
void gather_find(const struct gather *gather, struct findings *findings);

#endif
