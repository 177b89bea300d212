/* Exchanges: a request, its answer, and who still needs them. What the handler writes from its
 * callback goes straight to the socket, and so does a whole answer from any thread: under the lock
 * the connection cannot be closed, and waking the reactor would make its client wait. Pieces of a
 * stream from other threads are gathered in `out` until the reactor comes. */
#include "core/event.h"
#include "core/status.h"
#include "server/http_write.h"
#include "server/server_internal.h"
#include "server/sockets.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_FIRST_CAPACITY KIB(16)
#define PIECES              4
#define WINDOW_BYTES        KIB(64)  /* of a body that nobody has taken; then the client waits */
#define WINDOW_MEMORY       KIB(256) /* the window, and what was taken from it */

struct exchange *exchange_new(struct reactor *reactor)
{
    struct exchange *exchange = malloc(sizeof *exchange);
    if (!exchange) {
        return NULL;
    }
    memset(exchange, 0, offsetof(struct exchange, head));
    pthread_mutex_init(&exchange->lock, NULL);
    pthread_cond_init(&exchange->gone_returned, NULL);
    exchange->references = 1;
    exchange->timer_at = DEADLINE_NEVER;
    exchange->body_event = -1;
    exchange->reactor = reactor_ref(reactor);
    buf_init(&exchange->out, SIZE_MAX / 4); /* bounded by exchange_stream_send */
    buf_init(&exchange->window, WINDOW_MEMORY);
    buf_init(&exchange->taken, WINDOW_MEMORY);
    return exchange;
}

struct exchange *exchange_ref(struct exchange *exchange)
{
    atomic_fetch_add_explicit(&exchange->references, 1, memory_order_relaxed);
    return exchange;
}

/* The first thing that ends with an exchange: it may still look at the request. */
static void drop_user(struct exchange *exchange)
{
    if (exchange->user && exchange->free_user) {
        exchange->free_user(exchange->user);
    }
    exchange->user = NULL;
}

void exchange_count_unread(struct exchange *exchange, size_t bytes)
{
    struct shares *shares = exchange->reactor->shares;
    struct holding *unread = &exchange->unread_bytes;
    size_t before = unread->units;
    if (bytes == before) {
        return;
    }
    if (bytes > before) {
        stock_charge(shares->answers, exchange->owner, bytes - before, unread);
    } else {
        stock_give(unread, before - bytes);
    }
    atomic_fetch_add_explicit(&shares->unread, unread->units - before, memory_order_relaxed);
}

static void drop_body(struct exchange *exchange)
{
    free(exchange->body);
    exchange->body = NULL;
    exchange->body_length = 0;
    exchange->body_capacity = 0;
    if (exchange->in_pieces) {
        buf_done(&exchange->window);
        buf_done(&exchange->taken);
        exchange->body_event = event_close(exchange->body_event);
        exchange->in_pieces = exchange->coming = exchange->window_full = false;
    }
    stock_give_all(&exchange->body_bytes);
}

struct exchange *exchange_free(struct exchange *exchange)
{
    if (exchange &&
        atomic_fetch_sub_explicit(&exchange->references, 1, memory_order_acq_rel) == 1) {
        drop_user(exchange);
        buf_done(&exchange->out);
        exchange_count_unread(exchange, 0);
        drop_body(exchange);
        pthread_cond_destroy(&exchange->gone_returned);
        pthread_mutex_destroy(&exchange->lock);
        reactor_free(exchange->reactor);
        free(exchange);
    }
    return NULL;
}

void exchange_begin(struct exchange *exchange, struct connection *connection)
{
    exchange->connection = connection;
    exchange->body_ceiling = LIMIT_MESSAGE_BYTES;
    exchange->is_head_method = slice_is(exchange->head.request.method, "HEAD");
    exchange->minor_version = exchange->head.minor_version;
    id_make(exchange->id);
    memcpy(exchange->peer, connection->peer, sizeof exchange->peer);
}

bool exchange_release(struct exchange *exchange)
{
    bool alone = atomic_load_explicit(&exchange->references, memory_order_acquire) == 1;
    if (alone) {
        drop_user(exchange);
        drop_body(exchange);
    }
    return alone;
}

bool exchange_recycle(struct exchange *exchange)
{
    if (atomic_load_explicit(&exchange->references, memory_order_acquire) != 1) {
        return false;
    }
    drop_user(exchange);
    buf_done(&exchange->out);
    exchange_count_unread(exchange, 0);
    drop_body(exchange);
    exchange->owner = NULL;
    exchange->chunks = (struct http_chunks){0};
    exchange->answer = ANSWER_NONE;
    exchange->gone = NULL;
    exchange->drained = NULL;
    exchange->out_sent = 0;
    exchange->sent_total = 0;
    exchange->unread = exchange->close = exchange->broken = exchange->closed = false;
    exchange->let_in = false;
    exchange->connection = NULL;
    exchange->timer_at = DEADLINE_NEVER;
    return true;
}

/* ---- the request ---- */

const struct http_request *exchange_request(const struct exchange *exchange)
{
    return &exchange->head.request;
}

struct slice exchange_header(const struct exchange *exchange, const char *name, size_t *count)
{
    const struct http_request *request = &exchange->head.request;
    struct slice wanted = {name, strlen(name)};
    struct slice found = {NULL, 0};
    size_t seen = 0;
    for (size_t i = 0; i < request->header_count; i++) {
        if (slice_same_any_case(request->headers[i].name, wanted) && seen++ == 0) {
            found = request->headers[i].value;
        }
    }
    if (count) {
        *count = seen;
    }
    return found;
}

void exchange_set_owner(struct exchange *exchange, const char *owner)
{
    exchange->owner = owner;
    if (exchange->connection->owner != owner) {
        entrance_own(exchange->connection, owner);
    }
}

void exchange_let_in(struct exchange *exchange)
{
    exchange->let_in = true;
}

const char *exchange_peer(const struct exchange *exchange)
{
    return exchange->peer;
}

const char *exchange_id(const struct exchange *exchange)
{
    return exchange->id;
}

void exchange_set_user(struct exchange *exchange, void *user, void (*free_user)(void *user))
{
    drop_user(exchange);
    exchange->user = user;
    exchange->free_user = free_user;
}

void *exchange_user(const struct exchange *exchange)
{
    return exchange->user;
}

/* ---- its body ---- */

int exchange_reserve(struct exchange *exchange, size_t bytes)
{
    size_t held = exchange->body_bytes.units;
    return bytes <= held ? OK
                         : stock_take(exchange->reactor->shares->bodies, exchange->owner, false,
                                      bytes - held, &exchange->body_bytes);
}

int exchange_body_room(struct exchange *exchange, size_t size, char **room)
{
    size_t wanted = exchange->body_length + size;
    if (!exchange->body || wanted > exchange->body_capacity) {
        size_t capacity = exchange->body_capacity ? exchange->body_capacity : BODY_FIRST_CAPACITY;
        while (capacity < wanted) {
            capacity *= 2;
        }
        int64_t length = exchange->head.request.content_length;
        if (length >= (int64_t)wanted && length < (int64_t)capacity) {
            capacity = (size_t)length;
        }
        int status = exchange_reserve(exchange, capacity);
        char *body = status == OK ? realloc(exchange->body, capacity) : NULL;
        if (!body) {
            return status == OK ? ERR_NOMEM : status;
        }
        exchange->body = body;
        exchange->body_capacity = capacity;
    }
    *room = exchange->body + exchange->body_length;
    return OK;
}

void exchange_body_in_pieces(struct exchange *exchange)
{
    exchange->body_ceiling = LIMIT_HTTP_UPLOAD_BYTES;
    exchange->in_pieces = true;
}

int exchange_open_window(struct exchange *exchange)
{
    int status = exchange_reserve(exchange, WINDOW_MEMORY);
    if (status == OK) {
        exchange->body_event = event_open();
        exchange->coming = true;
        status = exchange->body_event < 0 ? ERR_NOMEM : OK;
    }
    return status;
}

int exchange_pass_on(struct exchange *exchange, struct slice piece, bool last)
{
    pthread_mutex_lock(&exchange->lock);
    int status = piece.length ? buf_append(&exchange->window, piece.data, piece.length) : OK;
    exchange->coming = !last;
    exchange->window_full = !last && exchange->window.length >= WINDOW_BYTES;
    if (status == OK && exchange->window_full) {
        status = ERR_LIMIT;
    }
    if (exchange->body_event >= 0) {
        event_signal(exchange->body_event);
    }
    pthread_mutex_unlock(&exchange->lock);
    return status;
}

bool exchange_wants_body(struct exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    bool wants = exchange->coming && !exchange->window_full;
    pthread_mutex_unlock(&exchange->lock);
    return wants;
}

void exchange_set_unread(struct exchange *exchange, bool unread)
{
    pthread_mutex_lock(&exchange->lock);
    exchange->unread = unread;
    pthread_mutex_unlock(&exchange->lock);
}

/* ---- the client leaves ---- */

/* Under the lock, which is let go while `gone` runs: it may call back into this file. */
static void run_gone(struct exchange *exchange)
{
    void (*gone)(void *context) = exchange->gone;
    void *context = exchange->gone_context;
    exchange->gone = NULL;
    if (!gone || exchange->answer == ANSWER_DONE) {
        return;
    }
    exchange->gone_running = true;
    pthread_mutex_unlock(&exchange->lock);
    gone(context);
    pthread_mutex_lock(&exchange->lock);
    exchange->gone_running = false;
    pthread_cond_broadcast(&exchange->gone_returned);
}

/* Under the lock. The reactor's own thread does not wait: it is the one that runs `gone`. */
static void wait_for_gone(struct exchange *exchange)
{
    while (exchange->gone_running && reactor_here() != exchange->reactor) {
        pthread_cond_wait(&exchange->gone_returned, &exchange->lock);
    }
}

void exchange_tell_gone(struct exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    run_gone(exchange);
    pthread_mutex_unlock(&exchange->lock);
}

void exchange_leave(struct exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    exchange->closed = true;
    buf_done(&exchange->out);
    exchange->out_sent = 0;
    run_gone(exchange);
    pthread_mutex_unlock(&exchange->lock);
    exchange_count_unread(exchange, 0);
    exchange->connection = NULL;
}

void exchange_on_gone(struct exchange *exchange, void (*gone)(void *context), void *context)
{
    pthread_mutex_lock(&exchange->lock);
    wait_for_gone(exchange);
    bool left = exchange->closed && exchange->answer != ANSWER_DONE;
    exchange->gone = left ? NULL : gone;
    exchange->gone_context = context;
    pthread_mutex_unlock(&exchange->lock);
    if (left && gone) {
        gone(context);
    }
}

void exchange_set_timer(struct exchange *exchange, int64_t ms,
                        void (*fire)(struct exchange *exchange, void *context), void *context)
{
    if (!exchange->connection) {
        return;
    }
    exchange->timer_at = fire ? exchange->reactor->now + ms : DEADLINE_NEVER;
    exchange->timer_fire = fire;
    exchange->timer_context = context;
    connection_schedule(exchange->connection);
}

/* ---- sending; all of these under the lock ---- */

static bool may_send_now(const struct exchange *exchange)
{
    return reactor_here() == exchange->reactor && exchange->in_callback;
}

/* Sends the pieces, or what of them the socket takes now, and keeps the rest. A status. */
static int put(struct exchange *exchange, struct iovec *pieces, size_t count, bool whole)
{
    size_t sent = 0;
    if (exchange->out.length == 0 && (whole || may_send_now(exchange))) {
        ssize_t result = socket_send(exchange->connection->fd, pieces, count);
        if (result < 0 && may_send_now(exchange)) {
            exchange->broken = true;
            return ERR_CLOSED;
        }
        /* From other threads the reactor fails to send it again, and closes the connection. */
        sent = result < 0 ? 0 : (size_t)result;
        exchange->sent_total += sent;
    }
    for (size_t i = 0; i < count; i++) {
        size_t skip = sent < pieces[i].iov_len ? sent : pieces[i].iov_len;
        sent -= skip;
        if (skip < pieces[i].iov_len) {
            buf_append(&exchange->out, (const char *)pieces[i].iov_base + skip,
                       pieces[i].iov_len - skip);
        }
    }
    if (buf_error(&exchange->out) != OK) {
        exchange->broken = true;
    }
    return buf_error(&exchange->out);
}

/* What the reactor has to know it learns when the callback returns, or by its bell. */
static bool leave(struct exchange *exchange)
{
    if (exchange->queued || exchange->closed || may_send_now(exchange)) {
        return false;
    }
    exchange->queued = true;
    return reactor_leave(exchange->reactor, exchange_ref(exchange));
}

/* The answer is over, sent or not: from now on `gone` is not called any more. */
static bool finish(struct exchange *exchange)
{
    exchange->answer = ANSWER_DONE;
    return leave(exchange);
}

static void unlock_and_ring(struct exchange *exchange, bool ring)
{
    pthread_mutex_unlock(&exchange->lock);
    if (ring) {
        reactor_ring(exchange->reactor);
    }
}

static struct iovec piece(const char *data, size_t length)
{
    union {
        const char *in;
        void *out;
    } same = {data}; /* sendmsg only reads, its structure cannot say so */
    return (struct iovec){same.out, length};
}

/* Puts the head of an answer, and of a body as much as there is. */
static int put_answer(struct exchange *exchange, struct http_answer *head, const char *headers,
                      struct slice body)
{
    char words[HTTP_ANSWER_HEAD_SIZE];
    bool unbounded = head->streamed && exchange->minor_version == 0;
    head->request_id = exchange->id;
    head->minor_version = exchange->minor_version;
    head->close = exchange->unread || unbounded || !exchange->head.keep_alive ||
                  exchange->reactor->server->stopping;
    exchange->close = head->close;
    size_t length = http_write_head(words, head);
    struct iovec pieces[PIECES] = {
        piece(words, length),
        piece(headers ? headers : "", headers ? strlen(headers) : 0),
        piece("\r\n", 2),
        piece(body.data, body.length),
    };
    return put(exchange, pieces, PIECES, !head->streamed);
}

/* ---- taking the body ---- */

int exchange_body_event(const struct exchange *exchange)
{
    return exchange->body_event;
}

int exchange_take_body(struct exchange *exchange, struct slice *piece)
{
    int status = OK;
    bool ring = false;
    pthread_mutex_lock(&exchange->lock);
    struct buf old = exchange->taken;
    buf_clear(&old);
    exchange->taken = exchange->window;
    exchange->window = old;
    if (exchange->taken.length == 0 && exchange->coming) {
        status = exchange->closed || exchange->answer == ANSWER_DONE ? ERR_CLOSED : ERR_BUSY;
        event_clear(exchange->body_event);
    }
    if (exchange->window_full) {
        exchange->window_full = false;
        ring = leave(exchange);
    }
    *piece = (struct slice){exchange->taken.data, exchange->taken.length};
    unlock_and_ring(exchange, ring);
    return status;
}

/* ---- answers ---- */

/* Why an answer cannot be in the state that is asked for: a status. */
static int why_not(const struct exchange *exchange, enum answer_state expected)
{
    if (exchange->closed || exchange->broken) {
        return ERR_CLOSED;
    }
    return exchange->answer == (int)expected ? OK : ERR_INVALID;
}

int exchange_respond(struct exchange *exchange, int status, const char *headers, const char *body,
                     size_t length)
{
    pthread_mutex_lock(&exchange->lock);
    bool ring = false;
    int begun = why_not(exchange, ANSWER_NONE);
    int result = begun;
    if (begun == OK) {
        struct http_answer head = {.status = status, .length = length};
        bool silent = exchange->is_head_method || !http_has_body(status);
        result = put_answer(exchange, &head, headers, (struct slice){body, silent ? 0 : length});
    }
    if (begun != ERR_INVALID) {
        ring = finish(exchange);
    }
    wait_for_gone(exchange);
    unlock_and_ring(exchange, ring);
    return result;
}

int exchange_refuse(struct exchange *exchange, int status, const char *problem)
{
    char body[HTTP_ERROR_SIZE];
    const char *headers;
    size_t length = http_write_error(body, status, problem, exchange->id, &headers);
    return exchange_respond(exchange, status, headers, body, length);
}

int exchange_stream_start(struct exchange *exchange, int status, const char *headers)
{
    pthread_mutex_lock(&exchange->lock);
    bool ring = false;
    int result = why_not(exchange, ANSWER_NONE);
    if (result == OK) {
        struct http_answer head = {.status = status, .streamed = true};
        exchange->answer = ANSWER_STREAM;
        result = put_answer(exchange, &head, headers, (struct slice){"", 0});
        if (exchange->is_head_method) {
            result = ERR_CLOSED; /* nothing follows the head */
            ring = finish(exchange);
            wait_for_gone(exchange);
        } else {
            ring = leave(exchange);
        }
    }
    unlock_and_ring(exchange, ring);
    return result;
}

static int put_chunk(struct exchange *exchange, const char *data, size_t length)
{
    char size[24];
    bool framed = exchange->minor_version == 1;
    int digits = framed ? snprintf(size, sizeof size, "%zx\r\n", length) : 0;
    struct iovec pieces[] = {
        piece(size, (size_t)digits),
        piece(data, length),
        piece("\r\n", framed ? 2 : 0),
    };
    return put(exchange, pieces, sizeof pieces / sizeof pieces[0], false);
}

int exchange_stream_send(struct exchange *exchange, const char *data, size_t length)
{
    pthread_mutex_lock(&exchange->lock);
    bool ring = false;
    int result = why_not(exchange, ANSWER_STREAM);
    size_t unsent = exchange->out.length - exchange->out_sent;
    if (result == OK && (length > LIMIT_HTTP_OUT_BYTES || unsent > LIMIT_HTTP_OUT_BYTES - length)) {
        result = ERR_LIMIT;
    }
    if (result == OK && length) {
        result = put_chunk(exchange, data, length);
        ring = leave(exchange);
    }
    unlock_and_ring(exchange, ring);
    return result;
}

void exchange_stream_end(struct exchange *exchange, const char *data, size_t length)
{
    pthread_mutex_lock(&exchange->lock);
    bool ring = false;
    int result = why_not(exchange, ANSWER_STREAM);
    if (result == OK && (length == 0 || put_chunk(exchange, data, length) == OK)) {
        bool framed = exchange->minor_version == 1;
        struct iovec last = piece("0\r\n\r\n", framed ? 5 : 0);
        put(exchange, &last, 1, false);
    }
    if (result != ERR_INVALID) {
        ring = finish(exchange);
    }
    wait_for_gone(exchange);
    unlock_and_ring(exchange, ring);
}

void exchange_on_drained(struct exchange *exchange,
                         void (*drained)(struct exchange *exchange, void *context), void *context)
{
    pthread_mutex_lock(&exchange->lock);
    exchange->drained = drained;
    exchange->drained_context = context;
    unlock_and_ring(exchange, leave(exchange));
}

void exchange_tell_drained(struct exchange *exchange, void *unused)
{
    (void)unused;
    pthread_mutex_lock(&exchange->lock);
    void (*drained)(struct exchange * exchange, void *context) = exchange->drained;
    void *context = exchange->drained_context;
    exchange->drained = NULL;
    pthread_mutex_unlock(&exchange->lock);
    if (drained) {
        drained(exchange, context);
    }
}

bool exchange_answered(const struct exchange *exchange)
{
    return atomic_load_explicit(&exchange->answer, memory_order_acquire) != ANSWER_NONE;
}

/* ---- for the connection ---- */

struct exchange_state exchange_state(struct exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    struct exchange_state state = {
        .answer = (enum answer_state)exchange->answer,
        .unsent = exchange->out.length > 0,
        .kept = exchange->out.length > 0 ? exchange->out.capacity : 0,
        .broken = exchange->broken,
        .close = exchange->close,
        .coming = exchange->coming,
        .wants_more = exchange->drained && exchange->answer != ANSWER_DONE &&
                      exchange->out.length == 0 && !exchange->broken,
        .sent_total = exchange->sent_total,
    };
    pthread_mutex_unlock(&exchange->lock);
    return state;
}

void exchange_flush(struct exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    while (exchange->out_sent < exchange->out.length && !exchange->broken) {
        struct iovec rest = {exchange->out.data + exchange->out_sent,
                             exchange->out.length - exchange->out_sent};
        ssize_t sent = socket_send(exchange->connection->fd, &rest, 1);
        if (sent == 0) {
            break;
        }
        if (sent < 0) {
            exchange->broken = true;
        } else {
            exchange->out_sent += (size_t)sent;
            exchange->sent_total += (size_t)sent;
            atomic_fetch_add(&exchange->reactor->server->flushes, 1);
        }
    }
    /* What was sent is dropped when it is the larger part, so that moving the rest stays cheap. */
    if (exchange->out_sent == exchange->out.length) {
        buf_done(&exchange->out);
        exchange->out_sent = 0;
    } else if (exchange->out_sent > exchange->out.length / 2) {
        buf_consume(&exchange->out, exchange->out_sent);
        exchange->out_sent = 0;
    }
    pthread_mutex_unlock(&exchange->lock);
}

void exchange_taken(struct exchange *exchange)
{
    pthread_mutex_lock(&exchange->lock);
    exchange->queued = false;
    pthread_mutex_unlock(&exchange->lock);
}
