/* Files and programs: what came with the program, what is on PATH, new files, writing all of
 * something to a descriptor, and removing a folder with everything in it. */
#ifndef FORAGE_CORE_FILES_H
#define FORAGE_CORE_FILES_H

#include "core/buf.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { OWN_PATH_SIZE = 4096 };

/* An archive or a package for one system is unpacked anywhere, so what came along is looked for
 * from the program's own place. */

/* Writes the absolute path of the running program, links followed; false when the system does not
 * say, or it does not fit. */
bool own_program(char *path, size_t size);

/* The path of a file that came along: in `folder` ("lib/forage") beside the program's own, or next
 * to the program; false when it is in neither. */
bool own_file(const char *folder, const char *name, char *path, size_t size);

/* Whether the path is a file that can be run. */
bool is_program(const char *path);
/* Writes the path of the first program of this name on PATH; false when there is none. Only folders
 * with a whole path count: a name must not mean whatever lies in the current one. */
bool find_on_path(const char *name, char *path, size_t size);

/* Whether somebody else made what is there, a link itself and not what it leads to: its owner is
 * neither we nor root, nor, where root asks, whoever the folder around it belongs to. */
bool file_is_foreign(const char *path);

/* Writes every byte, whatever interrupts it. OK, or ERR_IO with errno saying why. */
MUST_CHECK int write_all(int fd, const char *data, size_t length);
/* A name that was given or taken in the folder of this path lasts. */
void sync_folder_of(const char *path);

/* Makes a file where nothing is, not even a link, for its owner only; -1 with errno saying why. */
MUST_CHECK int new_file(const char *path);
/* Closes it. With OK all of it is on the disk; after any other status, or when that fails, it is
 * gone. A file that others put in its place stays, and fails. That status, or ERR_IO with errno. */
MUST_CHECK int new_file_end(int fd, const char *path, int status);
/* Appends all of a file. OK; ERR_IO with errno saying why; an error of the buffer when it does not
 * fit. A pipe is not waited for. */
MUST_CHECK int read_whole(const char *path, struct buf *out);

/* Removes it by descriptors: a link that somebody puts in the place of a folder is removed, not
 * followed. Whoever used it may still be writing while it dies, so it is tried up to `tries` times
 * with a short pause between. Whether it is gone. */
bool remove_folder(const char *path, int tries);

#endif
