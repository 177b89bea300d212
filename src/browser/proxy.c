/* The filtering proxy: its listener, the thread that serves all tunnels, and a tunnel from the
 * browser's request to its end. For each tunnel the proxy looks the name up, checks every address,
 * connects to the first one that answers, and from then on carries bytes both ways. A tunnel is a
 * state machine that never waits: the thread polls for all of them. */
#include "browser/proxy.h"

#include "core/clock.h"
#include "core/event.h"
#include "core/limits.h"
#include "core/status.h"
#include "net/resolve.h"
#include "text/base64.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_BYTES     KIB(512)
#define BACKLOG         128
#define ACCEPT_PAUSE_MS 10
#define PUMP_BYTES      KIB(32) /* read at once, and the most that waits to be written */
#define TUNNEL_FDS      2       /* that the thread polls for a tunnel */

enum { LISTENER, WAKE, FIRST_TUNNEL };

struct proxy {
    int listener;
    int wake;
    atomic_bool stopping;
    pthread_t thread;
    uint16_t port;
    struct proxy_access access; /* of no page yet */
    atomic_uint pages;
    struct resolver *resolver;
    proxy_allow *allow;
    void *context;
    struct tunnel *tunnels[LIMIT_PROXY_TUNNELS];
    size_t count;
};

/* ---- a tunnel ---- */

enum tunnel_state {
    TAKES_REQUEST, /* from the client */
    LOOKS_UP,      /* the host's name */
    CONNECTS,      /* to one of its addresses */
    CARRIES,       /* bytes both ways */
    REFUSES,       /* writes the refusal and ends */
    IS_OVER,
};

struct tunnel {
    const struct proxy *proxy;
    enum tunnel_state state;
    int client;
    int server; /* -1: not connected */
    struct proxy_request request;
    struct buf head;             /* what the client has sent so far; request points into it */
    char owner[PROXY_USER_SIZE]; /* the page */
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

/* Takes the client's socket; NULL without memory, and then it is closed. */
static struct tunnel *tunnel_new(const struct proxy *proxy, int client)
{
    struct tunnel *tunnel = calloc(1, sizeof *tunnel);
    if (!tunnel) {
        close(client);
        return NULL;
    }
    tunnel->proxy = proxy;
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

static void tunnel_free(struct tunnel *tunnel)
{
    close(tunnel->client);
    close_server(tunnel);
    resolve_free(tunnel->query);
    buf_done(&tunnel->head);
    buf_done(&tunnel->to_server);
    buf_done(&tunnel->to_client);
    buf_done(&tunnel->answer_head);
    free(tunnel);
}

/* ---- refusing ---- */

/* `status` as the first line of an answer says it: "403 Forbidden". */
static void refuse(struct tunnel *tunnel, const char *status, const char *reason)
{
    bool asks = strncmp(status, "407", 3) == 0;
    buf_clear(&tunnel->to_client);
    buf_printf(&tunnel->to_client,
               "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
               "Connection: close\r\nX-Forage-Refused: %s %s\r\n%s\r\n%s",
               status, strlen(reason), tunnel->proxy->access.mark, reason,
               asks ? "Proxy-Authenticate: Basic realm=\"forage\"\r\n" : "", reason);
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
    refuse(tunnel, "502 Bad Gateway", "the host does not answer");
}

/* One address that is not allowed is enough to refuse the host, as in net/fetch: what it is doing
 * there is not our business. */
static void check_addresses(struct tunnel *tunnel)
{
    for (size_t i = 0; i < tunnel->resolved.count; i++) {
        const struct sockaddr *address = (const struct sockaddr *)&tunnel->resolved.addresses[i];
        if (tunnel->proxy->allow(tunnel->proxy->context, tunnel->request.host, address) != OK) {
            refuse(tunnel, "403 Forbidden", "the address is not allowed");
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
        refuse(tunnel, "502 Bad Gateway", tunnel->resolved.problem);
    }
}

/* Compares in a time that does not depend on where they differ, so that nobody can measure how much
 * of a guess is right. */
static bool is_same(const char *given, size_t length, const char *wanted)
{
    unsigned char difference = 0;
    if (length != strlen(wanted)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        difference |= (unsigned char)(given[i] ^ wanted[i]);
    }
    return difference == 0;
}

/* Whether the request says "Basic" and a page's name with the password; then it is that page's. */
static bool is_authorized(struct tunnel *tunnel)
{
    static const char SCHEME[] = "Basic ";
    struct slice given = tunnel->request.authorization;
    size_t before = sizeof SCHEME - 1;
    if (given.length <= before || memcmp(given.data, SCHEME, before) != 0) {
        return false;
    }
    struct arena *arena = arena_new(KIB(4));
    size_t length = 0;
    const char *pair =
        arena ? base64_decode(arena, given.data + before, given.length - before, &length) : NULL;
    const char *colon = pair ? memchr(pair, ':', length) : NULL;
    size_t name = colon ? (size_t)(colon - pair) : 0;
    bool good = colon && name < sizeof tunnel->owner &&
                is_same(colon + 1, length - name - 1, tunnel->proxy->access.password);
    if (good) {
        memcpy(tunnel->owner, pair, name);
    }
    arena_free(arena);
    return good;
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
        refuse(tunnel, taken == -431 ? "431 Too Large" : "400 Bad Request",
               "the request is not understood");
        return;
    }
    if (!is_authorized(tunnel)) {
        refuse(tunnel, "407 Proxy Authentication Required", "this proxy belongs to a browser");
        return;
    }
    if (prepare_first_bytes(tunnel, (size_t)taken) != OK) {
        tunnel->state = IS_OVER;
        return;
    }
    struct resolve_question question = {.resolver = tunnel->proxy->resolver,
                                        .owner = tunnel->owner,
                                        .host = tunnel->request.host,
                                        .port = tunnel->request.port};
    int status = resolve_start(&question, &tunnel->query);
    if (status != OK) {
        refuse(tunnel, "502 Bad Gateway", resolve_refusal(status));
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

/* ---- what its thread does with a tunnel ---- */

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

/* What to poll for; a descriptor of -1 is for nothing. */
static void tunnel_watch(const struct tunnel *tunnel, struct pollfd fds[TUNNEL_FDS])
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
    if (tunnel->state == LOOKS_UP) {
        refuse(tunnel, "504 Gateway Timeout", "the name servers did not answer in time");
    } else if (tunnel->state == CONNECTS) {
        connect_next(tunnel);
    } else {
        tunnel->state = IS_OVER;
    }
}

/* Does what there is to do. False when it is over. */
static bool tunnel_step(struct tunnel *tunnel, const struct pollfd fds[TUNNEL_FDS])
{
    bool happened = fds[0].revents || fds[1].revents;
    if (!happened) {
        if (clock_now_ms() >= tunnel->deadline_ms) {
            pass_deadline(tunnel);
        }
        return tunnel->state != IS_OVER;
    }
    if (tunnel->state == TAKES_REQUEST) {
        take_request(tunnel);
    } else if (tunnel->state == LOOKS_UP) {
        finish_look_up(tunnel);
    } else if (tunnel->state == CONNECTS) {
        finish_connect(tunnel);
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

/* ---- its thread ---- */

static void accept_tunnel(struct proxy *proxy)
{
    int on = 1;
    int fd = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        /* Without a free descriptor the listener stays ready: no hurry to ask again. */
        poll(NULL, 0, errno == EMFILE || errno == ENFILE ? ACCEPT_PAUSE_MS : 0);
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct tunnel *tunnel = tunnel_new(proxy, fd);
    if (tunnel) {
        proxy->tunnels[proxy->count++] = tunnel;
    }
}

/* Until the first tunnel wants to be looked at. */
static int wait_time(const struct proxy *proxy)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < proxy->count; i++) {
        int64_t deadline = proxy->tunnels[i]->deadline_ms;
        first = deadline < first ? deadline : first;
    }
    if (first == INT64_MAX) {
        return -1;
    }
    int64_t left = first - clock_now_ms();
    return left > 0 ? (int)left : 0;
}

static void step_all(struct proxy *proxy, const struct pollfd *fds)
{
    size_t left = 0;
    for (size_t i = 0; i < proxy->count; i++) {
        struct tunnel *tunnel = proxy->tunnels[i];
        if (tunnel_step(tunnel, fds + FIRST_TUNNEL + i * TUNNEL_FDS)) {
            proxy->tunnels[left++] = tunnel;
        } else {
            tunnel_free(tunnel);
        }
    }
    proxy->count = left;
}

static void *run(void *argument)
{
    struct proxy *proxy = argument;
    static const size_t MOST_FDS = FIRST_TUNNEL + LIMIT_PROXY_TUNNELS * TUNNEL_FDS;
    struct pollfd *fds = calloc(MOST_FDS, sizeof *fds);
    while (fds && !atomic_load(&proxy->stopping)) {
        /* Connections beyond the ceiling wait in the backlog. */
        bool full = proxy->count == LIMIT_PROXY_TUNNELS;
        fds[LISTENER] = (struct pollfd){.fd = full ? -1 : proxy->listener, .events = POLLIN};
        fds[WAKE] = (struct pollfd){.fd = proxy->wake, .events = POLLIN};
        for (size_t i = 0; i < proxy->count; i++) {
            tunnel_watch(proxy->tunnels[i], fds + FIRST_TUNNEL + i * TUNNEL_FDS);
        }
        nfds_t watched = (nfds_t)(FIRST_TUNNEL + proxy->count * TUNNEL_FDS);
        if (poll(fds, watched, wait_time(proxy)) < 0 && errno != EINTR) {
            break;
        }
        step_all(proxy, fds);
        if (fds[LISTENER].revents) {
            accept_tunnel(proxy);
        }
    }
    for (size_t i = 0; i < proxy->count; i++) {
        tunnel_free(proxy->tunnels[i]);
    }
    free(fds);
    return NULL;
}

/* ---- its life ---- */

static int listen_on_loopback(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, BACKLOG) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        *port = ntohs(address.sin_port);
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

static int make_secrets(struct proxy_access *access)
{
    return id_make_secret(access->password) == OK && id_make_secret(access->mark) == OK ? OK
                                                                                        : ERR_IO;
}

struct proxy *proxy_start(struct resolver *resolver, proxy_allow *allow, void *context,
                          char *problem, size_t size)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);
    if (!proxy) {
        snprintf(problem, size, "there is no memory for the browser's proxy");
        return NULL;
    }
    proxy->wake = event_open();
    proxy->listener = listen_on_loopback(&proxy->port);
    proxy->resolver = resolver;
    proxy->allow = allow;
    proxy->context = context;
    if (proxy->wake < 0 || proxy->listener < 0 || make_secrets(&proxy->access) != OK ||
        thread_start(&proxy->thread, STACK_BYTES, run, proxy) != OK) {
        snprintf(problem, size, "the browser's proxy does not start: %s", strerror(errno));
        event_close(proxy->wake);
        if (proxy->listener >= 0) {
            close(proxy->listener);
        }
        free(proxy);
        return NULL;
    }
    return proxy;
}

uint16_t proxy_port(const struct proxy *proxy)
{
    return proxy->port;
}

void proxy_admit(struct proxy *proxy, struct proxy_access *access)
{
    *access = proxy->access;
    snprintf(access->user, sizeof access->user, "page-%u", atomic_fetch_add(&proxy->pages, 1) + 1);
}

struct proxy *proxy_free(struct proxy *proxy)
{
    if (proxy) {
        atomic_store(&proxy->stopping, true);
        event_signal(proxy->wake);
        pthread_join(proxy->thread, NULL);
        event_close(proxy->wake);
        close(proxy->listener);
        free(proxy);
    }
    return NULL;
}
