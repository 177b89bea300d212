/* A look-up: first the name servers, by c-ares, then what else the system knows. It waits on an
 * epoll descriptor of its own, in which are the sockets of c-ares, a timer for its tries, and the
 * system's answer. */
#include "net/resolve.h"

#include "call/parts.h"
#include "core/clock.h"
#include "net/ares_api.h"
#include "net/system_names.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define MOST_SERVERS   8
#define TRIES          3 /* of each server, each longer than the one before */
#define EVENTS_AT_ONCE 8
#define DNS_PORT       53

struct resolver {
    struct stock *stock;
    struct system_names *system;
    struct ares_addr_port_node servers[MOST_SERVERS]; /* linked; asked where there are any */
    size_t server_count;
};

struct resolve_query {
    struct resolve_question question;
    char *host; /* of the question; NULL: an address */
    struct holding unit;
    int poll;  /* -1: nothing to wait for */
    int timer; /* -1: none */
    int64_t end_ms;
    const struct ares_api *api;
    ares_channel channel; /* NULL: the servers are not asked, or not any more */
    struct system_look_up *system;
    bool heard; /* c-ares has said all it has to say: */
    bool finished;
    int status;
    struct resolve_result result;
};

/* ---- the part ---- */

/* "192.0.2.53", "192.0.2.53:5353", "2001:db8::53" or "[2001:db8::53]:5353". */
static bool read_server(const char *text, size_t length, struct ares_addr_port_node *server)
{
    char address[INET6_ADDRSTRLEN + 2];
    const char *end = text + length;
    const char *colon = memchr(text, ':', length);
    bool bracketed = length && *text == '[';
    const char *close = bracketed ? memchr(text, ']', length) : NULL;
    bool plain_ipv6 = !bracketed && colon && memchr(colon + 1, ':', (size_t)(end - colon - 1));
    const char *address_end = bracketed ? close : plain_ipv6 || !colon ? end : colon;
    const char *first = text + bracketed;
    if (!address_end || (size_t)(address_end - first) >= sizeof address) {
        return false;
    }
    memcpy(address, first, (size_t)(address_end - first));
    address[address_end - first] = '\0';
    const char *rest = address_end + bracketed;
    long port = DNS_PORT;
    if (rest < end) {
        char *after = NULL;
        port = *rest == ':' && rest[1] >= '0' && rest[1] <= '9' ? strtol(rest + 1, &after, 10) : 0;
        if (after != end || port < 1 || port > 65535) {
            return false;
        }
    }
    bool ipv6 = bracketed || plain_ipv6;
    server->family = ipv6 ? AF_INET6 : AF_INET;
    server->udp_port = server->tcp_port = (int)port;
    return inet_pton(server->family, address, &server->addr) == 1;
}

static bool read_servers(struct resolver *resolver, const char *list)
{
    static const char SEPARATORS[] = ", \t";
    list += strspn(list, SEPARATORS);
    while (*list) {
        size_t length = strcspn(list, SEPARATORS);
        struct ares_addr_port_node *server = &resolver->servers[resolver->server_count];
        if (resolver->server_count == MOST_SERVERS || !read_server(list, length, server)) {
            return false;
        }
        if (resolver->server_count++) {
            server[-1].next = server;
        }
        list += length;
        list += strspn(list, SEPARATORS);
    }
    return true;
}

struct resolver *resolver_new(struct stocks *stocks, const char *servers, char *problem,
                              size_t size)
{
    struct resolver *resolver = calloc(1, sizeof *resolver);
    snprintf(problem, size, "out of memory");
    if (!resolver) {
        return NULL;
    }
    if (servers && !read_servers(resolver, servers)) {
        snprintf(problem, size,
                 "FORAGE_NAME_SERVERS must be at most %d addresses with commas between, as "
                 "192.0.2.53 or [2001:db8::53]:5353",
                 MOST_SERVERS);
        return resolver_free(resolver);
    }
    resolver->stock = stock_new(stocks, &(struct stock_rule){
                                            .name = "look_ups",
                                            .help = "names that may be looked up at once",
                                            .all = LIMIT_LOOK_UPS,
                                            .kept = LIMIT_LOOK_UPS / 8,
                                            .among_others = true,
                                        });
    resolver->system = system_names_new(stocks);
    return resolver->stock && resolver->system ? resolver : resolver_free(resolver);
}

struct resolver *resolver_free(struct resolver *resolver)
{
    if (resolver) {
        system_names_free(resolver->system);
        stock_free(resolver->stock);
        free(resolver);
    }
    return NULL;
}

/* ---- the answer ---- */

static void set_port(struct sockaddr_storage *address, int port)
{
    if (address->ss_family == AF_INET) {
        ((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
    } else {
        ((struct sockaddr_in6 *)address)->sin6_port = htons((uint16_t)port);
    }
}

void resolve_add(struct resolve_result *result, const struct sockaddr *address, size_t length,
                 int port)
{
    bool known = address->sa_family == AF_INET || address->sa_family == AF_INET6;
    if (known && length <= sizeof *result->addresses && result->count < LIMIT_RESOLVED_ADDRESSES) {
        struct sockaddr_storage *added = &result->addresses[result->count++];
        memset(added, 0, sizeof *added);
        memcpy(added, address, length);
        set_port(added, port);
    }
}

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

static void finish(struct resolve_query *query, int status, const char *problem)
{
    query->status = status;
    query->result.problem = problem;
    query->finished = true;
}

/* ---- what else the system knows ---- */

static int watch(const struct resolve_query *query, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (events == 0) {
        return epoll_ctl(query->poll, EPOLL_CTL_DEL, fd, &event) == 0 ? OK : ERR_IO;
    }
    bool set = epoll_ctl(query->poll, EPOLL_CTL_MOD, fd, &event) == 0 ||
               (errno == ENOENT && epoll_ctl(query->poll, EPOLL_CTL_ADD, fd, &event) == 0);
    return set ? OK : ERR_IO;
}

static void ask_system(struct resolve_query *query)
{
    struct resolver *resolver = query->question.resolver;
    memset(&query->result, 0, sizeof query->result);
    int status =
        system_look_up_start(resolver ? resolver->system : NULL, &query->question, &query->system);
    if (status == OK) {
        status = watch(query, system_look_up_fd(query->system), EPOLLIN);
    }
    if (status != OK) {
        /* Not ERR_BUSY, which says to wait for this one. */
        finish(query, status == ERR_BUSY ? ERR_LIMIT : status, resolve_refusal(status));
    }
}

/* ---- the name servers ---- */

static const struct {
    int error;
    int status;
    bool ask_system; /* it may know better */
    const char *problem;
} FAILURES[] = {
    {ARES_ENOTFOUND, ERR_NOTFOUND, true, "the name does not exist"},
    {ARES_EBADNAME, ERR_NOTFOUND, true, "the name does not exist"},
    {ARES_ENODATA, ERR_NOTFOUND, true, "the name has no address"},
    {ARES_ECONNREFUSED, ERR_IO, true, "the name servers did not answer"},
    {ARES_ETIMEOUT, ERR_IO, false, "the name servers did not answer"},
    {ARES_ESERVFAIL, ERR_IO, false, "the name servers answered with an error"},
    {ARES_EREFUSED, ERR_IO, false, "the name servers answered with an error"},
    {ARES_EFORMERR, ERR_IO, false, "the name servers answered with an error"},
    {ARES_ENOTIMP, ERR_IO, false, "the name servers answered with an error"},
    {ARES_EBADRESP, ERR_IO, false, "the name servers answered with an error"},
    {ARES_ENOMEM, ERR_NOMEM, false, "there is no memory for the look-up"},
};

/* Which sockets c-ares waits for. */
static void on_socket(void *context, ares_socket_t fd, int readable, int writable)
{
    const struct resolve_query *query = context;
    /* One that cannot be watched is noticed by the timer. */
    (void)!watch(query, fd, (readable ? EPOLLIN : 0) | (writable ? EPOLLOUT : 0));
}

static void on_answer(void *context, int error, int timeouts, struct ares_addrinfo *found)
{
    struct resolve_query *query = context;
    (void)timeouts;
    if (error == ARES_EDESTRUCTION) {
        return; /* abandoned */
    }
    query->heard = true;
    query->status = error;
    if (found) {
        for (const struct ares_addrinfo_node *each = found->nodes; each; each = each->ai_next) {
            resolve_add(&query->result, each->ai_addr, each->ai_addrlen, query->question.port);
        }
        query->api->freeaddrinfo(found);
    }
}

/* Wakes the look-up when c-ares wants to try again, or it has taken too long. */
static void set_timer(const struct resolve_query *query)
{
    int64_t left_ms = query->end_ms - clock_now_ms();
    left_ms = left_ms > 0 ? left_ms : 1;
    struct timeval most = {.tv_sec = (time_t)(left_ms / 1000),
                           .tv_usec = (suseconds_t)(left_ms % 1000 * 1000)};
    struct timeval left = most;
    if (query->channel) {
        query->api->timeout(query->channel, &most, &left);
    }
    struct itimerspec when = {
        .it_value = {.tv_sec = left.tv_sec, .tv_nsec = (left.tv_usec + 1) * 1000L - 1}};
    timerfd_settime(query->timer, 0, &when, NULL);
}

/* Draws the conclusion when c-ares is done. */
static void conclude(struct resolve_query *query)
{
    const struct resolver *resolver = query->question.resolver;
    int error = query->status;
    query->heard = false;
    query->api->destroy(query->channel);
    query->channel = NULL;
    if (error == ARES_SUCCESS) {
        error = query->result.count ? ARES_SUCCESS : ARES_ENODATA;
    }
    if (error == ARES_SUCCESS) {
        finish(query, OK, NULL);
        return;
    }
    for (size_t i = 0; i < sizeof FAILURES / sizeof *FAILURES; i++) {
        if (FAILURES[i].error == error) {
            bool others = FAILURES[i].ask_system && !(resolver && resolver->server_count) &&
                          system_has_other_sources();
            if (others) {
                ask_system(query);
            } else {
                finish(query, FAILURES[i].status, FAILURES[i].problem);
            }
            return;
        }
    }
    finish(query, ERR_IO, "the name could not be looked up");
}

static int open_channel(struct resolve_query *query)
{
    struct resolver *resolver = query->question.resolver;
    struct ares_options options = {.timeout = TIME_NAME_SERVER_MS,
                                   .tries = TRIES,
                                   .sock_state_cb = on_socket,
                                   .sock_state_cb_data = query};
    int error = query->api->init_options(
        &query->channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
    if (error != ARES_SUCCESS) {
        query->channel = NULL;
    } else if (resolver && resolver->server_count) {
        error = query->api->set_servers_ports(query->channel, resolver->servers);
    }
    return error == ARES_SUCCESS ? OK : error == ARES_ENOMEM ? ERR_NOMEM : ERR_IO;
}

static void ask_servers(struct resolve_query *query)
{
    struct ares_addrinfo_hints hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    int status = open_channel(query);
    if (status != OK) {
        finish(query, status, "the name could not be looked up");
        return;
    }
    query->api->getaddrinfo(query->channel, query->question.host, NULL, &hints, on_answer, query);
    if (query->heard) {
        conclude(query);
    }
}

/* ---- a query ---- */

/* Does what there is to do. */
static void step(struct resolve_query *query)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    uint64_t expirations;
    int count = epoll_wait(query->poll, events, EVENTS_AT_ONCE, 0);
    for (int i = 0; i < count && query->channel && !query->heard; i++) {
        int fd = events[i].data.fd;
        bool reads = events[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP);
        bool writes = events[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP);
        if (fd == query->timer) { /* its time is all that it has to tell */
            (void)!read(fd, &expirations, sizeof expirations);
            reads = writes = false;
        }
        query->api->process_fd(query->channel, reads ? fd : ARES_SOCKET_BAD,
                               writes ? fd : ARES_SOCKET_BAD);
    }
    if (query->heard) {
        conclude(query);
    }
    if (query->system && !query->finished) {
        int status = system_look_up_finish(query->system, &query->result);
        if (status != ERR_BUSY) {
            finish(query, status, query->result.problem);
        }
    }
    if (!query->finished && clock_now_ms() >= query->end_ms) {
        finish(query, ERR_IO, "the name servers did not answer");
    }
    if (!query->finished) {
        set_timer(query);
    }
}

static int open_query(struct resolve_query *query)
{
    query->poll = epoll_create1(EPOLL_CLOEXEC);
    query->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return query->poll >= 0 && query->timer >= 0 && watch(query, query->timer, EPOLLIN) == OK
               ? OK
               : ERR_NOMEM;
}

static int begin(struct resolve_query *query)
{
    struct resolver *resolver = query->question.resolver;
    const char *problem;
    int status = resolver ? stock_take(resolver->stock, query->question.owner,
                                       query->question.from_kept, 1, &query->unit)
                          : OK;
    if (status == OK) {
        status = open_query(query);
    }
    if (status != OK) {
        return status;
    }
    query->end_ms = clock_now_ms() + TIME_LOOK_UP_MS;
    query->api = ares_api_open(&problem);
    if (query->api) {
        ask_servers(query);
    } else if (resolver && resolver->server_count) {
        finish(query, ERR_IO, problem);
    } else {
        ask_system(query);
    }
    if (!query->finished) {
        set_timer(query);
    }
    return OK;
}

int resolve_start(const struct resolve_question *question, struct resolve_query **out)
{
    struct resolve_query *query = calloc(1, sizeof *query);
    *out = NULL;
    if (!query) {
        return ERR_NOMEM;
    }
    query->poll = query->timer = -1;
    query->question = *question;
    int status = OK;
    if (is_address(question->host, question->port, &query->result)) {
        finish(query, OK, NULL);
    } else {
        query->question.host = query->host = strdup(question->host);
        status = query->host ? begin(query) : ERR_NOMEM;
    }
    *out = status == OK ? query : resolve_free(query);
    return status;
}

const char *resolve_refusal(int status)
{
    switch (status) {
    case ERR_BUSY:
        return "too many names are being looked up";
    case ERR_LIMIT:
        return "too many names are being looked up for one caller or page";
    default:
        return "there is no memory or descriptor for the look-up";
    }
}

int resolve_fd(const struct resolve_query *query)
{
    return query->finished ? -1 : query->poll;
}

int resolve_finish(struct resolve_query *query, struct resolve_result *result)
{
    if (!query->finished) {
        step(query);
    }
    if (!query->finished) {
        return ERR_BUSY;
    }
    *result = query->result;
    return query->status;
}

struct resolve_query *resolve_free(struct resolve_query *query)
{
    if (query) {
        if (query->channel) {
            query->api->destroy(query->channel);
        }
        system_look_up_free(query->system);
        if (query->timer >= 0) {
            close(query->timer);
        }
        if (query->poll >= 0) {
            close(query->poll);
        }
        stock_give_all(&query->unit);
        free(query->host);
        free(query);
    }
    return NULL;
}

int resolve_host(struct call *call, const char *host, int port, struct resolve_result *result)
{
    struct resolve_question question = {.resolver = call_parts(call)->resolver,
                                        .owner = call_owner(call),
                                        .from_kept = true,
                                        .host = host,
                                        .port = port};
    struct resolve_query *query;
    memset(result, 0, sizeof *result);
    int status = resolve_start(&question, &query);
    if (status != OK) {
        result->problem = resolve_refusal(status);
        return status;
    }
    while ((status = resolve_finish(query, result)) == ERR_BUSY) {
        struct pollfd ready = {.fd = resolve_fd(query), .events = POLLIN};
        int waited = call_wait(call, &ready, 1, -1);
        if (waited < 0) {
            status = waited;
            break;
        }
    }
    resolve_free(query);
    return status;
}
