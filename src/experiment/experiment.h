/* Experiments: calls of a tool are given one of several sets of parameters, by what
 * their session or caller is, and what comes of them is recorded and compared. The part knows the
 * experiments that run here; files are read by file.h, results made by results.h.
 *
 * A call takes part in one experiment at most: the first, by name, that is about its tool and that
 * its unit takes part in. What its caller said itself is never changed. */
#ifndef FORAGE_EXPERIMENT_EXPERIMENT_H
#define FORAGE_EXPERIMENT_EXPERIMENT_H

#include "experiment/file.h"
#include "ops/ledger.h"

struct experiments;

struct experiments_options {
    const char *const *places; /* files, and folders with files; a NULL ends them */
    struct registry *registry;
    const struct ledger *ledger;
};

/* Reads all files; it tries something with the registry's calls from now on. Everything in the
 * options but the places outlives it. NULL with the reason in `problem`. */
struct experiments *experiments_new(const struct experiments_options *options, char *problem,
                                    size_t size);
/* No call may run any more. */
struct experiments *experiments_free(struct experiments *experiments);

/* By name; NULL beyond the last. NULL for `experiments` are none. */
const struct experiment *experiments_at(const struct experiments *experiments, size_t index);

#endif
