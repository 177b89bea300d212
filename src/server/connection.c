/* One connection, walked through its phases: head, body, answer, and back to the head or to the
 * end. All of it runs on the reactor's thread. A function that may close the connection says so,
 * and its caller touches it no more. */
#include "core/status.h"
#include "server/server_internal.h"
#include "server/sockets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* At a time, so that one upload does not hold up the others. Not more than `pending` can keep:
 * behind a chunked body the next requests may come along. */
#define BODY_READ_BYTES LIMIT_HTTP_HEAD_BYTES

/* A client that was refused may have a whole message in flight. */
#define LINGER_BYTES (4 * LIMIT_MESSAGE_BYTES)
#define LINGER_MS    2000

#define RELEASE_MS 10

/* For whom there is no connection left has this long to say what it wants. */
#define SURPLUS_MS 1000

/* What became of an exchange after its handler, or its socket, was given a chance. */
enum exchange_outcome {
    OUTCOME_WAITS,
    OUTCOME_COMPLETE, /* the connection is free for the next request */
    OUTCOME_OVER,     /* the connection may be closed by now */
};

struct connection *connection_new(int fd, const char *peer)
{
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) {
        close(fd);
        return NULL;
    }
    connection->fd = fd;
    connection->due = DEADLINE_NEVER;
    connection->alarm = (struct deadline){.at = DEADLINE_NEVER, .owner = connection};
    buf_init(&connection->pending, LIMIT_HTTP_HEAD_BYTES);
    snprintf(connection->peer, sizeof connection->peer, "%s", peer);
    return connection;
}

bool connection_idle(const struct connection *connection)
{
    return connection->phase == PHASE_HEAD && !connection->begun;
}

/* ---- what it waits for, and how long ---- */

static void tell_poller(struct connection *connection)
{
    connection->watched = connection->wanted;
    reactor_watch(connection->reactor, EPOLL_CTL_MOD, connection->fd, connection->wanted,
                  connection);
}

/* Waits for these events. The poller may go on watching for more: it is told only when it reports
 * them, so that most steps need no system call. */
static void watch(struct connection *connection, uint32_t events)
{
    connection->wanted = events;
    if (events & ~connection->watched) {
        tell_poller(connection);
    }
}

int64_t connection_due(const struct connection *connection)
{
    const struct exchange *exchange = connection->exchange;
    return exchange && exchange->timer_at < connection->due ? exchange->timer_at : connection->due;
}

void connection_schedule(struct connection *connection)
{
    int64_t at = connection_due(connection);
    if (at < connection->alarm.at) {
        deadlines_move(&connection->reactor->deadlines, &connection->alarm, at);
    }
}

static void allow(struct connection *connection, int64_t ms)
{
    connection->due = connection->reactor->now + ms;
    connection_schedule(connection);
}

/* Surplus connections stay where they stand until they are let go. */
static void leave_idle(struct connection *connection)
{
    if (connection->queue == &connection->reactor->idle) {
        queue_leave(connection);
    }
}

/* ---- its exchange ---- */

static void attach(struct connection *connection, struct exchange *exchange)
{
    connection->reactor->spare = NULL;
    connection->exchange = exchange;
    connection->begun = false;
    connection->served = true;
    leave_idle(connection);
    connection->writing = false;
    connection->sent_seen = 0;
    connection->due = DEADLINE_NEVER;
    exchange_begin(exchange, connection);
}

/* Makes the exchange the reactor's spare again. False when somebody else still holds it. */
static bool recycle(struct connection *connection)
{
    struct reactor *reactor = connection->reactor;
    if (reactor->spare || !exchange_recycle(connection->exchange)) {
        return false;
    }
    reactor->spare = connection->exchange;
    connection->exchange = NULL;
    return true;
}

static void detach(struct connection *connection)
{
    if (!recycle(connection)) {
        exchange_leave(connection->exchange);
        connection->exchange = exchange_free(connection->exchange);
    }
}

/* ---- the end ---- */

void connection_close(struct connection *connection)
{
    struct reactor *reactor = connection->reactor;
    if (connection->exchange) {
        exchange_leave(connection->exchange);
        exchange_free(connection->exchange);
    }
    /* Explicitly: a child between fork and exec still holds the descriptor, and would keep it
     * watched. */
    reactor_watch(reactor, EPOLL_CTL_DEL, connection->fd, 0, NULL);
    close(connection->fd);
    deadlines_remove(&reactor->deadlines, &connection->alarm);
    if (connection->previous) {
        connection->previous->next = connection->next;
    } else {
        reactor->connections = connection->next;
    }
    if (connection->next) {
        connection->next->previous = connection->previous;
    }
    queue_leave(connection);
    stock_give_all(&connection->unit);
    atomic_fetch_sub(&reactor->load, 1);
    atomic_fetch_sub(&reactor->server->connections, 1);
    buf_done(&connection->pending);
    free(connection);
}

/* Ends a connection whose last answer was sent. A socket closed with unread bytes sends a reset,
 * which can overtake the answer; so the client gets a moment to read it and close. May close it. */
static void linger(struct connection *connection)
{
    detach(connection);
    buf_done(&connection->pending);
    if (shutdown(connection->fd, SHUT_WR) != 0) {
        connection_close(connection);
        return;
    }
    connection->phase = PHASE_LINGER;
    watch(connection, EPOLLIN);
    allow(connection, LINGER_MS);
}

/* May close it. */
static void drain(struct connection *connection)
{
    struct exchange *scratch = reactor_spare(connection->reactor);
    ssize_t got = ERR_CLOSED;
    if (scratch) {
        got = socket_receive(connection->fd, scratch->bytes, sizeof scratch->bytes);
    }
    if (got > 0) {
        connection->drained += (size_t)got;
    }
    if (got == ERR_CLOSED || connection->drained > LINGER_BYTES) {
        connection_close(connection);
    }
}

/* ---- after a callback ---- */

/* A client that takes no byte of its answer has a limited time; each byte it takes starts it anew.
 */
static void time_writing(struct connection *connection, const struct exchange_state *state)
{
    bool moved = state->sent_total != connection->sent_seen;
    if (!state->unsent) {
        connection->due = DEADLINE_NEVER;
    } else if (!connection->writing || moved) {
        allow(connection, connection->reactor->server->options.write_ms);
    }
    connection->writing = state->unsent;
    connection->sent_seen = state->sent_total;
}

static void call_back(struct connection *connection,
                      void (*function)(struct exchange *exchange, void *context), void *context)
{
    connection->exchange->in_callback = true;
    function(connection->exchange, context);
    connection->exchange->in_callback = false;
}

/* The answer is complete, and its client has not taken all of it yet: what it was made from goes,
 * as soon as whoever made it has let go, which is in a moment. */
static void release(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;
    if (!exchange_release(exchange)) {
        exchange->timer_at = connection->reactor->now + RELEASE_MS;
        connection_schedule(connection);
    }
}

/* Looks at what the exchange has come to and waits for what it needs. May close the connection. */
static enum exchange_outcome settle(struct connection *connection)
{
    struct exchange_state state = exchange_state(connection->exchange);
    if (state.wants_more) {
        call_back(connection, exchange_tell_drained, NULL);
        state = exchange_state(connection->exchange);
    }
    if (state.broken) {
        connection_close(connection);
        return OUTCOME_OVER;
    }
    if (state.coming && state.answer != ANSWER_DONE) {
        return OUTCOME_WAITS; /* for its body, while its handler works on it */
    }
    if (state.answer == ANSWER_DONE && !state.unsent) {
        if (!state.close) {
            return OUTCOME_COMPLETE;
        }
        linger(connection);
        return OUTCOME_OVER;
    }
    exchange_count_unread(connection->exchange, state.kept);
    if (state.answer == ANSWER_DONE) {
        release(connection);
    }
    connection->phase = PHASE_ANSWER;
    time_writing(connection, &state);
    watch(connection,
          (state.answer == ANSWER_DONE ? 0u : EPOLLRDHUP) | (state.unsent ? EPOLLOUT : 0u));
    return OUTCOME_WAITS;
}

/* Answers with the server's own words and ends the connection. A handler that has seen the head is
 * told that it will see no more. May close it. */
static void refuse(struct connection *connection, int status, const char *problem)
{
    struct exchange *exchange = connection->exchange;
    if (exchange_answered(exchange)) {
        settle(connection);
        return;
    }
    exchange_set_unread(exchange, true);
    exchange_tell_gone(exchange);
    exchange->in_callback = true;
    int result = exchange_refuse(exchange, status, problem);
    exchange->in_callback = false;
    if (result == OK) {
        settle(connection);
    } else {
        connection_close(connection);
    }
}

/* Refuses where no request could be read. May close the connection. */
static void refuse_unread(struct connection *connection, int status)
{
    const char *problem;
    struct exchange *exchange = reactor_spare(connection->reactor);
    if (!exchange) {
        connection_close(connection);
        return;
    }
    http_parse_head(NULL, 0, &exchange->head, &problem);
    attach(connection, exchange);
    refuse(connection, status, NULL);
}

/* ---- requests ---- */

/* Keeps the beginning of the next request. False when there is no memory and the connection is
 * closed. */
static bool keep(struct connection *connection, const char *data, size_t length)
{
    buf_clear(&connection->pending);
    if (length && buf_append(&connection->pending, data, length) != OK) {
        connection_close(connection);
        return false;
    }
    return true;
}

/* How long a client has for its next head, from now on. A new one has the time of a head even where
 * it says nothing: who connects has something to ask. */
static int64_t patience(const struct connection *connection, bool idle)
{
    const struct server_options *options = &connection->reactor->server->options;
    if (connection->surplus) {
        return SURPLUS_MS;
    }
    return idle && connection->served ? options->idle_ms : options->head_ms;
}

/* Waits for a request, of which `length` bytes are there. May close the connection. */
static void await_head(struct connection *connection, const char *data, size_t length)
{
    struct reactor *reactor = connection->reactor;
    bool is_new = !connection->served && connection->due != DEADLINE_NEVER;
    connection->phase = PHASE_HEAD;
    if (length == 0) {
        buf_done(&connection->pending);
        if (reactor->server->stopping) {
            connection_close(connection);
            return;
        }
        allow(connection, patience(connection, true));
        if (!connection->queue) {
            queue_add(&reactor->idle, connection);
        }
    } else {
        if (!keep(connection, data, length)) {
            return;
        }
        leave_idle(connection);
        if (!connection->begun && !is_new) {
            allow(connection, patience(connection, false));
        }
        connection->begun = true;
    }
    watch(connection, EPOLLIN | EPOLLRDHUP);
}

/* Refuses a body for which there is no room in memory. May close the connection. */
static void refuse_body(struct connection *connection, int status)
{
    if (status == ERR_LIMIT) {
        refuse(
            connection, 503,
            "you are sending as many bytes at once as one caller may while others can come; wait "
            "until some of your requests are answered");
    } else if (status == ERR_BUSY) {
        refuse(connection, 503,
               "requests of as many bytes as there may be are on their way; try again in a moment");
    } else {
        connection_close(connection);
    }
}

/* Waits for the rest of a body. False where that closed the connection. */
static bool await_body(struct connection *connection, bool nothing_yet)
{
    char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct exchange *exchange = connection->exchange;
    connection->phase = PHASE_BODY;
    connection->paused = false;
    allow(connection, connection->reactor->server->options.body_ms);
    watch(connection, EPOLLIN | EPOLLRDHUP);
    if (exchange->head.expect_continue && nothing_yet) {
        struct iovec all = {go_on, sizeof go_on - 1};
        if (socket_send(connection->fd, &all, 1) != (ssize_t)all.iov_len) {
            connection_close(connection);
            return false;
        }
    }
    return true;
}

/* Takes `length` bytes at `data` for the body, where they may be decoded in place. 1 when the body
 * is complete, with the decoded bytes in `*body`; 0 when it is not; minus a status. `*used` tells
 * how many were taken. */
static int decode_body(struct exchange *exchange, char *data, size_t length, struct slice *body,
                       size_t *used)
{
    const struct http_request *request = &exchange->head.request;
    if (request->content_length < 0) {
        int result =
            http_read_chunks(&exchange->chunks, data, &length, used, exchange->body_ceiling);
        *body = (struct slice){data, length};
        return result;
    }
    size_t missing = (size_t)request->content_length - exchange->body_length;
    *used = length < missing ? length : missing;
    *body = (struct slice){data, *used};
    return *used == missing;
}

/* Gets ready for the rest of a body of which the first bytes have come. True when the request is to
 * be handed over already; otherwise the connection may be closed. */
static bool begin_body(struct connection *connection, struct slice first, bool nothing_yet)
{
    struct exchange *exchange = connection->exchange;
    int64_t length = exchange->head.request.content_length;
    char *room = NULL;
    int status;
    if (exchange->in_pieces) {
        status = exchange_open_window(exchange);
        status = status == OK ? exchange_pass_on(exchange, first, false) : status;
    } else {
        status = length > 0 ? exchange_reserve(exchange, (size_t)length) : OK;
        status = status == OK ? exchange_body_room(exchange, first.length, &room) : status;
    }
    if (status != OK) {
        refuse_body(connection, status);
        return false;
    }
    if (room) {
        memcpy(room, first.data, first.length);
    }
    exchange->body_length += first.length;
    return await_body(connection, nothing_yet) && exchange->in_pieces;
}

/* What the head's callback, and what is left of the room for connections and bodies, say to a
 * request with a body. True when it is to be read; otherwise the connection may be closed. */
static bool may_read(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;
    if (connection->surplus) {
        exchange_set_unread(exchange, true);
        if (!exchange->let_in) {
            refuse(connection, 503, NULL);
            return false;
        }
    }
    if (!exchange->let_in &&
        shares_check_unread(connection->reactor->shares, exchange->owner) != OK) {
        refuse(connection, 503,
               "you have not read as many bytes of answers as one caller may leave unread while "
               "others can come; read them, or close those connections");
        return false;
    }
    if (exchange->head.request.content_length > (int64_t)exchange->body_ceiling) {
        refuse(connection, 413, NULL);
        return false;
    }
    return true;
}

/* Takes the body from the bytes that came with the head, in place when it is all there. True when
 * the request is to be handed over, or answered already; otherwise the connection may be closed. */
static bool take_body(struct connection *connection, size_t *from, size_t end)
{
    struct exchange *exchange = connection->exchange;
    const struct server_options *options = &connection->reactor->server->options;
    struct http_request *request = &exchange->head.request;
    struct slice body;
    size_t used;
    if (request->content_length != 0) {
        exchange_set_unread(exchange, true);
    }
    if (options->head) {
        call_back(connection, options->head, options->context);
    }
    if (exchange_answered(exchange)) {
        return true;
    }
    if (!may_read(connection)) {
        return false;
    }
    if (request->content_length == 0) {
        return true;
    }
    int result = decode_body(exchange, exchange->bytes + *from, end - *from, &body, &used);
    *from += used;
    if (result < 0) {
        refuse(connection, -result, NULL);
        return false;
    }
    if (result == 0) {
        return begin_body(connection, body, used == 0);
    }
    exchange_set_unread(exchange, connection->surplus);
    request->body = exchange->in_pieces ? request->body : body;
    if (exchange->in_pieces && exchange_pass_on(exchange, body, true) != OK) {
        connection_close(connection);
        return false;
    }
    return true;
}

/* Hands the complete request over. May close the connection. */
static enum exchange_outcome hand_over(struct connection *connection)
{
    const struct server_options *options = &connection->reactor->server->options;
    if (!exchange_answered(connection->exchange)) {
        call_back(connection, options->request, options->context);
    }
    return settle(connection);
}

/* Brings the pending bytes into the reactor's spare exchange; their number in `*length`. NULL
 * without memory, and then the connection is closed. */
static struct exchange *take_pending(struct connection *connection, size_t *length)
{
    struct exchange *exchange = reactor_spare(connection->reactor);
    if (!exchange) {
        connection_close(connection);
        return NULL;
    }
    *length = connection->pending.length;
    if (*length) {
        memcpy(exchange->bytes, connection->pending.data, *length);
    }
    return exchange;
}

/* Serves the requests in the `end` first bytes of the spare exchange, one after the other, until
 * one is incomplete or has to wait for its answer. May close the connection. */
static void serve(struct connection *connection, struct exchange *exchange, size_t end)
{
    size_t from = 0;
    while (from < end) {
        const char *problem;
        int used = http_parse_head(exchange->bytes + from, end - from, &exchange->head, &problem);
        if (used == 0) {
            break;
        }
        attach(connection, exchange);
        if (used < 0) {
            refuse(connection, -used, problem);
            return;
        }
        from += (size_t)used;
        if (!take_body(connection, &from, end)) {
            return;
        }
        enum exchange_outcome outcome = hand_over(connection);
        if (outcome == OUTCOME_OVER) {
            return;
        }
        if (outcome == OUTCOME_COMPLETE && recycle(connection)) {
            continue;
        }
        if (!keep(connection, exchange->bytes + from, end - from) || outcome == OUTCOME_WAITS) {
            return;
        }
        detach(connection);
        exchange = take_pending(connection, &end);
        from = 0;
        if (!exchange) {
            return;
        }
    }
    await_head(connection, exchange->bytes + from, end - from);
}

/* May close the connection. */
static void read_head(struct connection *connection)
{
    size_t length;
    struct exchange *exchange = take_pending(connection, &length);
    if (!exchange) {
        return;
    }
    ssize_t got =
        socket_receive(connection->fd, exchange->bytes + length, sizeof exchange->bytes - length);
    if (got == ERR_CLOSED) {
        connection_close(connection);
    } else {
        serve(connection, exchange, length + (got > 0 ? (size_t)got : 0));
    }
}

/* The exchange is complete: on to the next, of which the socket may hold the first bytes. May close
 * the connection. */
static void next_request(struct connection *connection, bool readable)
{
    size_t length;
    detach(connection);
    if (readable && connection->pending.length == 0) {
        read_head(connection);
        return;
    }
    struct exchange *exchange = take_pending(connection, &length);
    if (exchange) {
        serve(connection, exchange, length);
    }
}

/* How many bytes of the body to read now: none of what comes after it. */
static size_t body_bytes_to_read(const struct exchange *exchange)
{
    int64_t length = exchange->head.request.content_length;
    size_t missing = length > 0 ? (size_t)length - exchange->body_length : SIZE_MAX;
    return missing < BODY_READ_BYTES ? missing : BODY_READ_BYTES;
}

/* The client waits until somebody takes what it sent; that time is not its own. */
static void pause_body(struct connection *connection)
{
    int64_t left = connection->due - connection->reactor->now;
    connection->paused = true;
    connection->body_left_ms = left > 0 ? left : 1;
    connection->due = DEADLINE_NEVER;
    watch(connection, 0);
}

static void resume_body(struct connection *connection)
{
    connection->paused = false;
    allow(connection, connection->body_left_ms);
    watch(connection, EPOLLIN | EPOLLRDHUP);
}

/* A piece of the body has come, and was put where it belongs. True when that was the last one, and
 * `rest` behind it is kept; otherwise the connection may be closed. */
static bool took_last(struct connection *connection, int result, struct slice rest)
{
    if (result < 0) {
        refuse(connection, -result, NULL);
        return false;
    }
    if (result == 0 || !keep(connection, rest.data, rest.length)) {
        return false;
    }
    connection->due = DEADLINE_NEVER;
    exchange_set_unread(connection->exchange, connection->surplus);
    return true;
}

/* Reads some of a body that somebody takes piece by piece. May close the connection. */
static void pass_body_on(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;
    struct exchange *scratch = reactor_spare(connection->reactor);
    ssize_t got = scratch
                      ? socket_receive(connection->fd, scratch->bytes, body_bytes_to_read(exchange))
                      : ERR_CLOSED;
    struct slice body;
    size_t used;
    if (got == ERR_CLOSED) {
        connection_close(connection);
    }
    if (got <= 0) {
        return;
    }
    int result = decode_body(exchange, scratch->bytes, (size_t)got, &body, &used);
    exchange->body_length += body.length;
    /* Before the last piece is there: whoever has it may answer at once. */
    bool last =
        took_last(connection, result, (struct slice){scratch->bytes + used, (size_t)got - used});
    if (!last && result != 0) {
        return;
    }
    int status = exchange_pass_on(exchange, body, last);
    if (status == ERR_NOMEM) {
        connection_close(connection);
    } else if (last && settle(connection) == OUTCOME_COMPLETE) {
        next_request(connection, false);
    } else if (!last && status == ERR_LIMIT) {
        pause_body(connection);
    }
}

/* Reads some of a body that is gathered. May close the connection. */
static void gather_body(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;
    size_t size = body_bytes_to_read(exchange);
    char *room;
    int status = exchange_body_room(exchange, size, &room);
    if (status != OK) {
        refuse_body(connection, status);
        return;
    }
    ssize_t got = socket_receive(connection->fd, room, size);
    if (got < 0) {
        if (got == ERR_CLOSED) {
            connection_close(connection);
        }
        return;
    }
    struct slice body;
    size_t used;
    int result = decode_body(exchange, room, (size_t)got, &body, &used);
    exchange->body_length += body.length;
    if (took_last(connection, result, (struct slice){room + used, (size_t)got - used})) {
        exchange->head.request.body = (struct slice){exchange->body, exchange->body_length};
        if (hand_over(connection) == OUTCOME_COMPLETE) {
            next_request(connection, false);
        }
    }
}

/* ---- what happens to it ---- */

/* Sends what waits, and goes on if that was all. May close the connection. */
static void write_answer(struct connection *connection)
{
    exchange_flush(connection->exchange);
    if (settle(connection) == OUTCOME_COMPLETE) {
        next_request(connection, false);
    }
}

void connection_ready(struct connection *connection)
{
    if (connection->phase == PHASE_BODY && exchange_state(connection->exchange).wants_more) {
        call_back(connection, exchange_tell_drained, NULL);
    }
    if (connection->phase == PHASE_ANSWER || exchange_answered(connection->exchange)) {
        write_answer(connection);
    } else if (connection->paused && exchange_wants_body(connection->exchange)) {
        resume_body(connection);
    }
}

void connection_adopt(struct connection *connection, struct reactor *reactor)
{
    connection->reactor = reactor;
    connection->watched = connection->wanted = EPOLLIN | EPOLLRDHUP;
    connection->previous = NULL;
    connection->next = reactor->connections;
    if (deadlines_add(&reactor->deadlines, &connection->alarm) != OK) {
        close(connection->fd);
        stock_give_all(&connection->unit);
        atomic_fetch_sub(&reactor->load, 1);
        atomic_fetch_sub(&reactor->server->connections, 1);
        free(connection);
        return;
    }
    if (connection->next) {
        connection->next->previous = connection;
    }
    reactor->connections = connection;
    if (reactor_watch(reactor, EPOLL_CTL_ADD, connection->fd, connection->watched, connection) !=
        OK) {
        connection_close(connection);
        return;
    }
    if (connection->surplus) {
        entrance_add_surplus(reactor->server, connection);
    } else {
        entrance_make_room(reactor);
    }
    await_head(connection, NULL, 0);
}

/* The client sends no more. A half-closed connection counts as left, unless only the sending of a
 * complete answer remains. May close it. */
static void client_left(struct connection *connection)
{
    if (exchange_state(connection->exchange).answer == ANSWER_DONE) {
        write_answer(connection);
    } else {
        connection_close(connection);
    }
}

/* The client sends something before its answer is over. It may have the whole of it already, from a
 * thread that has not rung yet, and then this is its next request. May close the connection. */
static void take_unwanted(struct connection *connection)
{
    bool over = false;
    if (connection->phase == PHASE_ANSWER) {
        struct exchange_state state = exchange_state(connection->exchange);
        over = state.answer == ANSWER_DONE && !state.unsent;
    }
    if (!over) {
        tell_poller(connection);
    } else if (settle(connection) == OUTCOME_COMPLETE) {
        next_request(connection, true);
    }
}

void connection_event(struct connection *connection, uint32_t events)
{
    if (events & (EPOLLERR | EPOLLHUP)) {
        connection_close(connection);
        return;
    }
    if (!(events & connection->wanted)) {
        take_unwanted(connection);
        return;
    }
    switch (connection->phase) {
    case PHASE_HEAD:
        read_head(connection);
        break;
    case PHASE_BODY:
        (connection->exchange->in_pieces ? pass_body_on : gather_body)(connection);
        break;
    case PHASE_ANSWER:
        if (events & connection->wanted & EPOLLRDHUP) {
            client_left(connection);
        } else {
            write_answer(connection);
        }
        break;
    case PHASE_LINGER:
        drain(connection);
        break;
    }
}

static void fire_timer(struct connection *connection)
{
    struct exchange *exchange = connection->exchange;
    exchange->timer_at = DEADLINE_NEVER;
    if (exchange_state(exchange).answer != ANSWER_DONE) {
        call_back(connection, exchange->timer_fire, exchange->timer_context);
    }
    connection_ready(connection);
}

void connection_expire(struct connection *connection)
{
    if (connection->exchange && connection->exchange->timer_at <= connection->reactor->now) {
        fire_timer(connection);
    } else if (connection->phase == PHASE_HEAD && connection->surplus) {
        refuse_unread(connection, 503);
    } else if (connection->phase == PHASE_HEAD && connection->begun) {
        refuse_unread(connection, 408);
    } else if (connection->phase == PHASE_BODY) {
        refuse(connection, 408, NULL);
    } else {
        connection_close(connection);
    }
}
