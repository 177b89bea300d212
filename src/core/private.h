/* Folders and files that belong to the user alone. What somebody else owns or may write to is
 * refused (errno EPERM), and so is whatever is no file; links are not followed, pipes not waited
 * for. Root works for whoever a folder belongs to: what it makes there is theirs. */
#ifndef FORAGE_CORE_PRIVATE_H
#define FORAGE_CORE_PRIVATE_H

#include "core/status.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Opens it. OK with a descriptor; ERR_NOTFOUND; ERR_IO with errno saying why. */
MUST_CHECK int private_folder(const char *path, int *fd);
/* Makes those of the last `parts` parts of the path that are missing. OK; ERR_IO with errno. */
MUST_CHECK int private_folder_make(const char *path, unsigned parts);

/* Opens a file in a folder, with O_RDONLY and the like. OK with a descriptor and what fstat() says;
 * ERR_NOTFOUND; ERR_IO with errno saying why. */
MUST_CHECK int private_file(int folder, const char *name, int flags, int *fd, struct stat *about);
/* Makes a file that is not there yet, for writing. OK; ERR_IO with errno saying why. */
MUST_CHECK int private_file_new(int folder, const char *name, int *fd);
/* Gives what root made to whoever the folder belongs to. Whether it is theirs, or need not be. */
bool private_hand_over(int folder, int fd);

#endif
