/* Opening c-ares and finding its functions. */
#include "net/ares_api.h"

#include "core/library.h"

static const char *const NAMES[] = {"libcares.so.2", NULL};

#define SYMBOL(name)                                                                               \
    {                                                                                              \
        "ares_" #name, offsetof(struct ares_api, name)                                             \
    }

static const struct library_function SYMBOLS[] = {
    SYMBOL(library_init),      SYMBOL(version),    SYMBOL(init_options),
    SYMBOL(set_servers_ports), SYMBOL(destroy),    SYMBOL(getaddrinfo),
    SYMBOL(freeaddrinfo),      SYMBOL(process_fd), SYMBOL(timeout),
};

static struct ares_api table;

static bool start(void)
{
    return table.library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
}

const struct ares_api *ares_api_open(const char **problem)
{
    static struct library library = {
        .names = NAMES,
        .functions = SYMBOLS,
        .count = sizeof SYMBOLS / sizeof *SYMBOLS,
        .table = &table,
        .start = start,
        .missing = "c-ares is missing: install libc-ares2 (apt install libc-ares2)",
        .old = "c-ares is too old: install libc-ares2 1.16 or newer",
        .broken = "c-ares does not start, for want of memory or descriptors; try again in a moment",
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    return library_open(&library, problem) ? &table : NULL;
}
