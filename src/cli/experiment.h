/* What the two files of `forage experiment` share. */
#ifndef FORAGE_CLI_EXPERIMENT_H
#define FORAGE_CLI_EXPERIMENT_H

#include "cli/run.h"
#include "experiment/describe.h"

/* Prints the table of a result (experiment/describe.h) and its verdict. An exit code. */
int print_experiment(struct arena *arena, yyjson_mut_val *result);
/* Reads the file of an experiment into the arena. EXIT_OK, or EXIT_USAGE after saying what is wrong
 * with it. */
int read_experiment(struct app *app, struct arena *arena, const char *path,
                    struct experiment *experiment);
/* Lets `body` work in a program with which nothing is tried. An exit code. */
int run_bare(run_body body, void *context);

#endif
