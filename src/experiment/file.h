/* The file of an experiment: JSON, one experiment each. Reading checks all of it, so that a running
 * program need not: members, the tools and their parameters. docs/experiments.md explains the
 * members. */
#ifndef FORAGE_EXPERIMENT_FILE_H
#define FORAGE_EXPERIMENT_FILE_H

#include "core/id.h"
#include "core/limits.h"
#include "experiment/measure.h"
#include "registry/registry.h"

/* What is assigned to an arm, and stays with it. */
enum experiment_unit { UNIT_SESSION, UNIT_CALLER, UNITS };

extern const char *const UNIT_NAMES[UNITS];

struct experiment_arm {
    const char *name;
    yyjson_val *arguments; /* an object, or NULL */
};

struct experiment {
    const char *name;
    const char *about; /* or NULL */
    const char *tools[LIMIT_EXPERIMENT_TOOLS];
    size_t tool_count;
    enum experiment_unit unit;
    double share; /* of units that take part */
    const char *salt;
    struct experiment_arm arms[LIMIT_EXPERIMENT_ARMS];
    size_t arm_count;
    enum metric metric; /* that decides */
    bool higher;        /* is better */
    size_t sample;      /* units of each arm, fixed beforehand */
    const char *until;  /* its last day, or NULL */
    int64_t until_ms;   /* the end of that day; INT64_MAX without one */
    char version[ID_SIZE];
};

/* Reads a file; what it says lives in the arena. OK; ERR_NOMEM; ERR_INVALID with the file, the line
 * or the member, what is wrong and what is allowed in `problem`. */
MUST_CHECK int experiment_read(struct arena *arena, const struct registry *registry,
                               const char *path, struct experiment *experiment, char *problem,
                               size_t size);

#endif
