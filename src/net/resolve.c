/* Look-ups in threads of their own. A query is shared by its owner and its thread; the last of the
 * two frees it. */
#include "net/resolve.h"

#include "core/event.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Enough for the modules that glibc loads to look names up. */
#define STACK_BYTES KIB(256)

struct resolve_query {
    char *host;
    int port;
    int event;
    atomic_uint references;
    atomic_bool finished; /* after it, `status` and `result` do not change any more */
    int status;
    struct resolve_result result;
};

static atomic_uint running_threads;

static void set_port(struct sockaddr_storage *address, int port)
{
    if (address->ss_family == AF_INET) {
        ((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
    } else {
        ((struct sockaddr_in6 *)address)->sin6_port = htons((uint16_t)port);
    }
}

/* ---- the answer ---- */

static bool is_address(const char *host, int port, struct resolve_result *result)
{
    struct sockaddr_storage *address = &result->addresses[0];
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, host, &((struct sockaddr_in *)address)->sin_addr) == 1) {
        address->ss_family = AF_INET;
    } else if (inet_pton(AF_INET6, host, &((struct sockaddr_in6 *)address)->sin6_addr) == 1) {
        address->ss_family = AF_INET6;
    } else {
        return false;
    }
    set_port(address, port);
    result->count = 1;
    return true;
}

static void copy_addresses(const struct addrinfo *list, int port, struct resolve_result *result)
{
    for (; list && result->count < LIMIT_RESOLVED_ADDRESSES; list = list->ai_next) {
        bool known = list->ai_family == AF_INET || list->ai_family == AF_INET6;
        if (known && list->ai_addrlen <= sizeof *result->addresses) {
            struct sockaddr_storage *address = &result->addresses[result->count++];
            memset(address, 0, sizeof *address);
            memcpy(address, list->ai_addr, list->ai_addrlen);
            set_port(address, port);
        }
    }
}

static const struct {
    int error;
    int status;
    const char *problem;
} FAILURES[] = {
    {EAI_NONAME, ERR_NOTFOUND, "the name does not exist"},
#ifdef EAI_NODATA
    {EAI_NODATA, ERR_NOTFOUND, "the name has no address"},
#endif
    {EAI_AGAIN, ERR_IO, "the name servers did not answer"},
    {EAI_FAIL, ERR_IO, "the name servers answered with an error"},
    {EAI_MEMORY, ERR_NOMEM, "there is no memory for the look-up"},
};

static int look_up(const char *host, int port, struct resolve_result *result)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int error = getaddrinfo(host, NULL, &hints, &list);
    if (error == 0) {
        copy_addresses(list, port, result);
        freeaddrinfo(list);
        result->problem = result->count ? NULL : "the name has no address";
        return result->count ? OK : ERR_NOTFOUND;
    }
    for (size_t i = 0; i < sizeof FAILURES / sizeof *FAILURES; i++) {
        if (FAILURES[i].error == error) {
            result->problem = FAILURES[i].problem;
            return FAILURES[i].status;
        }
    }
    result->problem = "the name could not be looked up";
    return ERR_IO;
}

/* ---- the query ---- */

static void drop_reference(struct resolve_query *query)
{
    if (atomic_fetch_sub(&query->references, 1) == 1) {
        event_close(query->event);
        free(query->host);
        free(query);
    }
}

static struct resolve_query *new_query(const char *host, int port)
{
    struct resolve_query *query = calloc(1, sizeof *query);
    if (!query) {
        return NULL;
    }
    atomic_init(&query->references, 1);
    query->port = port;
    query->host = strdup(host);
    query->event = event_open();
    if (!query->host || query->event < 0) {
        drop_reference(query);
        return NULL;
    }
    return query;
}

static void finish(struct resolve_query *query, int status)
{
    query->status = status;
    atomic_store(&query->finished, true);
    event_signal(query->event);
}

static void *run(void *argument)
{
    struct resolve_query *query = argument;
    finish(query, look_up(query->host, query->port, &query->result));
    drop_reference(query);
    atomic_fetch_sub(&running_threads, 1);
    return NULL;
}

int resolve_start(const char *host, int port, struct resolve_query **query)
{
    *query = new_query(host, port);
    if (!*query) {
        return ERR_NOMEM;
    }
    if (is_address(host, port, &(*query)->result)) {
        finish(*query, OK);
        return OK;
    }
    int status = ERR_BUSY;
    if (atomic_fetch_add(&running_threads, 1) < LIMIT_RESOLVER_THREADS) {
        atomic_fetch_add(&(*query)->references, 1);
        status = thread_start(NULL, STACK_BYTES, run, *query);
        if (status != OK) {
            drop_reference(*query);
        }
    }
    if (status != OK) {
        atomic_fetch_sub(&running_threads, 1);
        *query = resolve_free(*query);
    }
    return status;
}

int resolve_fd(const struct resolve_query *query)
{
    return query->event;
}

int resolve_finish(struct resolve_query *query, struct resolve_result *result)
{
    if (!atomic_load(&query->finished)) {
        return ERR_BUSY;
    }
    *result = query->result;
    return query->status;
}

struct resolve_query *resolve_free(struct resolve_query *query)
{
    if (query) {
        drop_reference(query);
    }
    return NULL;
}

int resolve_host(struct call *call, const char *host, int port, struct resolve_result *result)
{
    struct resolve_query *query;
    memset(result, 0, sizeof *result);
    if (is_address(host, port, result)) {
        return OK;
    }
    int status = resolve_start(host, port, &query);
    if (status != OK) {
        result->problem = status == ERR_BUSY ? "too many names are being looked up"
                                             : "there is no memory for the look-up";
        return status;
    }
    struct pollfd ready = {.fd = resolve_fd(query), .events = POLLIN};
    int waited = call_wait(call, &ready, 1, -1);
    status = waited < 0 ? waited : resolve_finish(query, result);
    resolve_free(query);
    return status;
}
