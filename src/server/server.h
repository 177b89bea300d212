/* An HTTP/1.1 server: a few reactor threads, each with its own connections. It reads whole requests
 * within the ceilings of core/limits.h, hands them over, and sends what it is given. It knows
 * nothing of MCP.
 *
 * A request becomes an *exchange*. The handler runs on the connection's reactor thread and must not
 * wait: it answers at once, or keeps a reference and lets another thread answer. Functions marked
 * (any thread) may be called from anywhere; the rest only from a callback. When the client leaves
 * before its answer is complete (FIN, reset, a connection that timed out, or a body that the server
 * had to refuse) `gone` is called once on the reactor thread, and whatever is sent afterwards goes
 * nowhere.
 *
 * Strict where HTTP is ambiguous: one request at a time, a Content-Length or chunked body but not
 * both, no obsolete line folding, no bare LF, a Host header exactly once. What it refuses it
 * answers with the right status and closes. */
#ifndef FORAGE_SERVER_SERVER_H
#define FORAGE_SERVER_SERVER_H

#include "text/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;
struct exchange;
struct stocks;

struct http_header {
    struct slice name;
    struct slice value; /* without blanks around it */
};

/* A request, valid until its exchange has been answered and released. */
struct http_request {
    struct slice method;
    struct slice path;  /* still percent-encoded, begins with "/" */
    struct slice query; /* after the "?", may be empty */
    const struct http_header *headers;
    size_t header_count;
    struct slice body;      /* empty in `head` */
    int64_t content_length; /* -1: chunked, 0: none */
};

struct server_options {
    const char *host;
    uint16_t port;         /* 0: any free one */
    unsigned reactors;     /* 0: half as many as there are processors, 1 to 4 */
    unsigned connections;  /* 0: LIMIT_HTTP_CONNECTIONS; an address, or a caller, has its share */
    struct stocks *stocks; /* where the server's stocks stand in line for metrics; may be NULL */
    int64_t head_ms;       /* these four, when 0: TIME_HTTP_HEAD_MS and so on */
    int64_t body_ms;
    int64_t idle_ms;
    int64_t write_ms;
    void *context;
    /* Whether clients of many addresses come from this one: it is a proxy's, and has no share of
     * its own. May be NULL. */
    bool (*is_proxy)(void *context, const char *peer);
    /* The head is complete, the body not read. Answering here (exchange_respond) refuses the
     * request: a body is not read, and where there is one the connection closes. May be NULL. */
    void (*head)(struct exchange *exchange, void *context);
    /* The whole request is there. */
    void (*request)(struct exchange *exchange, void *context);
};

/* Listens and starts the reactors. On failure NULL, with the reason in `problem`. */
struct server *server_start(const struct server_options *options, char *problem, size_t size);
/* The port it listens on. */
uint16_t server_port(const struct server *server);
size_t server_connections(const struct server *server);
/* Grows with each piece of a kept answer that a client takes: who waits for the last answers sees
 * that they move. */
size_t server_flushes(const struct server *server);
/* Stops accepting; idle connections are closed, exchanges in progress go on. (any thread) */
void server_stop_accepting(struct server *server);
/* Closes what is left (gone is called), ends the reactors. */
struct server *server_free(struct server *server);

/* ---- one exchange ---- */

const struct http_request *exchange_request(const struct exchange *exchange);
/* A header by its name in any case; {NULL, 0} when absent. `*count` (may be NULL) tells how many.
 */
struct slice exchange_header(const struct exchange *exchange, const char *name, size_t *count);
/* For the head callback: the body may have LIMIT_HTTP_UPLOAD_BYTES instead of LIMIT_MESSAGE_BYTES,
 * and is not gathered. The request is handed over at once, without a body; whoever works on it
 * takes that piece by piece, and the client waits meanwhile. Its answer is not a stream. */
void exchange_body_in_pieces(struct exchange *exchange);
/* The next piece of such a body, valid until the next is taken; empty: that was all. OK, ERR_BUSY
 * when nothing has come yet (exchange_body_event() becomes readable when something does),
 * ERR_CLOSED when there will be no more. (one other thread) */
int exchange_take_body(struct exchange *exchange, struct slice *piece);
int exchange_body_event(const struct exchange *exchange);
/* For the head callback: in whose name the request is read and its connection counts from now on;
 * a name that lives as long as the server, of a caller who has proved to be that one. */
void exchange_set_owner(struct exchange *exchange, const char *owner);
/* For the head callback: the request is served even where there is no connection left for its
 * client. It must be a quick one. */
void exchange_let_in(struct exchange *exchange);
/* The client's address as text. */
const char *exchange_peer(const struct exchange *exchange);
/* The id that logs, errors and the X-Request-Id header carry: made by the server for each exchange.
 */
const char *exchange_id(const struct exchange *exchange);

/* Something of the handler's own that lives as long as the exchange; `free_user` (may be NULL) ends
 * it, on whichever thread drops the last reference, or when another one takes its place. */
void exchange_set_user(struct exchange *exchange, void *user, void (*free_user)(void *user));
void *exchange_user(const struct exchange *exchange);

/* References keep an exchange alive beyond the handler. (any thread) */
struct exchange *exchange_ref(struct exchange *exchange);
struct exchange *exchange_free(struct exchange *exchange);

/* Sets what happens when the client leaves before the answer is complete (exchange_respond, or
 * exchange_stream_end, was called). If it has left already, it is called at once. NULL takes it
 * back. Once one of these three has returned to another thread, the earlier `gone` neither runs nor
 * will run: they wait for one that is running. So whoever owns `context` ends the answer first and
 * frees it then, and holds no lock that `gone` takes while it does so. (any thread) */
void exchange_on_gone(struct exchange *exchange, void (*gone)(void *context), void *context);
/* Calls `fire` on the reactor thread after `ms`, once; replaces an earlier timer. Dropped when the
 * exchange ends. */
void exchange_set_timer(struct exchange *exchange, int64_t ms,
                        void (*fire)(struct exchange *exchange, void *context), void *context);

/* Sends a whole answer. `headers` is NULL or lines that each end in CRLF; Content-Length, Date,
 * Connection, X-Request-Id and X-Content-Type-Options are added. The first answer wins: ERR_INVALID
 * when one was begun already. ERR_CLOSED when the client is gone. (any thread) */
int exchange_respond(struct exchange *exchange, int status, const char *headers, const char *body,
                     size_t length);
/* Starts an answer of unknown length (chunked; for HTTP/1.0 clients until the connection closes),
 * sends a piece of it, ends it with a last piece, which is sent however much the client has still
 * to take. ERR_CLOSED when the client is gone, ERR_LIMIT when it does not keep up (that piece is
 * not sent), ERR_INVALID when another answer was begun, or none. The answer to HEAD is complete
 * with its head: exchange_stream_start() sends that and returns ERR_CLOSED. (any thread) */
int exchange_stream_start(struct exchange *exchange, int status, const char *headers);
int exchange_stream_send(struct exchange *exchange, const char *data, size_t length);
void exchange_stream_end(struct exchange *exchange, const char *data, size_t length);
/* Calls `drained` on the reactor thread, once, when the client has taken all that was sent so far,
 * which may be nothing: what comes next need not be made before. It must not wait. (any thread) */
void exchange_on_drained(struct exchange *exchange,
                         void (*drained)(struct exchange *exchange, void *context), void *context);
/* Whether an answer was begun. (any thread) */
bool exchange_answered(const struct exchange *exchange);

#endif
