/* Who gets a connection, and who has to leave for it. Connections are a stock (core/stock.h). An
 * address has its share of them; whoever shows a token counts as that caller instead, so that the
 * clients behind one address do not shut each other out.
 *
 * For whom there is no unit is accepted all the same, as one of a few surplus connections: what it
 * asks is answered at once, with 503 unless it must always get in or turns out to be a caller who
 * has room. They are let go the oldest first, so that silent ones keep nobody out. */
#include "core/status.h"
#include "server/server_internal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SURPLUS_CONNECTIONS 64
#define ROOM_TO_KEEP        8      /* one in so many connections should be free for whoever comes */
#define FEW_UNREAD_BYTES    MIB(4) /* of all answers: nobody can have too many */
#define NETWORK_BYTES       8u /* of an IPv6 address: what one subscriber is given is a network */
#define OWNER_SIZE          (INET6_ADDRSTRLEN + 16)

/* ---- shares ---- */

struct shares *shares_new(struct stocks *stocks, size_t connections)
{
    struct shares *shares = calloc(1, sizeof *shares);
    if (!shares) {
        return NULL;
    }
    shares->references = 1;
    shares->connections = stock_new(
        stocks, &(struct stock_rule){.name = "connections",
                                     .help = "connections of clients that may be open at once",
                                     .all = connections,
                                     .among_others = true});
    shares->bodies = stock_new(
        stocks, &(struct stock_rule){.name = "body_bytes",
                                     .help = "bytes of requests that may be held in memory",
                                     .all = LIMIT_HTTP_BODIES_BYTES});
    shares->answers =
        stock_new(stocks, &(struct stock_rule){.name = "answer_bytes",
                                               .help = "bytes of answers that clients do not take",
                                               .all = LIMIT_HTTP_ANSWERS_BYTES});
    return shares->connections && shares->bodies && shares->answers ? shares : shares_free(shares);
}

struct shares *shares_ref(struct shares *shares)
{
    atomic_fetch_add_explicit(&shares->references, 1, memory_order_relaxed);
    return shares;
}

struct shares *shares_free(struct shares *shares)
{
    if (shares && atomic_fetch_sub_explicit(&shares->references, 1, memory_order_acq_rel) == 1) {
        stock_free(shares->connections);
        stock_free(shares->bodies);
        stock_free(shares->answers);
        free(shares);
    }
    return NULL;
}

int shares_check_unread(struct shares *shares, const char *owner)
{
    struct holding one = {0};
    int status = OK;
    if (atomic_load_explicit(&shares->unread, memory_order_relaxed) > FEW_UNREAD_BYTES) {
        status = stock_take(shares->answers, owner, false, 1, &one);
        stock_give_all(&one);
    }
    return status;
}

/* ---- queues ---- */

void queue_add(struct queue *queue, struct connection *connection)
{
    connection->queue = queue;
    connection->older = queue->last;
    connection->newer = NULL;
    *(queue->last ? &queue->last->newer : &queue->first) = connection;
    queue->last = connection;
    queue->count++;
}

void queue_leave(struct connection *connection)
{
    struct queue *queue = connection->queue;
    if (queue) {
        *(connection->older ? &connection->older->newer : &queue->first) = connection->newer;
        *(connection->newer ? &connection->newer->older : &queue->last) = connection->older;
        queue->count--;
        connection->queue = NULL;
    }
}

/* ---- units ---- */

/* Whose connection it is while nobody has shown a token: its address's, or its network's, since
 * one machine may have as many addresses of its network as it likes. No caller has a blank in its
 * name. */
static void name_address(const char *peer, char owner[OWNER_SIZE])
{
    struct in6_addr address;
    char network[INET6_ADDRSTRLEN];
    if (inet_pton(AF_INET6, peer, &address) == 1) {
        memset(address.s6_addr + NETWORK_BYTES, 0, sizeof address.s6_addr - NETWORK_BYTES);
        if (inet_ntop(AF_INET6, &address, network, sizeof network)) {
            peer = network;
        }
    }
    snprintf(owner, OWNER_SIZE, "address %s", peer);
}

void entrance_admit(struct server *server, struct connection *connection)
{
    const struct server_options *options = &server->options;
    char owner[OWNER_SIZE];
    bool is_proxy = options->is_proxy && options->is_proxy(options->context, connection->peer);
    name_address(connection->peer, owner);
    connection->surplus = stock_take(server->shares->connections, is_proxy ? NULL : owner, false, 1,
                                     &connection->unit) != OK;
}

void entrance_own(struct connection *connection, const char *owner)
{
    struct holding unit = {0};
    if (stock_take(connection->reactor->shares->connections, owner, false, 1, &unit) != OK) {
        return;
    }
    stock_give_all(&connection->unit);
    connection->unit = unit;
    connection->owner = owner;
    if (connection->surplus) {
        connection->surplus = false;
        queue_leave(connection);
    }
}

/* ---- who has to leave ---- */

void entrance_add_surplus(struct server *server, struct connection *connection)
{
    if (server->surplus.count == SURPLUS_CONNECTIONS) {
        connection_close(server->surplus.first);
    }
    queue_add(&server->surplus, connection);
}

void entrance_make_room(struct reactor *reactor)
{
    size_t most = reactor->server->options.connections;
    if (reactor->idle.first &&
        stock_used(reactor->shares->connections) > most - most / ROOM_TO_KEEP) {
        connection_close(reactor->idle.first);
    }
}
