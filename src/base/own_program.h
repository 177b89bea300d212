/* Where the running program is. */
#ifndef FORAGE_BASE_OWN_PROGRAM_H
#define FORAGE_BASE_OWN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Writes its absolute path, links followed; false when the system does not say, or it does not
 * fit. */
bool own_program(char *path, size_t size);

#endif
