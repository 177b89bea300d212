/* Events over eventfd. */
#include "core/event.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int event_open(void)
{
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void event_signal(int event)
{
    uint64_t one = 1;
    while (write(event, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void event_clear(int event)
{
    uint64_t count;
    while (read(event, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

int event_close(int event)
{
    if (event >= 0) {
        close(event);
    }
    return -1;
}
