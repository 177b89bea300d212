/* The server: reactors that wait and let connections take their steps, and the accepting of new
 * ones. The first reactor accepts and gives each connection to the reactor that has the fewest. */
#include "server/server.h"

#include "core/clock.h"
#include "core/event.h"
#include "core/processor.h"
#include "core/spare.h"
#include "core/status.h"
#include "server/server_internal.h"
#include "server/sockets.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MOST_REACTORS   4
#define EVENTS_AT_ONCE  128
#define ACCEPTS_AT_ONCE 64
#define ACCEPT_PAUSE_MS 100 /* when there are no descriptors left */

/* A thread runs one reactor, of whichever program. */
static _Thread_local struct reactor *here;

struct reactor *reactor_here(void)
{
    return here;
}

/* ---- a reactor ---- */

int reactor_watch(struct reactor *reactor, int operation, int fd, uint32_t events, void *owner)
{
    struct epoll_event event = {.events = events, .data.ptr = owner};
    return epoll_ctl(reactor->poller, operation, fd, &event) == 0 ? OK : ERR_IO;
}

static struct reactor *reactor_new(struct server *server)
{
    struct reactor *reactor = calloc(1, sizeof *reactor);
    if (!reactor) {
        return NULL;
    }
    reactor->server = server;
    reactor->shares = shares_ref(server->shares);
    reactor->references = 1;
    reactor->poller = epoll_create1(EPOLL_CLOEXEC);
    reactor->bell = event_open();
    if (reactor->poller < 0 || reactor->bell < 0 ||
        reactor_watch(reactor, EPOLL_CTL_ADD, reactor->bell, EPOLLIN, &reactor->bell) != OK) {
        return reactor_free(reactor);
    }
    return reactor;
}

struct reactor *reactor_ref(struct reactor *reactor)
{
    atomic_fetch_add_explicit(&reactor->references, 1, memory_order_relaxed);
    return reactor;
}

struct reactor *reactor_free(struct reactor *reactor)
{
    if (reactor && atomic_fetch_sub_explicit(&reactor->references, 1, memory_order_acq_rel) == 1) {
        event_close(reactor->bell);
        if (reactor->poller >= 0) {
            close(reactor->poller);
        }
        deadlines_done(&reactor->deadlines);
        shares_free(reactor->shares);
        free(reactor);
    }
    return NULL;
}

struct exchange *reactor_spare(struct reactor *reactor)
{
    if (!reactor->spare) {
        reactor->spare = exchange_new(reactor);
    }
    return reactor->spare;
}

/* Both lists are pushed to by any thread and taken whole by the reactor. Only who finds a list
 * empty rings: the others know that somebody did. */
bool reactor_leave(struct reactor *reactor, struct exchange *exchange)
{
    struct exchange *first = atomic_load(&reactor->ready);
    do {
        exchange->next_ready = first;
    } while (!atomic_compare_exchange_weak(&reactor->ready, &first, exchange));
    return first == NULL;
}

static bool leave_connection(struct reactor *reactor, struct connection *connection)
{
    struct connection *first = atomic_load(&reactor->arrivals);
    do {
        connection->next = first;
    } while (!atomic_compare_exchange_weak(&reactor->arrivals, &first, connection));
    return first == NULL;
}

void reactor_ring(struct reactor *reactor)
{
    event_signal(reactor->bell);
}

/* ---- accepting, on the first reactor ---- */

static void stop_listening(struct server *server)
{
    if (server->listening >= 0) {
        reactor_watch(server->reactors[0], EPOLL_CTL_DEL, server->listening, 0, NULL);
        close(server->listening);
        server->listening = -1;
    }
    server->accept_again_at = DEADLINE_NEVER;
}

static struct reactor *least_loaded(struct server *server)
{
    struct reactor *best = server->reactors[0];
    for (unsigned i = 1; i < server->reactor_count; i++) {
        if (atomic_load(&server->reactors[i]->load) < atomic_load(&best->load)) {
            best = server->reactors[i];
        }
    }
    return best;
}

static void welcome(struct server *server, int fd, const char *peer, bool as_surplus)
{
    struct connection *connection = connection_new(fd, peer);
    if (!connection) {
        return;
    }
    connection->surplus = as_surplus;
    if (!as_surplus) {
        entrance_admit(server, connection);
    }
    struct reactor *reactor = connection->surplus ? here : least_loaded(server);
    atomic_fetch_add(&server->connections, 1);
    atomic_fetch_add(&reactor->load, 1);
    if (reactor == here) {
        connection_adopt(connection, reactor);
    } else if (leave_connection(reactor, connection)) {
        reactor_ring(reactor);
    }
}

/* Without descriptors or memory the listening socket stays readable: it is left alone for a moment,
 * so that the reactor does not spin. */
static void pause_accepting(struct server *server)
{
    reactor_watch(here, EPOLL_CTL_DEL, server->listening, 0, NULL);
    server->accept_again_at = here->now + ACCEPT_PAUSE_MS;
}

static void resume_accepting(struct server *server)
{
    server->accept_again_at = DEADLINE_NEVER;
    if (reactor_watch(here, EPOLL_CTL_ADD, server->listening, EPOLLIN, &server->listening) != OK) {
        server->accept_again_at = here->now + ACCEPT_PAUSE_MS;
    }
}

/* Without a descriptor accept() says so even where nobody waits; then nobody has to go. */
static bool somebody_waits(const struct server *server)
{
    struct pollfd listening = {.fd = server->listening, .events = POLLIN};
    return poll(&listening, 1, 0) > 0;
}

/* Where no descriptor is left, whoever has been idle longest goes, or the oldest surplus one. Where
 * there is nobody, the descriptors in reserve take in one connection, as a surplus one: it may ask
 * how the server is. */
static int accept_in_want(struct server *server, char peer[INET6_ADDRSTRLEN], bool *as_surplus)
{
    struct connection *leaving = here->idle.first ? here->idle.first : server->surplus.first;
    if (!somebody_waits(server)) {
        errno = EAGAIN;
        return -1;
    }
    if (leaving) {
        connection_close(leaving);
        return socket_accept(server->listening, server->options.write_ms, peer);
    }
    *as_surplus = true;
    spare_lend();
    int fd = socket_accept(server->listening, server->options.write_ms, peer);
    spare_return();
    return fd;
}

static void accept_some(struct server *server)
{
    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        char peer[INET6_ADDRSTRLEN];
        bool as_surplus = false;
        int fd = socket_accept(server->listening, server->options.write_ms, peer);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
            fd = accept_in_want(server, peer, &as_surplus);
        }
        if (fd >= 0) {
            welcome(server, fd, peer, as_surplus);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            pause_accepting(server);
            return;
        }
    }
}

/* ---- a reactor's thread ---- */

static void adopt_arrivals(struct reactor *reactor)
{
    struct connection *connection = atomic_exchange(&reactor->arrivals, NULL);
    while (connection) {
        struct connection *next = connection->next;
        connection_adopt(connection, reactor);
        connection = next;
    }
}

static void take_ready(struct reactor *reactor)
{
    struct exchange *exchange = atomic_exchange(&reactor->ready, NULL);
    while (exchange) {
        /* Read first: once taken it may be left here again. */
        struct exchange *next = exchange->next_ready;
        exchange_taken(exchange);
        if (exchange->connection) {
            connection_ready(exchange->connection);
        }
        exchange_free(exchange);
        exchange = next;
    }
}

static void stop(struct reactor *reactor)
{
    reactor->stopped = true;
    if (reactor == reactor->server->reactors[0]) {
        stop_listening(reactor->server);
    }
    struct connection *connection = reactor->connections;
    while (connection) {
        struct connection *next = connection->next;
        if (connection_idle(connection)) {
            connection_close(connection);
        }
        connection = next;
    }
}

static void answer_bell(struct reactor *reactor)
{
    event_clear(reactor->bell);
    adopt_arrivals(reactor);
    take_ready(reactor);
    if (reactor->server->stopping && !reactor->stopped) {
        stop(reactor);
    }
}

/* Looks after those whose time has come; an alarm may be older than what its connection now waits
 * for. */
static void expire(struct reactor *reactor)
{
    struct deadline *first;
    while ((first = deadlines_first(&reactor->deadlines)) && first->at <= reactor->now) {
        struct connection *connection = first->owner;
        int64_t due = connection_due(connection);
        if (due > reactor->now) {
            deadlines_move(&reactor->deadlines, first, due);
        } else {
            connection_expire(connection);
        }
    }
}

/* How long the poller may wait; -1: until something happens. */
static int time_to_wait(const struct reactor *reactor)
{
    const struct deadline *first = deadlines_first(&reactor->deadlines);
    int64_t at = first ? first->at : DEADLINE_NEVER;
    if (reactor == reactor->server->reactors[0] && reactor->server->accept_again_at < at) {
        at = reactor->server->accept_again_at;
    }
    if (at == DEADLINE_NEVER) {
        return -1;
    }
    int64_t left = at > reactor->now ? at - reactor->now : 0;
    return left < INT_MAX ? (int)left : INT_MAX;
}

/* One round: wait, then the sockets, and only then what may close connections other than the one
 * that an event was about. */
static void turn(struct reactor *reactor)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    struct server *server = reactor->server;
    bool rung = false;
    bool accepting = false;
    int count = epoll_wait(reactor->poller, events, EVENTS_AT_ONCE, time_to_wait(reactor));
    reactor->now = clock_now_ms();
    for (int i = 0; i < count; i++) {
        void *owner = events[i].data.ptr;
        if (owner == &reactor->bell) {
            rung = true;
        } else if (owner == &server->listening) {
            accepting = true;
        } else {
            connection_event(owner, events[i].events);
        }
    }
    if (accepting) {
        accept_some(server);
    }
    if (rung) {
        answer_bell(reactor);
    }
    expire(reactor);
    if (reactor == server->reactors[0] && server->accept_again_at <= reactor->now) {
        resume_accepting(server);
    }
}

static void *run(void *context)
{
    struct reactor *reactor = context;
    here = reactor;
    reactor->now = clock_now_ms();
    while (!atomic_load(&reactor->server->ending)) {
        turn(reactor);
    }
    while (reactor->connections) {
        connection_close(reactor->connections);
    }
    return NULL;
}

/* ---- the server ---- */

static void fill_in(struct server_options *options)
{
    /* Half of the processors: one reactor answers more quick calls than most servers will ever see,
     * fewer of them find more to do at each turn, and the other half is for the work itself. */
    unsigned half = processor_count() / 2;
    unsigned most = half < 1 ? 1 : half < MOST_REACTORS ? half : MOST_REACTORS;
    options->host = NULL;
    options->reactors = options->reactors ? options->reactors : most;
    options->connections = options->connections ? options->connections : LIMIT_HTTP_CONNECTIONS;
    options->head_ms = options->head_ms ? options->head_ms : TIME_HTTP_HEAD_MS;
    options->body_ms = options->body_ms ? options->body_ms : TIME_HTTP_BODY_MS;
    options->idle_ms = options->idle_ms ? options->idle_ms : TIME_HTTP_IDLE_MS;
    options->write_ms = options->write_ms ? options->write_ms : TIME_HTTP_WRITE_MS;
}

static int make_reactors(struct server *server)
{
    server->reactors = calloc(server->options.reactors, sizeof(struct reactor *));
    if (!server->reactors) {
        return ERR_NOMEM;
    }
    while (server->reactor_count < server->options.reactors) {
        struct reactor *reactor = reactor_new(server);
        if (!reactor) {
            return ERR_IO;
        }
        server->reactors[server->reactor_count++] = reactor;
    }
    return reactor_watch(server->reactors[0], EPOLL_CTL_ADD, server->listening, EPOLLIN,
                         &server->listening);
}

static int start_threads(struct server *server)
{
    int status = OK;
    while (server->running < server->reactor_count && status == OK) {
        struct reactor *reactor = server->reactors[server->running];
        status = thread_start(&reactor->thread, 0, run, reactor);
        server->running += status == OK ? 1 : 0;
    }
    return status;
}

struct server *server_start(const struct server_options *options, char *problem, size_t size)
{
    struct server *server = calloc(1, sizeof *server);
    if (!server) {
        snprintf(problem, size, "there is no memory for the HTTP server");
        return NULL;
    }
    server->options = *options;
    fill_in(&server->options);
    server->port = options->port;
    server->accept_again_at = DEADLINE_NEVER;
    server->shares = shares_new(options->stocks, server->options.connections);
    server->listening = socket_listen(options->host, &server->port, problem, size);
    if (server->listening < 0) {
        return server_free(server);
    }
    if (!server->shares || make_reactors(server) != OK || start_threads(server) != OK) {
        snprintf(problem, size, "cannot start the HTTP server: %s", strerror(errno));
        return server_free(server);
    }
    return server;
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

size_t server_connections(const struct server *server)
{
    return atomic_load(&server->connections);
}

size_t server_flushes(const struct server *server)
{
    return atomic_load(&server->flushes);
}

static void ring_all(struct server *server)
{
    for (unsigned i = 0; i < server->running; i++) {
        reactor_ring(server->reactors[i]);
    }
}

void server_stop_accepting(struct server *server)
{
    atomic_store(&server->stopping, true);
    ring_all(server);
}

/* What was on its way to a reactor that has ended. */
static void drop_arrivals(struct reactor *reactor)
{
    struct connection *connection = atomic_exchange(&reactor->arrivals, NULL);
    while (connection) {
        struct connection *next = connection->next;
        close(connection->fd);
        stock_give_all(&connection->unit);
        free(connection);
        connection = next;
    }
}

struct server *server_free(struct server *server)
{
    if (!server) {
        return NULL;
    }
    atomic_store(&server->ending, true);
    ring_all(server);
    for (unsigned i = 0; i < server->running; i++) {
        pthread_join(server->reactors[i]->thread, NULL);
    }
    for (unsigned i = 0; i < server->reactor_count; i++) {
        struct reactor *reactor = server->reactors[i];
        drop_arrivals(reactor);
        take_ready(reactor);
        exchange_free(reactor->spare);
        reactor_free(reactor);
    }
    if (server->listening >= 0) {
        close(server->listening);
    }
    shares_free(server->shares);
    free(server->reactors);
    free(server);
    return NULL;
}
