/* What the parts of the server share: server.c (reactors, accepting), entrance.c (who gets a
 * connection), connection.c (one connection's steps) and exchange.c (requests and their answers).
 *
 * Who owns what. A connection belongs to its reactor and is touched by no other thread, but that
 * its exchange sends from any. An exchange is counted: the connection holds one reference while it
 * works on it, whoever answers later holds others. It outlives its connection and even the server;
 * what other threads may touch of it is behind its lock. A reactor is counted by its exchanges, so
 * that they may always ring its bell.
 *
 * An exchange is also the memory that requests are read into: a reactor keeps a spare one, and only
 * a request that is not answered at once takes it away. So requests never move, and an idle
 * connection has neither a buffer nor an exchange. */
#ifndef FORAGE_SERVER_SERVER_INTERNAL_H
#define FORAGE_SERVER_SERVER_INTERNAL_H

#include "core/buf.h"
#include "core/id.h"
#include "core/status.h"
#include "core/stock.h"
#include "server/deadlines.h"
#include "server/http_parse.h"
#include "server/server.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

/* Connections in the order in which they came to stand there. */
struct queue {
    struct connection *first, *last;
    size_t count;
};

/* What clients share; counted by the reactors, since an exchange that outlives the server still
 * holds bytes of its body. */
struct shares {
    _Atomic unsigned references;
    struct stock *connections;
    struct stock *bodies;  /* bytes of requests that did not come in one piece */
    struct stock *answers; /* bytes of answers that clients do not take */
    _Atomic size_t unread; /* the same, to look at for each request */
};

struct reactor {
    struct server *server; /* valid while its thread runs */
    pthread_t thread;
    int poller; /* an epoll descriptor; level-triggered: what is not dealt with is reported again */
    int bell;   /* an event of core/event.h: other threads left something below */
    _Atomic(struct exchange *) ready;
    _Atomic(struct connection *) arrivals;
    _Atomic size_t load; /* connections, on their way here or here */
    _Atomic unsigned references;
    struct shares *shares;
    /* Its thread only: */
    struct connection *connections;
    struct queue idle; /* those that wait for a request */
    struct deadlines deadlines;
    struct exchange *spare;
    int64_t now;
    bool stopped; /* it knows that the server stops accepting */
};

struct server {
    struct server_options options; /* without gaps: defaults filled in, host NULL */
    struct reactor **reactors;
    unsigned reactor_count;
    unsigned running; /* reactors whose thread was started */
    uint16_t port;
    _Atomic bool stopping;
    _Atomic bool ending;
    _Atomic size_t connections;
    _Atomic size_t flushes; /* of answers that were kept, since the socket was full */
    struct shares *shares;
    /* The first reactor's thread only: */
    struct queue surplus; /* connections beyond those that there may be */
    int listening;
    int64_t accept_again_at; /* DEADLINE_NEVER: accepting goes on */
};

enum phase {
    PHASE_HEAD,   /* idle, or a head is coming in */
    PHASE_BODY,   /* a body is coming in */
    PHASE_ANSWER, /* the handler works, or its answer is on its way out */
    PHASE_LINGER, /* all is said; the client's last bytes are drained */
};

struct connection {
    struct reactor *reactor;
    struct connection *previous;
    struct connection *next;
    struct queue *queue; /* that it stands in, or NULL */
    struct connection *older, *newer;
    struct holding unit; /* of the connections; none where it is surplus */
    const char *owner;   /* the caller whose unit it is; NULL: its address's */
    struct exchange *exchange;
    struct deadline alarm; /* when the reactor looks at it, never later than `due` */
    int64_t due;           /* when the phase must be over */
    struct buf pending;    /* the beginning of the next request */
    size_t sent_seen;
    size_t drained;
    int64_t body_left_ms; /* of the time for the body, while nobody takes what has come of it */
    int fd;
    enum phase phase;
    uint32_t wanted;  /* the epoll events that it waits for */
    uint32_t watched; /* those that the poller was told, which may be more */
    bool begun;       /* the first byte of a head has come */
    bool served;      /* it has had a request */
    bool writing;     /* `due` is about unsent bytes */
    bool paused;      /* the body is not read, since nobody takes what has come of it */
    bool surplus;     /* there is no unit for it: only what must get in is served */
    char peer[INET6_ADDRSTRLEN];
};

enum answer_state { ANSWER_NONE, ANSWER_STREAM, ANSWER_DONE };

struct exchange {
    struct reactor *reactor;
    _Atomic unsigned references;
    _Atomic int answer; /* written under the lock */

    pthread_mutex_t lock;
    pthread_cond_t gone_returned;
    /* Under the lock: */
    void (*gone)(void *context);
    void *gone_context;
    void (*drained)(struct exchange *exchange, void *context);
    void *drained_context;
    struct buf out;
    size_t out_sent;
    size_t sent_total;
    bool unread;       /* the body was not read: the connection cannot go on */
    bool close;        /* the answer said that the connection closes */
    bool broken;       /* the answer cannot be sent */
    bool closed;       /* the connection is gone */
    bool gone_running; /* on the reactor's thread */
    bool queued;       /* in the reactor's `ready` list */
    bool coming;       /* the request was handed over while its body was still coming */
    bool window_full;  /* and the reactor waits until some of it is taken */
    struct buf window; /* what has come of it and nobody has taken */
    struct exchange *next_ready;

    /* The reactor's thread only, but that others may send to the connection under the lock, while
     * the exchange is not closed: */
    struct connection *connection;
    bool in_callback; /* answers may go straight to the socket */
    bool let_in;      /* served on a surplus connection too */
    int64_t timer_at;
    void (*timer_fire)(struct exchange *exchange, void *context);
    void *timer_context;
    size_t body_length;
    size_t body_capacity;
    size_t body_ceiling;
    struct http_chunks chunks;
    struct holding body_bytes;
    struct holding unread_bytes;
    const char *owner; /* who has shown a token; NULL: nobody has to */
    bool in_pieces;    /* its handler takes the body as it comes */

    /* Set before the handler sees it: */
    void *user;
    void (*free_user)(void *user);
    char *body;       /* of a request that did not come in one piece */
    int body_event;   /* something has happened to the window; negative: nothing will */
    struct buf taken; /* from the window, by whoever takes the body */
    bool is_head_method;
    int minor_version;
    char id[ID_SIZE];
    char peer[INET6_ADDRSTRLEN];
    struct http_head head;
    char bytes[LIMIT_HTTP_HEAD_BYTES];
};

/* What a connection needs to know of its exchange, read in one go. */
struct exchange_state {
    enum answer_state answer;
    bool unsent;
    size_t kept; /* memory that unsent bytes take */
    bool broken;
    bool close;
    bool coming;
    bool wants_more; /* somebody waits until the client has taken everything, and it has */
    size_t sent_total;
};

/* ---- server.c ---- */

/* The reactor that this thread runs; NULL on other threads. */
struct reactor *reactor_here(void);
/* Tells the poller (EPOLL_CTL_ADD, _MOD or _DEL) which events of a descriptor to report, with its
 * owner. A status. */
int reactor_watch(struct reactor *reactor, int operation, int fd, uint32_t events, void *owner);
/* The spare exchange, made where there is none; NULL without memory. */
struct exchange *reactor_spare(struct reactor *reactor);
/* Hands an exchange over to the reactor's thread, with a reference. True when its bell must be
 * rung. */
bool reactor_leave(struct reactor *reactor, struct exchange *exchange);
void reactor_ring(struct reactor *reactor);
struct reactor *reactor_ref(struct reactor *reactor);
struct reactor *reactor_free(struct reactor *reactor);

/* ---- entrance.c ---- */

struct shares *shares_new(struct stocks *stocks, size_t connections);
struct shares *shares_ref(struct shares *shares);
struct shares *shares_free(struct shares *shares);
/* Takes a unit for a new connection in the name of its address, or makes it a surplus one. */
void entrance_admit(struct server *server, struct connection *connection);
/* The same in the name of a caller who has shown its token; where that caller has its share it
 * stays as it is. */
void entrance_own(struct connection *connection, const char *owner);
/* On the first reactor, for a new surplus connection: the oldest one goes where there are too many.
 */
void entrance_add_surplus(struct server *server, struct connection *connection);
/* Whether the owner has so many unread answers that it gets no more. A status of stock_take(). */
MUST_CHECK int shares_check_unread(struct shares *shares, const char *owner);
/* Where connections are short: lets go of the reactor's one that has been idle longest. */
void entrance_make_room(struct reactor *reactor);
void queue_add(struct queue *queue, struct connection *connection);
/* Takes it out of where it stands, if it does. */
void queue_leave(struct connection *connection);

/* ---- exchange.c ---- */

struct exchange *exchange_new(struct reactor *reactor);
/* Begins a request of `connection`. */
void exchange_begin(struct exchange *exchange, struct connection *connection);
/* Lets go of everything but what is left to send, if nobody else has a reference. */
bool exchange_release(struct exchange *exchange);
/* Makes it ready for another request, if nobody else has a reference. */
bool exchange_recycle(struct exchange *exchange);
/* Takes so many bytes of what bodies may have, in the name of the exchange's owner, where it does
 * not hold them already. A status of stock_take(). */
MUST_CHECK int exchange_reserve(struct exchange *exchange, size_t bytes);
/* Room for `size` more bytes of the body. The same statuses. */
MUST_CHECK int exchange_body_room(struct exchange *exchange, size_t size, char **room);
/* Gets ready to hand the request over before its body has come. The same statuses. */
MUST_CHECK int exchange_open_window(struct exchange *exchange);
/* Gives a piece of the body, or the last one, to whoever takes it. ERR_LIMIT: that is enough until
 * some of it is taken; ERR_NOMEM. */
MUST_CHECK int exchange_pass_on(struct exchange *exchange, struct slice piece, bool last);
/* Whether the window has room again. */
bool exchange_wants_body(struct exchange *exchange);
void exchange_set_unread(struct exchange *exchange, bool unread);
struct exchange_state exchange_state(struct exchange *exchange);
/* Sends what waits, as far as the socket takes it. */
void exchange_flush(struct exchange *exchange);
/* Counts the memory of what its client has not taken. */
void exchange_count_unread(struct exchange *exchange, size_t bytes);
/* Calls what waits until the client has taken everything. */
void exchange_tell_drained(struct exchange *exchange, void *unused);
/* Calls `gone`, if the answer is not complete. */
void exchange_tell_gone(struct exchange *exchange);
/* The connection is gone. */
void exchange_leave(struct exchange *exchange);
/* The reactor took it out of its `ready` list. */
void exchange_taken(struct exchange *exchange);
/* Answers with the server's own words. A status. */
MUST_CHECK int exchange_refuse(struct exchange *exchange, int status, const char *problem);

/* ---- connection.c ---- */

/* NULL without memory, and then the descriptor is closed. */
struct connection *connection_new(int fd, const char *peer);
/* Puts it among the connections of this thread's reactor. */
void connection_adopt(struct connection *connection, struct reactor *reactor);
void connection_event(struct connection *connection, uint32_t events);
/* Another thread did something with its exchange. */
void connection_ready(struct connection *connection);
/* When it wants to be looked at. */
int64_t connection_due(const struct connection *connection);
/* Its exchange has a new timer. */
void connection_schedule(struct connection *connection);
/* Its time has come. */
void connection_expire(struct connection *connection);
bool connection_idle(const struct connection *connection);
void connection_close(struct connection *connection);

#endif
