/* What came of experiments, as JSON for REST and the command line: each estimate with its n and its
 * interval, and a verdict with its reason, never a bare mean.
 *
 * What was randomised is the unit, so a unit is one observation: the mean of its calls. The first
 * units of each arm count, as many as the experiment wants, with their calls up to the trial that
 * made the sample full; nothing that comes later changes what was found. */
#ifndef FORAGE_EXPERIMENT_RESULTS_H
#define FORAGE_EXPERIMENT_RESULTS_H

#include "call/call.h"
#include "experiment/file.h"

/* What an experiment is: name, tool, unit, share, metric, better, sample and arms, without
 * results. In the arena of the document, which shares texts with the experiment. */
yyjson_mut_val *experiment_describe(yyjson_mut_doc *doc, const struct experiment *experiment);
/* Adds the results of all experiments of the call's program, or of the one of that name, to a list.
 * OK, or a status, maybe after call_fail(). */
MUST_CHECK int experiments_add_results(struct call *call, const char *name, yyjson_mut_doc *doc,
                                       yyjson_mut_val *list);

#endif
