/* Libraries that are opened when they are first needed: libcurl, libpq, c-ares. Linked in the usual
 * way each would cost every start milliseconds and megabytes, also those that never use it.
 *
 * A library that is open stays open. One that could not be opened is tried again by whoever needs
 * it next: a moment without descriptors or memory passes, and a missing one may be installed. */
#ifndef FORAGE_CORE_LIBRARY_H
#define FORAGE_CORE_LIBRARY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Where a function's pointer belongs in the table. */
struct library_function {
    const char *name;
    size_t offset;
};

struct library {
    const char *const *names; /* of the system's, in the order in which they are tried; NULL ends
                                 it. What came along with the program is tried before them. */
    const struct library_function *functions;
    size_t count;
    void *table;         /* a struct of pointers to functions; written once */
    bool (*start)(void); /* what must be done before the first call, NULL: nothing; false when it
                            cannot be */
    const char *missing; /* the words where there is none, */
    const char *old;     /* where it lacks a function, */
    const char *broken;  /* and where it does not start */
    pthread_mutex_t lock;
    atomic_bool is_open;
};

/* Whether it is open; if not, `problem` says why (never freed; it may be NULL). Safe in every
 * thread. */
bool library_open(struct library *library, const char **problem);

#endif
