/* The reserve of descriptors: one of the process, as descriptors are. */
#include "core/spare.h"

#include "core/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int spares[LIMIT_SPARE_DESCRIPTORS]; /* 0: not there */
static bool is_kept;

static void fill(void)
{
    for (size_t i = 0; i < LIMIT_SPARE_DESCRIPTORS; i++) {
        if (spares[i] <= 0) {
            spares[i] = i > 0 && spares[0] > 0 ? fcntl(spares[0], F_DUPFD_CLOEXEC, 0)
                                               : open("/dev/null", O_RDONLY | O_CLOEXEC);
        }
    }
}

void spare_keep(void)
{
    pthread_mutex_lock(&lock);
    is_kept = true;
    fill();
    pthread_mutex_unlock(&lock);
}

void spare_lend(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < LIMIT_SPARE_DESCRIPTORS; i++) {
        if (spares[i] > 0) {
            close(spares[i]);
            spares[i] = 0;
        }
    }
}

void spare_return(void)
{
    int error = errno;
    if (is_kept) {
        fill();
    }
    pthread_mutex_unlock(&lock);
    errno = error;
}
