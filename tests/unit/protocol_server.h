/* A small server for tests of the protocol: a few tools, resources and prompts, and one way to send
 * it a message. */
#ifndef FORAGE_TESTS_PROTOCOL_SERVER_H
#define FORAGE_TESTS_PROTOCOL_SERVER_H

#include "mcp/mcp.h"

#include <stdbool.h>

struct test_server {
    struct registry *registry;
    struct mcp *mcp;
    struct mcp_client *client;
    struct buf sent; /* what went to the sink, a line each */
};

/* False without memory. */
bool test_server_open(struct test_server *server);
void test_server_close(struct test_server *server);

/* Sends one message as the peer says and runs what comes of it. The answer, to be freed, or NULL;
 * `status` is the HTTP status. */
char *test_server_send(struct test_server *server, const struct mcp_peer *peer, const char *message,
                       size_t length, int *status);

#endif
