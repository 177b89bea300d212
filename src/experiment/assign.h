/* Which arm a unit has: a matter of the experiment's salt and the unit alone, so that every process
 * comes to the same, and nobody has to remember it. Pure. */
#ifndef FORAGE_EXPERIMENT_ASSIGN_H
#define FORAGE_EXPERIMENT_ASSIGN_H

#include "core/sha256.h"

#include <stdbool.h>
#include <stddef.h>

struct assigned {
    bool takes_part;
    size_t arm;
    char unit[2 * SHA256_SIZE + 1]; /* its keyed hash, which stands for it from here on */
};

void assign_unit(const char *salt, double share, size_t arms, const char *unit, size_t length,
                 struct assigned *assigned);

#endif
