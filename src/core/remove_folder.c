/* Removing a folder with everything in it. */
#include "core/remove_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define MOST_DEPTH 64
#define PAUSE_MS   25

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void remove_contents(int folder, unsigned depth)
{
    DIR *listing = fdopendir(folder);
    if (!listing) {
        close(folder);
        return;
    }
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (is_dots(entry->d_name) || unlinkat(folder, entry->d_name, 0) == 0 || depth == 0) {
            continue;
        }
        int below = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0) {
            remove_contents(below, depth - 1);
        }
        unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    }
    closedir(listing);
}

static bool remove_once(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) {
        remove_contents(folder, MOST_DEPTH);
    }
    return rmdir(path) == 0 || errno == ENOENT;
}

bool remove_folder(const char *path, int tries)
{
    for (int i = 0; i < tries; i++) {
        if (i) {
            poll(NULL, 0, PAUSE_MS);
        }
        if (remove_once(path)) {
            return true;
        }
    }
    return false;
}
