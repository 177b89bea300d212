/* Looking through PATH. */
#include "core/on_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_program(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0;
}

bool find_on_path(const char *name, char *path, size_t size)
{
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        size_t length = strcspn(folder, ":");
        int written = snprintf(path, size, "%.*s/%s", (int)length, folder, name);
        if (*folder == '/' && written > 0 && (size_t)written < size && is_program(path)) {
            return true;
        }
        folder += length + (folder[length] == ':');
    }
    return false;
}
