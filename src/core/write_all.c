/* write() takes as much as it likes. */
#include "core/write_all.h"

#include "core/status.h"

#include <errno.h>
#include <unistd.h>

int write_all(int fd, const char *data, size_t length)
{
    while (length) {
        ssize_t written = write(fd, data, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return ERR_IO;
        }
        data += written;
        length -= (size_t)written;
    }
    return OK;
}
