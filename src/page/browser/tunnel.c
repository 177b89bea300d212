/* One connection of the browser to the filtering proxy. */
#include "page/browser/tunnel.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/limits.h"
#include "core/status.h"
#include "net/resolve.h"
#include "page/browser/proxy_head.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUMP_BYTES KIB(32) /* read at once, and the most that waits to be written */

enum state {
    TAKES_REQUEST, /* from the client */
    LOOKS_UP,      /* the host's name */
    CONNECTS,      /* to one of its addresses */
    CARRIES,       /* bytes both ways */
    REFUSES,       /* writes the refusal and ends */
    IS_OVER,
};

struct tunnel {
    const struct tunnel_rules *rules;
    enum state state;
    int client;
    int server; /* -1: not connected */
    struct proxy_request request;
    struct buf head; /* what the client has sent so far; request points into it */
    struct resolve_query *query;
    struct resolve_result resolved;
    size_t next_address;
    struct buf to_server;
    struct buf to_client;
    struct buf answer_head; /* of a plain answer, while it is not complete */
    bool takes_answer_head;
    size_t carried;
    int64_t deadline_ms;
};

struct tunnel *tunnel_new(const struct tunnel_rules *rules, int client)
{
    struct tunnel *tunnel = calloc(1, sizeof *tunnel);
    if (!tunnel) {
        close(client);
        return NULL;
    }
    tunnel->rules = rules;
    tunnel->client = client;
    tunnel->server = -1;
    tunnel->deadline_ms = clock_now_ms() + TIME_HTTP_HEAD_MS;
    buf_init(&tunnel->head, LIMIT_HTTP_HEAD_BYTES + PUMP_BYTES);
    buf_init(&tunnel->to_server, LIMIT_HTTP_HEAD_BYTES + 2 * PUMP_BYTES);
    buf_init(&tunnel->to_client, LIMIT_HTTP_HEAD_BYTES + 2 * PUMP_BYTES);
    buf_init(&tunnel->answer_head, LIMIT_HTTP_HEAD_BYTES + PUMP_BYTES);
    return tunnel;
}

static void close_server(struct tunnel *tunnel)
{
    if (tunnel->server >= 0) {
        close(tunnel->server);
        tunnel->server = -1;
    }
}

struct tunnel *tunnel_free(struct tunnel *tunnel)
{
    if (tunnel) {
        close(tunnel->client);
        close_server(tunnel);
        resolve_free(tunnel->query);
        buf_done(&tunnel->head);
        buf_done(&tunnel->to_server);
        buf_done(&tunnel->to_client);
        buf_done(&tunnel->answer_head);
        free(tunnel);
    }
    return NULL;
}

/* ---- refusing ---- */

static const struct {
    int status;
    const char *words;
} WORDS[] = {
    {400, "Bad Request"}, {403, "Forbidden"},   {407, "Proxy Authentication Required"},
    {431, "Too Large"},   {502, "Bad Gateway"}, {504, "Gateway Timeout"},
};

static void refuse(struct tunnel *tunnel, int status, const char *reason)
{
    const char *words = "Refused";
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (WORDS[i].status == status) {
            words = WORDS[i].words;
        }
    }
    buf_clear(&tunnel->to_client);
    buf_printf(&tunnel->to_client,
               "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
               "Connection: close\r\nX-Forage-Refused: %s %s\r\n%s\r\n%s",
               status, words, strlen(reason), tunnel->rules->mark, reason,
               status == 407 ? "Proxy-Authenticate: Basic realm=\"forage\"\r\n" : "", reason);
    tunnel->deadline_ms = clock_now_ms() + TIME_HTTP_HEAD_MS;
    tunnel->state = buf_error(&tunnel->to_client) == OK ? REFUSES : IS_OVER;
}

/* ---- moving bytes ---- */

/* Writes what the socket takes. False when the connection is broken. */
static bool flush(int fd, struct buf *pending)
{
    while (pending->length) {
        ssize_t sent = send(fd, pending->data, pending->length, MSG_NOSIGNAL);
        if (sent > 0) {
            buf_consume(pending, (size_t)sent);
        } else if (sent < 0 && errno == EINTR) {
            continue;
        } else {
            return sent < 0 && errno == EAGAIN;
        }
    }
    return true;
}

/* Reads once. The number of bytes, 0 when there are none now, ERR_CLOSED at the end. */
static ssize_t receive(int fd, char *data, size_t size)
{
    ssize_t got = recv(fd, data, size, 0);
    if (got > 0) {
        return got;
    }
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : ERR_CLOSED;
}

/* ---- connecting ---- */

/* Begins to connect to the next address that is left. */
static void connect_next(struct tunnel *tunnel)
{
    close_server(tunnel);
    while (tunnel->next_address < tunnel->resolved.count) {
        const struct sockaddr_storage *address =
            &tunnel->resolved.addresses[tunnel->next_address++];
        socklen_t size = address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                        : sizeof(struct sockaddr_in);
        int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0) {
            continue;
        }
        if (connect(fd, (const struct sockaddr *)address, size) == 0 || errno == EINPROGRESS) {
            int on = 1;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            tunnel->server = fd;
            tunnel->state = CONNECTS;
            tunnel->deadline_ms = clock_now_ms() + TIME_PROXY_CONNECT_MS;
            return;
        }
        close(fd);
    }
    refuse(tunnel, 502, "the host does not answer");
}

/* One address that is not allowed is enough to refuse the host, as in net/fetch: what it is doing
 * there is not our business. */
static void check_addresses(struct tunnel *tunnel)
{
    for (size_t i = 0; i < tunnel->resolved.count; i++) {
        const struct sockaddr *address = (const struct sockaddr *)&tunnel->resolved.addresses[i];
        if (tunnel->rules->allow(tunnel->rules->allow_context, tunnel->request.host, address) !=
            OK) {
            refuse(tunnel, 403, "the address is not allowed");
            return;
        }
    }
    connect_next(tunnel);
}

static void finish_look_up(struct tunnel *tunnel)
{
    int status = resolve_finish(tunnel->query, &tunnel->resolved);
    if (status == ERR_BUSY) {
        return;
    }
    tunnel->query = resolve_free(tunnel->query);
    if (status == OK) {
        check_addresses(tunnel);
    } else {
        refuse(tunnel, 502, tunnel->resolved.problem);
    }
}

/* Compares in a time that tells nothing about where they differ. */
static bool is_authorized(const struct tunnel *tunnel)
{
    struct slice given = tunnel->request.authorization;
    const char *wanted = tunnel->rules->authorization;
    unsigned char difference = 0;
    if (given.length != strlen(wanted)) {
        return false;
    }
    for (size_t i = 0; i < given.length; i++) {
        difference |= (unsigned char)(given.data[i] ^ wanted[i]);
    }
    return difference == 0;
}

/* What the server gets first: our head for it, and what came behind the client's. */
static int prepare_first_bytes(struct tunnel *tunnel, size_t head_length)
{
    int status = OK;
    tunnel->takes_answer_head = !tunnel->request.tunnel;
    if (!tunnel->request.tunnel) {
        status = proxy_write_request(&tunnel->to_server, &tunnel->request);
    }
    if (status == OK) {
        status = buf_append(&tunnel->to_server, tunnel->head.data + head_length,
                            tunnel->head.length - head_length);
    }
    return status;
}

static void take_request(struct tunnel *tunnel)
{
    char data[PUMP_BYTES];
    ssize_t got = receive(tunnel->client, data, sizeof data);
    if (got < 0 || buf_append(&tunnel->head, data, (size_t)got) != OK) {
        tunnel->state = IS_OVER;
        return;
    }
    int taken = proxy_read_request(tunnel->head.data, tunnel->head.length, &tunnel->request);
    if (taken == 0) {
        return;
    }
    if (taken < 0) {
        refuse(tunnel, -taken, "the request is not understood");
        return;
    }
    if (!is_authorized(tunnel)) {
        refuse(tunnel, 407, "this proxy belongs to a browser");
        return;
    }
    if (prepare_first_bytes(tunnel, (size_t)taken) != OK) {
        tunnel->state = IS_OVER;
        return;
    }
    if (resolve_start(tunnel->request.host, tunnel->request.port, &tunnel->query) != OK) {
        refuse(tunnel, 502, "too many names are being looked up");
        return;
    }
    tunnel->state = LOOKS_UP;
    tunnel->deadline_ms = clock_now_ms() + TIME_PROXY_CONNECT_MS;
    finish_look_up(tunnel);
}

static void finish_connect(struct tunnel *tunnel)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(tunnel->server, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error) {
        connect_next(tunnel);
        return;
    }
    if (tunnel->request.tunnel) {
        buf_puts(&tunnel->to_client, "HTTP/1.1 200 OK\r\n\r\n");
    }
    tunnel->state = CARRIES;
}

/* ---- carrying ---- */

/* The head of a plain answer is rewritten; what follows passes as it is. False: it is broken. */
static bool take_answer(struct tunnel *tunnel, const char *data, size_t length)
{
    if (!tunnel->takes_answer_head) {
        return buf_append(&tunnel->to_client, data, length) == OK;
    }
    if (buf_append(&tunnel->answer_head, data, length) != OK) {
        return false;
    }
    bool is_interim = true;
    while (is_interim && tunnel->answer_head.length) {
        int taken = proxy_write_answer(&tunnel->to_client, tunnel->answer_head.data,
                                       tunnel->answer_head.length, &is_interim);
        if (taken <= 0) {
            return taken == 0;
        }
        buf_consume(&tunnel->answer_head, (size_t)taken);
    }
    if (is_interim) {
        return true;
    }
    tunnel->takes_answer_head = false;
    bool good =
        buf_append(&tunnel->to_client, tunnel->answer_head.data, tunnel->answer_head.length) == OK;
    buf_done(&tunnel->answer_head);
    return good;
}

static bool carry_to_client(struct tunnel *tunnel)
{
    char data[PUMP_BYTES];
    ssize_t got = receive(tunnel->server, data, sizeof data);
    if (got == ERR_CLOSED) {
        /* What is left for the client still goes out. */
        close_server(tunnel);
        return tunnel->to_client.length > 0;
    }
    tunnel->carried += (size_t)got;
    return tunnel->carried <= LIMIT_PROXY_TUNNEL_BYTES && take_answer(tunnel, data, (size_t)got) &&
           flush(tunnel->client, &tunnel->to_client);
}

static bool carry_to_server(struct tunnel *tunnel)
{
    char data[PUMP_BYTES];
    ssize_t got = receive(tunnel->client, data, sizeof data);
    if (got == ERR_CLOSED) {
        return false; /* the browser does not close one direction alone */
    }
    tunnel->carried += (size_t)got;
    return tunnel->carried <= LIMIT_PROXY_TUNNEL_BYTES &&
           buf_append(&tunnel->to_server, data, (size_t)got) == OK &&
           flush(tunnel->server, &tunnel->to_server);
}

static bool carry(struct tunnel *tunnel, const struct pollfd fds[TUNNEL_FDS])
{
    bool client_is_gone = fds[0].revents & (POLLHUP | POLLERR);
    if (client_is_gone || !flush(tunnel->client, &tunnel->to_client) ||
        (tunnel->server >= 0 && !flush(tunnel->server, &tunnel->to_server))) {
        return false;
    }
    if (tunnel->server < 0) {
        return tunnel->to_client.length > 0;
    }
    bool from_client = fds[0].revents & POLLIN;
    bool from_server = fds[1].revents & (POLLIN | POLLHUP | POLLERR);
    if (from_client && tunnel->to_server.length == 0 && !carry_to_server(tunnel)) {
        return false;
    }
    return !from_server || tunnel->to_client.length > 0 || carry_to_client(tunnel);
}

/* ---- for the proxy's thread ---- */

int64_t tunnel_deadline_ms(const struct tunnel *tunnel)
{
    return tunnel->deadline_ms;
}

/* Nothing is read that could not be written. A server that has said everything would be reported
 * again and again while the client takes its time, so it is not looked at meanwhile. */
static void watch_both(const struct tunnel *tunnel, struct pollfd fds[TUNNEL_FDS])
{
    bool reads_client = tunnel->server >= 0 && tunnel->to_server.length == 0;
    bool reads_server = tunnel->to_client.length == 0;
    bool writes_server = tunnel->to_server.length > 0;
    fds[0].fd = tunnel->client;
    fds[0].events = (short)((reads_client ? POLLIN : 0) | (reads_server ? 0 : POLLOUT));
    if (reads_server || writes_server) {
        fds[1].fd = tunnel->server;
        fds[1].events = (short)((reads_server ? POLLIN : 0) | (writes_server ? POLLOUT : 0));
    }
}

void tunnel_watch(const struct tunnel *tunnel, struct pollfd fds[TUNNEL_FDS])
{
    fds[0] = (struct pollfd){.fd = -1};
    fds[1] = (struct pollfd){.fd = -1};
    switch (tunnel->state) {
    case TAKES_REQUEST:
        fds[0] = (struct pollfd){.fd = tunnel->client, .events = POLLIN};
        break;
    case LOOKS_UP:
        fds[1] = (struct pollfd){.fd = resolve_fd(tunnel->query), .events = POLLIN};
        break;
    case CONNECTS:
        fds[1] = (struct pollfd){.fd = tunnel->server, .events = POLLOUT};
        break;
    case CARRIES:
        watch_both(tunnel, fds);
        break;
    case REFUSES:
        fds[0] = (struct pollfd){.fd = tunnel->client, .events = POLLOUT};
        break;
    case IS_OVER:
        break;
    }
}

static void pass_deadline(struct tunnel *tunnel)
{
    switch (tunnel->state) {
    case LOOKS_UP:
        refuse(tunnel, 504, "the name servers did not answer in time");
        break;
    case CONNECTS:
        connect_next(tunnel);
        break;
    default:
        tunnel->state = IS_OVER;
    }
}

bool tunnel_step(struct tunnel *tunnel, const struct pollfd fds[TUNNEL_FDS])
{
    bool happened = fds[0].revents || fds[1].revents;
    if (!happened) {
        if (clock_now_ms() >= tunnel->deadline_ms) {
            pass_deadline(tunnel);
        }
        return tunnel->state != IS_OVER;
    }
    switch (tunnel->state) {
    case TAKES_REQUEST:
        take_request(tunnel);
        break;
    case LOOKS_UP:
        finish_look_up(tunnel);
        break;
    case CONNECTS:
        finish_connect(tunnel);
        break;
    case CARRIES:
    case REFUSES:
    case IS_OVER:
        break;
    }
    if (tunnel->state == CARRIES) {
        tunnel->deadline_ms = clock_now_ms() + TIME_PROXY_IDLE_MS;
        return carry(tunnel, fds);
    }
    if (tunnel->state == REFUSES) {
        return flush(tunnel->client, &tunnel->to_client) && tunnel->to_client.length > 0;
    }
    return tunnel->state != IS_OVER;
}
