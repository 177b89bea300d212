/* Mappings of the process, in a table that the handler of SIGBUS can read without a lock: whoever
 * faults in a mapping is using it, so its row does not change meanwhile. */
#include "core/mapping.h"

#include "core/limits.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct mapping {
    _Atomic uintptr_t start; /* the two are 0 in a row that is free */
    _Atomic uintptr_t end;
    atomic_bool damaged;
};

/* Of the process, as signals are. */
static struct {
    pthread_mutex_t lock; /* for changing rows */
    pthread_once_t once;
    struct sigaction before; /* what SIGBUS did until then */
    atomic_size_t rows;      /* that were ever used */
    struct mapping all[LIMIT_MAPPINGS];
} mappings = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* ---- in the handler ---- */

/* A row that others are just changing may be read half; its end is looked at twice. */
static struct mapping *mapping_around(uintptr_t address)
{
    size_t rows = atomic_load(&mappings.rows);
    for (size_t i = 0; i < rows; i++) {
        struct mapping *row = &mappings.all[i];
        uintptr_t end = atomic_load(&row->end);
        uintptr_t start = atomic_load(&row->start);
        if (start <= address && address < end && atomic_load(&row->end) == end) {
            return row;
        }
    }
    return NULL;
}

/* Zeros in the place of all of it, so that it is one fault only. The bare call of the system: no
 * library is promised to work in a handler, and what watches threads would call it a race. */
static bool replace(struct mapping *mapping)
{
    uintptr_t start = atomic_load(&mapping->start);
    atomic_store(&mapping->damaged, true);
    return syscall(SYS_mmap, start, atomic_load(&mapping->end) - start, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (long)start;
}

static void on_bus_error(int number, siginfo_t *about, void *context)
{
    int error = errno;
    struct mapping *mapping = about->si_code > 0 ? mapping_around((uintptr_t)about->si_addr) : NULL;
    if (mapping && replace(mapping)) {
        errno = error;
        return;
    }
    if (mappings.before.sa_flags & SA_SIGINFO) {
        mappings.before.sa_sigaction(number, about, context);
    } else if (mappings.before.sa_handler != SIG_DFL && mappings.before.sa_handler != SIG_IGN) {
        mappings.before.sa_handler(number);
    } else {
        signal(number, SIG_DFL);
        raise(number); /* taken when this function returns */
    }
    errno = error;
}

/* ---- their life ---- */

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &mappings.before);
}

static struct mapping *take_row(void)
{
    size_t rows = atomic_load(&mappings.rows);
    size_t i = 0;
    while (i < rows && atomic_load(&mappings.all[i].start) != 0) {
        i++;
    }
    if (i == LIMIT_MAPPINGS) {
        return NULL;
    }
    if (i == rows) {
        atomic_store(&mappings.rows, rows + 1);
    }
    return &mappings.all[i];
}

int mapping_open(int fd, size_t length, struct mapping **mapping)
{
    pthread_once(&mappings.once, install);
    void *data = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
        return errno == ENOMEM ? ERR_NOMEM : ERR_IO;
    }
    pthread_mutex_lock(&mappings.lock);
    struct mapping *row = take_row();
    if (row) {
        atomic_store(&row->damaged, false);
        atomic_store(&row->start, (uintptr_t)data);
        atomic_store(&row->end, (uintptr_t)data + length);
    }
    pthread_mutex_unlock(&mappings.lock);
    if (!row) {
        munmap(data, length);
        return ERR_LIMIT;
    }
    *mapping = row;
    return OK;
}

struct mapping *mapping_close(struct mapping *mapping)
{
    if (mapping) {
        uintptr_t start = atomic_load(&mapping->start);
        uintptr_t end = atomic_load(&mapping->end);
        pthread_mutex_lock(&mappings.lock);
        atomic_store(&mapping->end, 0);
        atomic_store(&mapping->start, 0);
        pthread_mutex_unlock(&mappings.lock);
        munmap((void *)start, end - start);
    }
    return NULL;
}

const unsigned char *mapping_data(const struct mapping *mapping)
{
    return (const unsigned char *)atomic_load(&mapping->start);
}

bool mapping_damaged(const struct mapping *mapping)
{
    return atomic_load(&mapping->damaged);
}
