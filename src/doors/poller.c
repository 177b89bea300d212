/* Waiting for many sockets at once, with Linux's epoll. */
#include "doors/poller.h"

#include "core/status.h"

#include <limits.h>
#include <sys/epoll.h>

#define EVENTS_AT_ONCE 128

int poller_open(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

static int control(int poller, int operation, int fd, unsigned what, void *owner)
{
    struct epoll_event event = {.data.ptr = owner};
    event.events |= what & POLLER_READ ? EPOLLIN : 0u;
    event.events |= what & POLLER_WRITE ? EPOLLOUT : 0u;
    event.events |= what & POLLER_LEFT ? EPOLLRDHUP : 0u;
    return epoll_ctl(poller, operation, fd, &event) == 0 ? OK : ERR_IO;
}

int poller_add(int poller, int fd, unsigned what, void *owner)
{
    return control(poller, EPOLL_CTL_ADD, fd, what, owner);
}

int poller_change(int poller, int fd, unsigned what, void *owner)
{
    return control(poller, EPOLL_CTL_MOD, fd, what, owner);
}

void poller_remove(int poller, int fd)
{
    control(poller, EPOLL_CTL_DEL, fd, 0, NULL);
}

static unsigned translate(uint32_t events)
{
    unsigned what = 0;
    what |= events & EPOLLIN ? POLLER_READ : 0u;
    what |= events & EPOLLOUT ? POLLER_WRITE : 0u;
    what |= events & EPOLLRDHUP ? POLLER_LEFT : 0u;
    what |= events & (EPOLLERR | EPOLLHUP) ? POLLER_BROKEN : 0u;
    return what;
}

size_t poller_wait(int poller, struct poller_event *events, size_t count, int64_t timeout_ms)
{
    struct epoll_event raw[EVENTS_AT_ONCE];
    int most = count < EVENTS_AT_ONCE ? (int)count : EVENTS_AT_ONCE;
    int timeout = timeout_ms < 0 ? -1 : timeout_ms > INT_MAX ? INT_MAX : (int)timeout_ms;
    int ready = epoll_wait(poller, raw, most, timeout);
    for (int i = 0; i < ready; i++) {
        events[i] = (struct poller_event){raw[i].data.ptr, translate(raw[i].events)};
    }
    return ready > 0 ? (size_t)ready : 0;
}
