/* The running program's own path; each system has its own way to say it. */
#include "base/own_program.h"

#include <stdint.h>
#include <unistd.h>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

bool own_program(char *path, size_t size)
{
#ifdef __APPLE__
    uint32_t room = (uint32_t)size;
    return _NSGetExecutablePath(path, &room) == 0;
#else
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0 || (size_t)length == size - 1) {
        return false;
    }
    path[length] = '\0';
    return true;
#endif
}
