/* Programs by their names. */
#ifndef FORAGE_CORE_ON_PATH_H
#define FORAGE_CORE_ON_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the path is a file that can be run. */
bool is_program(const char *path);
/* Writes the path of the first program of this name on PATH; false when there is none. Only folders
 * with a whole path count: a name must not mean whatever lies in the current one. */
bool find_on_path(const char *name, char *path, size_t size);

#endif
