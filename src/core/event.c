/* What a thread waits for besides data: events over eventfd, signals over signalfd. */
#include "core/event.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
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

/* ---- signals ---- */

int signals_open(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0 || signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
        signal(SIGXFSZ, SIG_IGN) == SIG_ERR) {
        return -1;
    }
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int signals_take(int signals)
{
    struct signalfd_siginfo info;
    return read(signals, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

static atomic_bool a_thread_was_started;

int thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *), void *argument)
{
    pthread_t unjoined;
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    if (pthread_attr_init(&attributes) != 0) {
        return ERR_NOMEM;
    }
    if (stack_bytes) {
        pthread_attr_setstacksize(&attributes, stack_bytes);
    }
    if (!thread) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    }
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* a fault in a mapped file (core/mapping.h); blocked, it would kill */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread ? thread : &unjoined, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!error) {
        atomic_store(&a_thread_was_started, true);
    }
    return error ? ERR_NOMEM : OK;
}

bool threads_began(void)
{
    return atomic_load(&a_thread_was_started);
}
