/* An experiment without traffic: every query of a file is run with every arm, one after the other,
 * and the arms are compared query by query. The queries come in an order that is shuffled, and so
 * do the arms of each, always in the same way: what a later run gains from an earlier one, such as
 * a page in the cache, is spread over all arms. */
#ifndef FORAGE_EXPERIMENT_REPLAY_H
#define FORAGE_EXPERIMENT_REPLAY_H

#include "experiment/experiment.h"
#include "experiment/findings.h"

struct replay;

struct replay_options {
    const struct experiment *experiment;
    size_t queries;
    struct registry *registry; /* nothing else may try something with its calls */
};

/* NULL without memory. Everything in the options outlives it. */
struct replay *replay_new(const struct replay_options *options);
struct replay *replay_free(struct replay *replay);

/* The n-th run, of queries times arms, and its query: the registry's next call is tried with its
 * arm. */
size_t replay_begin(struct replay *replay, size_t run);
/* After that call. False where it says nothing, since it was refused before it ran. */
bool replay_end(struct replay *replay);
/* What came of the runs so far. The number of queries that were run with every arm. */
size_t replay_find(const struct replay *replay, struct findings *findings);

#endif
