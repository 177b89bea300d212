/* Removing a folder with everything in it. */
#ifndef FORAGE_CORE_REMOVE_FOLDER_H
#define FORAGE_CORE_REMOVE_FOLDER_H

#include <stdbool.h>

/* Removes it by descriptors: a link that somebody puts in the place of a folder is removed, not
 * followed. Whoever used it may still be writing while it dies, so it is tried up to `tries` times
 * with a short pause between. Whether it is gone. */
bool remove_folder(const char *path, int tries);

#endif
