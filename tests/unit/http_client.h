/* A plain HTTP client for the tests of the server: sockets that block, with a generous limit, and
 * replies that are read to their last byte and no further. */
#ifndef FORAGE_TESTS_HTTP_CLIENT_H
#define FORAGE_TESTS_HTTP_CLIENT_H

#include "unit.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/limits.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_S   30 /* how long a test waits before it calls something stuck */
#define CLIENT_BYTES KIB(16)

struct reply {
    int status; /* 0: the connection ended before there was one */
    char head[CLIENT_BYTES + 1];
    struct buf body;
};

/* A socket that is not connected yet. */
static inline int client_socket(void)
{
    struct timeval limit = {.tv_sec = PATIENCE_S};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return fd;
}

static inline bool client_join(int fd, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
}

/* A connected socket; negative when the server does not take it. */
static inline int client_connect(uint16_t port)
{
    int fd = client_socket();
    if (!client_join(fd, port)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Ends a connection with a reset. */
static inline void client_reset(int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
}

/* False when the other side takes no more. */
static inline bool client_send_bytes(int fd, const char *data, size_t length)
{
    while (length) {
        ssize_t sent = send(fd, data, length, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        data += sent;
        length -= (size_t)sent;
    }
    return true;
}

static inline bool client_send(int fd, const char *text)
{
    return client_send_bytes(fd, text, strlen(text));
}

/* Exactly `length` bytes, appended. */
static inline bool client_read_bytes(int fd, struct buf *out, size_t length)
{
    char piece[CLIENT_BYTES];
    while (length) {
        ssize_t got = recv(fd, piece, length < sizeof piece ? length : sizeof piece, 0);
        if (got <= 0 || buf_append(out, piece, (size_t)got) != 0) {
            return false;
        }
        length -= (size_t)got;
    }
    return true;
}

/* Reads up to and with `end`, which must come within the size of `out`. */
static inline bool client_read_until(int fd, const char *end, char *out, size_t size)
{
    size_t length = 0;
    while (length < size) {
        ssize_t seen = recv(fd, out + length, size - length, MSG_PEEK);
        if (seen <= 0) {
            break;
        }
        const char *found = memmem(out, length + (size_t)seen, end, strlen(end));
        size_t take = found ? (size_t)(found - out) + strlen(end) - length : (size_t)seen;
        if (recv(fd, out + length, take, 0) != (ssize_t)take) {
            break;
        }
        length += take;
        if (found) {
            out[length] = '\0';
            return true;
        }
    }
    out[length] = '\0';
    return false;
}

/* The value of a header line, or NULL. */
static inline const char *reply_header(const struct reply *reply, const char *name, char out[128])
{
    for (const char *line = strstr(reply->head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        size_t length = strlen(name);
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':') {
            const char *value = line + 2 + length + 1;
            value += strspn(value, " ");
            size_t size = strcspn(value, "\r");
            size = size < 127 ? size : 127;
            memcpy(out, value, size);
            out[size] = '\0';
            return out;
        }
    }
    return NULL;
}

static inline bool client_read_chunked(int fd, struct buf *body)
{
    for (;;) {
        char line[64];
        struct buf end;
        if (!client_read_until(fd, "\r\n", line, sizeof line - 1)) {
            return false;
        }
        size_t size = strtoul(line, NULL, 16);
        buf_init(&end, 2);
        bool whole = client_read_bytes(fd, body, size) && client_read_bytes(fd, &end, 2);
        buf_done(&end);
        if (!whole || size == 0) {
            return whole;
        }
    }
}

/* Reads one reply; `bodiless` for one to HEAD. False when it is cut off. */
static inline bool client_read(int fd, struct reply *reply, bool bodiless)
{
    char value[128];
    reply->status = 0;
    buf_init(&reply->body, MIB(64));
    if (!client_read_until(fd, "\r\n\r\n", reply->head, CLIENT_BYTES)) {
        return false;
    }
    reply->status = (int)strtol(reply->head + strlen("HTTP/1.1 "), NULL, 10);
    if (bodiless || reply->status < 200 || reply->status == 204) {
        return true;
    }
    if (reply_header(reply, "Content-Length", value)) {
        return client_read_bytes(fd, &reply->body, strtoul(value, NULL, 10));
    }
    if (reply_header(reply, "Transfer-Encoding", value)) {
        return client_read_chunked(fd, &reply->body);
    }
    while (client_read_bytes(fd, &reply->body, 1)) {
    }
    return true;
}

/* Whether the connection ends with no further byte. */
static inline bool client_ended(int fd)
{
    char byte;
    return recv(fd, &byte, 1, 0) == 0;
}

/* Reads a reply; whether status and body are those (any body for NULL). For threads of a test, in
 * which cmocka's assertions do not work. */
static inline bool client_gets(int fd, int status, const char *body)
{
    struct reply reply;
    bool right = client_read(fd, &reply, false) && reply.status == status &&
                 (!body || strcmp(reply.body.data ? reply.body.data : "", body) == 0);
    buf_done(&reply.body);
    return right;
}

static inline void client_expect(int fd, int status, const char *body)
{
    assert_true(client_gets(fd, status, body));
}

/* Whether a counter reaches a value before patience ends. */
static inline bool reaches(_Atomic int *counter, int value)
{
    int64_t until = clock_now_ms() + PATIENCE_S * 1000;
    while (atomic_load(counter) < value && clock_now_ms() < until) {
        usleep(1000);
    }
    return atomic_load(counter) == value;
}

static inline void wait_for(_Atomic int *counter, int value)
{
    assert_true(reaches(counter, value));
}

#endif
