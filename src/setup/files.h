/* The files of clients: read whole, and replaced whole or not at all. */
#ifndef FORAGE_SETUP_FILES_H
#define FORAGE_SETUP_FILES_H

#include "core/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Appends the file to `text`. OK, ERR_NOTFOUND when there is none, otherwise ERR_IO or ERR_LIMIT
 * with words. A link that leads nowhere, and what is no file, are not read. */
int files_read(const char *path, struct buf *text, char *problem, size_t size);

/* Whether the values of keys may stand in that file, which need not be there: it must not be
 * somebody else's, nor lie in a Git repository, where others get it. OK, or ERR_INVALID with words.
 */
int files_check_for_keys(const char *path, char *problem, size_t size);
/* Takes the permissions of everybody but its owner away. OK, or ERR_IO with words. */
int files_make_private(const char *path, char *problem, size_t size);

/* Puts `text` in the place of the file, or makes it: written beside it, on the disk, then renamed.
 * Its permissions and its owner stay, and a link to it stays a link. `before` is what the file held
 * when it was read, NULL when there was none: when it has changed since, nothing is done. A new
 * file gets the permissions `mode`, and the folders on the way to it are made likewise. ERR_BUSY
 * when it has changed, otherwise OK or ERR_IO, with words. */
int files_write(const char *path, const struct buf *text, const struct buf *before, mode_t mode,
                char *problem, size_t size);
/* Takes the file away, unless it has changed since it was read. */
int files_remove(const char *path, const struct buf *before, char *problem, size_t size);

/* The first folder on the way to a file that is not there, which files_write() would make with all
 * below it; "": all are there. */
void files_missing_folder(const char *path, char *missing, size_t size);
/* Removes the folder of a file and those above it up to `made`, while they are empty. `removed`
 * receives the highest one that went, or "". */
void files_remove_folders(const char *path, const char *made, char *removed, size_t size);

#endif
