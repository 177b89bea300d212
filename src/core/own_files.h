/* Files that came with the program: an archive or a package for one system is unpacked anywhere, so
 * they are looked for from the program's own place. */
#ifndef FORAGE_CORE_OWN_FILES_H
#define FORAGE_CORE_OWN_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { OWN_PATH_SIZE = 4096 };

/* Writes the absolute path of the running program, links followed; false when the system does not
 * say, or it does not fit. */
bool own_program(char *path, size_t size);

/* The path of a file that came along: in `folder` ("lib/forage") beside the program's own, or next
 * to the program; false when it is in neither. */
bool own_file(const char *folder, const char *name, char *path, size_t size);

/* The library that holds libcurl and libpq where they came along, opened; NULL where they did
 * not. */
void *own_network_library(void);

#endif
