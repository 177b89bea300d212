/* A server on loopback for tests: accepts connections and gives each to a function in a thread of
 * its own. What the threads see is kept for the test to look at; they assert nothing themselves. */
#ifndef FORAGE_TESTS_LOOPBACK_H
#define FORAGE_TESTS_LOOPBACK_H

#include "core/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOPBACK_MOST 256

struct loopback;
typedef void (*loopback_serve)(struct loopback *server, int client);

struct loopback {
    int listener;
    int port;
    loopback_serve serve;
    pthread_t acceptor;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int connections;       /* accepted so far */
    int stuck;             /* clients that loopback_await_close() has been waiting for */
    int64_t last_close_us; /* when it saw the last of them leave */
    int closed;
    pthread_t threads[LOOPBACK_MOST];
    int clients[LOOPBACK_MOST];
};

struct loopback_client {
    struct loopback *server;
    int index;
};

/* False when the client has left. */
static inline bool loopback_send(int client, const void *data, size_t length)
{
    const char *at = data;
    while (length) {
        ssize_t sent = send(client, at, length, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        at += sent;
        length -= (size_t)sent;
    }
    return true;
}

static inline void loopback_say(int client, const char *text)
{
    loopback_send(client, text, strlen(text));
}

/* Reads a request: its head, and the body that Content-Length announces. Its length; 0 when the
 * client has left. */
static inline size_t loopback_read(int client, char *out, size_t size)
{
    size_t length = 0;
    size_t wanted = SIZE_MAX;
    while (length < wanted && length + 1 < size) {
        ssize_t got = recv(client, out + length, size - 1 - length, 0);
        if (got <= 0) {
            return 0;
        }
        length += (size_t)got;
        out[length] = '\0';
        const char *end = strstr(out, "\r\n\r\n");
        const char *body = strcasestr(out, "\r\ncontent-length:");
        if (end && wanted == SIZE_MAX) {
            size_t head = (size_t)(end - out) + 4;
            wanted = head + (body && body < end ? strtoul(body + 17, NULL, 10) : 0);
        }
    }
    return length;
}

/* Tells the test that a client is stuck, and waits until it leaves. */
static inline void loopback_await_close(struct loopback *server, int client)
{
    pthread_mutex_lock(&server->lock);
    server->stuck++;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
    char ignored[4096];
    while (recv(client, ignored, sizeof ignored, 0) > 0) {
    }
    pthread_mutex_lock(&server->lock);
    server->last_close_us = clock_now_us();
    server->closed++;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

static inline void loopback_await_stuck(struct loopback *server, int count)
{
    pthread_mutex_lock(&server->lock);
    while (server->stuck < count) {
        pthread_cond_wait(&server->changed, &server->lock);
    }
    pthread_mutex_unlock(&server->lock);
}

/* Waits until `count` stuck clients have left; when the last of them did. */
static inline int64_t loopback_await_closed(struct loopback *server, int count)
{
    pthread_mutex_lock(&server->lock);
    while (server->closed < count) {
        pthread_cond_wait(&server->changed, &server->lock);
    }
    int64_t when = server->last_close_us;
    pthread_mutex_unlock(&server->lock);
    return when;
}

static inline int loopback_connections(struct loopback *server)
{
    pthread_mutex_lock(&server->lock);
    int connections = server->connections;
    pthread_mutex_unlock(&server->lock);
    return connections;
}

static inline void *loopback_run_client(void *argument)
{
    struct loopback_client *client = argument;
    struct loopback *server = client->server;
    int index = client->index;
    free(client);
    server->serve(server, server->clients[index]);
    shutdown(server->clients[index], SHUT_RDWR);
    return NULL;
}

static inline void *loopback_accept(void *argument)
{
    struct loopback *server = argument;
    for (int index = 0; index < LOOPBACK_MOST; index++) {
        int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0) {
            return NULL;
        }
        struct loopback_client *client = calloc(1, sizeof *client);
        if (!client) {
            abort();
        }
        *client = (struct loopback_client){.server = server, .index = index};
        pthread_mutex_lock(&server->lock);
        server->clients[index] = fd;
        if (pthread_create(&server->threads[index], NULL, loopback_run_client, client) != 0) {
            abort();
        }
        server->connections++;
        pthread_mutex_unlock(&server->lock);
    }
    return NULL;
}

static inline int loopback_listen(const char *address, int backlog, int *port)
{
    struct sockaddr_in local = {.sin_family = AF_INET};
    socklen_t size = sizeof local;
    inet_pton(AF_INET, address, &local.sin_addr);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&local, sizeof local) != 0 ||
        listen(listener, backlog) != 0 ||
        getsockname(listener, (struct sockaddr *)&local, &size) != 0) {
        abort();
    }
    *port = ntohs(local.sin_port);
    return listener;
}

static inline struct loopback *loopback_start(const char *address, loopback_serve serve)
{
    struct loopback *server = calloc(1, sizeof *server);
    if (!server) {
        abort();
    }
    server->serve = serve;
    server->listener = loopback_listen(address, LOOPBACK_MOST, &server->port);
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    if (pthread_create(&server->acceptor, NULL, loopback_accept, server) != 0) {
        abort();
    }
    return server;
}

static inline void loopback_stop(struct loopback *server)
{
    shutdown(server->listener, SHUT_RDWR);
    pthread_join(server->acceptor, NULL);
    for (int i = 0; i < server->connections; i++) {
        shutdown(server->clients[i], SHUT_RDWR);
        pthread_join(server->threads[i], NULL);
        close(server->clients[i]);
    }
    close(server->listener);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

#endif
