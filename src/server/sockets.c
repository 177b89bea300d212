/* The socket calls of the server. */
#include "server/sockets.h"

#include "core/limits.h"
#include "core/status.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union socket_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_storage storage;
};

/* Listens on one address; negative with errno on failure. Not SO_REUSEPORT: a second server on the
 * same port must fail and not take half of the clients. */
static int listen_on(const struct addrinfo *info)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;
    if (fd < 0) {
        return -1;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0) {
        return fd;
    }
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static uint16_t port_of(int fd)
{
    union socket_address address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    getsockname(fd, &address.any, &length);
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

int socket_listen(const char *host, uint16_t *port, char *problem, size_t size)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char service[8];
    snprintf(service, sizeof service, "%u", (unsigned)*port);
    int unresolved = getaddrinfo(host, service, &hints, &found);
    if (unresolved) {
        snprintf(problem, size, "cannot listen on %s: %s", host, gai_strerror(unresolved));
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *info = found; info && fd < 0; info = info->ai_next) {
        fd = listen_on(info);
    }
    if (fd < 0) {
        snprintf(problem, size, "cannot listen on %s port %u: %s", host, (unsigned)*port,
                 strerror(errno));
    } else {
        *port = port_of(fd);
    }
    freeaddrinfo(found);
    return fd;
}

static void write_peer(const union socket_address *address, char peer[INET6_ADDRSTRLEN])
{
    static const char mapped[] = "::ffff:";
    peer[0] = '\0';
    if (address->any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &address->v6.sin6_addr, peer, INET6_ADDRSTRLEN);
        if (IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr)) {
            memmove(peer, peer + sizeof mapped - 1, strlen(peer) - (sizeof mapped - 1) + 1);
        }
    } else {
        inet_ntop(AF_INET, &address->v4.sin_addr, peer, INET6_ADDRSTRLEN);
    }
}

int socket_accept(int listening, int64_t patience_ms, char peer[INET6_ADDRSTRLEN])
{
    union socket_address address;
    socklen_t length = sizeof address;
    int on = 1;
    int fd = accept4(listening, &address.any, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    /* Bytes that a client does not take wait with us, where they are counted. */
    int most = (int)LIMIT_HTTP_SOCKET_BYTES;
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
    /* A machine that vanished without a word acknowledges nothing of what we send. */
    unsigned patience = (unsigned)patience_ms;
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
    write_peer(&address, peer);
    return fd;
}

ssize_t socket_send(int fd, struct iovec *pieces, size_t count)
{
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = count};
    ssize_t sent;
    do {
        sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : sent;
}

ssize_t socket_receive(int fd, void *data, size_t size)
{
    ssize_t got;
    do {
        got = recv(fd, data, size, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got > 0) {
        return got;
    }
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? ERR_BUSY : ERR_CLOSED;
}
