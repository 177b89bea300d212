/* The filtering proxy: its listener and the thread that serves all tunnels. */
#include "page/browser/proxy.h"

#include "core/clock.h"
#include "core/event.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/status.h"
#include "page/browser/tunnel.h"
#include "text/base64.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_BYTES         KIB(512)
#define BACKLOG             128
#define AUTHORIZATION_BYTES 128
#define ACCEPT_PAUSE_MS     10

enum { LISTENER, WAKE, FIRST_TUNNEL };

struct proxy {
    int listener;
    uint16_t port;
    int wake;
    atomic_bool stopping;
    pthread_t thread;
    char password[ID_SECRET_SIZE];
    char mark[ID_SECRET_SIZE];
    char authorization[AUTHORIZATION_BYTES];
    struct tunnel_rules rules;
    struct tunnel *tunnels[LIMIT_PROXY_TUNNELS];
    size_t count;
};

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
    struct tunnel *tunnel = tunnel_new(&proxy->rules, fd);
    if (tunnel) {
        proxy->tunnels[proxy->count++] = tunnel;
    }
}

/* Until the first tunnel wants to be looked at. */
static int wait_time(const struct proxy *proxy)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < proxy->count; i++) {
        int64_t deadline = tunnel_deadline_ms(proxy->tunnels[i]);
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
    size_t kept = 0;
    for (size_t i = 0; i < proxy->count; i++) {
        struct tunnel *tunnel = proxy->tunnels[i];
        if (tunnel_step(tunnel, fds + FIRST_TUNNEL + i * TUNNEL_FDS)) {
            proxy->tunnels[kept++] = tunnel;
        } else {
            tunnel_free(tunnel);
        }
    }
    proxy->count = kept;
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

static int make_secrets(struct proxy *proxy)
{
    char pair[sizeof PROXY_USER + ID_SECRET_SIZE];
    if (id_make_secret(proxy->password) != OK || id_make_secret(proxy->mark) != OK) {
        return ERR_IO;
    }
    int length = snprintf(pair, sizeof pair, "%s:%s", PROXY_USER, proxy->password);
    struct arena *arena = arena_new(KIB(4));
    const char *encoded = arena ? base64_encode(arena, pair, (size_t)length) : NULL;
    if (encoded) {
        snprintf(proxy->authorization, sizeof proxy->authorization, "Basic %s", encoded);
    }
    arena_free(arena);
    return encoded ? OK : ERR_NOMEM;
}

/* Signals are the business of the program's own threads. 0 or an error number. */
static int start_thread(struct proxy *proxy)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    int error = pthread_attr_init(&attributes);
    if (error) {
        return error;
    }
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&proxy->thread, &attributes, run, proxy);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

struct proxy *proxy_start(const struct proxy_options *options, char *problem, size_t size)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);
    if (!proxy) {
        snprintf(problem, size, "there is no memory for the browser's proxy");
        return NULL;
    }
    proxy->wake = event_open();
    proxy->listener = listen_on_loopback(&proxy->port);
    proxy->rules =
        (struct tunnel_rules){options->allow, options->context, proxy->authorization, proxy->mark};
    if (proxy->wake < 0 || proxy->listener < 0 || make_secrets(proxy) != OK ||
        start_thread(proxy) != 0) {
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

const char *proxy_password(const struct proxy *proxy)
{
    return proxy->password;
}

const char *proxy_mark(const struct proxy *proxy)
{
    return proxy->mark;
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
