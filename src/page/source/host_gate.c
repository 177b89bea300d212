/* A list of the hosts that are spoken to now, each with its line of waiters. A place that becomes
 * free is handed to the first in line rather than put back, so that nobody can slip in between. */
#include "page/source/host_gate.h"

#include "core/event.h"
#include "text/url.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiter {
    struct waiter *next;
    int event;
    bool admitted;
};

struct host {
    struct host *next;
    char name[URL_HOST_SIZE];
    int port;
    size_t inside;
    struct waiter *line; /* the first to be admitted first */
};

struct host_gate {
    pthread_mutex_t lock;
    size_t most;
    struct host *hosts;
};

struct host_gate *host_gate_new(size_t most_at_once)
{
    struct host_gate *gate = calloc(1, sizeof *gate);
    if (gate) {
        gate->most = most_at_once;
        pthread_mutex_init(&gate->lock, NULL);
    }
    return gate;
}

struct host_gate *host_gate_free(struct host_gate *gate)
{
    if (gate) {
        pthread_mutex_destroy(&gate->lock);
        free(gate);
    }
    return NULL;
}

/* ---- under the lock ---- */

static struct host **find(struct host_gate *gate, const char *name, int port)
{
    struct host **link = &gate->hosts;
    while (*link && !((*link)->port == port && strcmp((*link)->name, name) == 0)) {
        link = &(*link)->next;
    }
    return link;
}

static struct host *find_or_add(struct host_gate *gate, const char *name, int port)
{
    struct host **link = find(gate, name, port);
    if (!*link) {
        struct host *host = calloc(1, sizeof *host);
        if (!host) {
            return NULL;
        }
        snprintf(host->name, sizeof host->name, "%s", name);
        host->port = port;
        *link = host;
    }
    return *link;
}

static void stand_in_line(struct host *host, struct waiter *waiter)
{
    struct waiter **end = &host->line;
    while (*end) {
        end = &(*end)->next;
    }
    *end = waiter;
}

static void leave_line(struct host *host, const struct waiter *waiter)
{
    struct waiter **link = &host->line;
    while (*link && *link != waiter) {
        link = &(*link)->next;
    }
    if (*link) {
        *link = waiter->next;
    }
}

/* Hands a free place to the first in line, or forgets a host that nobody speaks to. */
static void free_place(struct host_gate *gate, const char *name, int port)
{
    struct host **link = find(gate, name, port);
    struct host *host = *link;
    if (host->line) {
        struct waiter *first = host->line;
        host->line = first->next;
        first->admitted = true;
        event_signal(first->event);
    } else if (--host->inside == 0) {
        *link = host->next;
        free(host);
    }
}

/* ---- entering and leaving ---- */

/* OK when admitted at once, ERR_BUSY when `waiter` stands in line. */
static int try_to_enter(struct host_gate *gate, const char *name, int port, struct waiter *waiter)
{
    int status = ERR_NOMEM;
    pthread_mutex_lock(&gate->lock);
    struct host *host = find_or_add(gate, name, port);
    if (host && host->inside < gate->most) {
        host->inside++;
        status = OK;
    } else if (host) {
        waiter->event = event_open();
        status = waiter->event < 0 ? ERR_IO : ERR_BUSY;
    }
    if (status == ERR_BUSY) {
        stand_in_line(host, waiter);
    }
    pthread_mutex_unlock(&gate->lock);
    return status;
}

/* Ends a wait. When it was given up and the place came at the same moment, that is passed on. */
static void stop_waiting(struct host_gate *gate, const char *name, int port, struct waiter *waiter,
                         bool gives_up)
{
    pthread_mutex_lock(&gate->lock);
    if (gives_up && waiter->admitted) {
        free_place(gate, name, port);
    } else if (gives_up) {
        leave_line(*find(gate, name, port), waiter);
    }
    pthread_mutex_unlock(&gate->lock);
}

int host_gate_enter(struct host_gate *gate, struct call *call, const char *host, int port,
                    int64_t patience_ms)
{
    struct waiter waiter = {.event = -1};
    int status = try_to_enter(gate, host, port, &waiter);
    if (status == ERR_BUSY) {
        struct pollfd watched = {.fd = waiter.event, .events = POLLIN};
        int ready = call_wait(call, &watched, 1, patience_ms);
        status = ready > 0 ? OK : ready == 0 ? ERR_BUSY : ready;
        stop_waiting(gate, host, port, &waiter, status != OK);
    }
    event_close(waiter.event);
    return status;
}

void host_gate_leave(struct host_gate *gate, const char *host, int port)
{
    pthread_mutex_lock(&gate->lock);
    free_place(gate, host, port);
    pthread_mutex_unlock(&gate->lock);
}
