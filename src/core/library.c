/* Opening a library: the one that came with the program, or the system's; at the second try with
 * the descriptors that are kept in reserve. */
#include "core/library.h"

#include "core/files.h"
#include "core/spare.h"

#include <dlfcn.h>
#include <string.h>

/* The library that holds all of them, where they came along. */
static void *open_own(void)
{
    char path[OWN_PATH_SIZE];
    return own_file("lib/forage", "libforage-net.so", path, sizeof path)
               ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
               : NULL;
}

static bool find_functions(const struct library *library, void *handle)
{
    for (size_t i = 0; i < library->count; i++) {
        void *function = dlsym(handle, library->functions[i].name);
        if (!function) {
            return false;
        }
        /* C has no conversion from an object's pointer to a function's; POSIX says that they are
         * alike. */
        memcpy((char *)library->table + library->functions[i].offset, &function, sizeof function);
    }
    return true;
}

/* Whether the last dlopen() failed for want of memory or of a descriptor. glibc tells so in words
 * alone, which nobody translates here. */
static bool was_in_want(void)
{
    const char *words = dlerror();
    return words && (strstr(words, "Too many open files") || strstr(words, "allocate memory"));
}

/* NULL when it is open, otherwise why not. */
static const char *try_once(const struct library *library)
{
    bool in_want = false;
    void *handle = open_own();
    for (size_t i = 0; !handle && library->names[i]; i++) {
        handle = dlopen(library->names[i], RTLD_NOW | RTLD_LOCAL);
        in_want |= !handle && was_in_want();
    }
    if (!handle) {
        return in_want ? library->broken : library->missing;
    }
    const char *problem = !find_functions(library, handle)      ? library->old
                          : library->start && !library->start() ? library->broken
                                                                : NULL;
    if (problem) {
        dlclose(handle);
    }
    return problem;
}

bool library_open(struct library *library, const char **problem)
{
    const char *words = NULL;
    if (!atomic_load_explicit(&library->is_open, memory_order_acquire)) {
        pthread_mutex_lock(&library->lock);
        if (!atomic_load(&library->is_open)) {
            words = try_once(library);
            if (words) {
                spare_lend();
                words = try_once(library);
                spare_return();
            }
            atomic_store(&library->is_open, !words);
        }
        pthread_mutex_unlock(&library->lock);
    }
    if (problem) {
        *problem = words;
    }
    return !words;
}
