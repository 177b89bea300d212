/* Finding what came with the program. */
#include "core/own_files.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#else
#include <sys/auxv.h>
#endif

bool own_program(char *path, size_t size)
{
#ifdef __APPLE__
    uint32_t room = (uint32_t)size;
    return _NSGetExecutablePath(path, &room) == 0;
#else
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length > 0 && (size_t)length < size - 1) {
        path[length] = '\0';
        return true;
    }
    /* Where /proc is not mounted: as it was started. */
    char *found = realpath((const char *)getauxval(AT_EXECFN), NULL);
    int written = found ? snprintf(path, size, "%s", found) : 0;
    free(found);
    return written > 0 && (size_t)written < size;
#endif
}

bool own_file(const char *folder, const char *name, char *path, size_t size)
{
    char program[OWN_PATH_SIZE];
    char *slash = own_program(program, sizeof program) ? strrchr(program, '/') : NULL;
    if (!slash) {
        return false;
    }
    *slash = '\0';
    int length = snprintf(path, size, "%s/../%s/%s", program, folder, name);
    if (length > 0 && (size_t)length < size && access(path, R_OK) == 0) {
        return true;
    }
    length = snprintf(path, size, "%s/%s", program, name);
    return length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

void *own_network_library(void)
{
    char path[OWN_PATH_SIZE];
    return own_file("lib/forage", "libforage-net.so", path, sizeof path)
               ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
               : NULL;
}
