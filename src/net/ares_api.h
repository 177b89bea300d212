/* c-ares, which asks name servers without a thread: opened at the first look-up, as libcurl is at
 * the first fetch. One table holds the functions that forage uses. */
#ifndef FORAGE_NET_ARES_API_H
#define FORAGE_NET_ARES_API_H

#include <ares.h>

/* The functions of the same names with "ares_" before them. */
struct ares_api {
    int (*library_init)(int flags);
    const char *(*version)(int *number);
    int (*init_options)(ares_channel *channel, struct ares_options *options, int mask);
    int (*set_servers_ports)(ares_channel channel, struct ares_addr_port_node *servers);
    void (*destroy)(ares_channel channel);
    void (*getaddrinfo)(ares_channel channel, const char *node, const char *service,
                        const struct ares_addrinfo_hints *hints, ares_addrinfo_callback callback,
                        void *context);
    void (*freeaddrinfo)(struct ares_addrinfo *found);
    void (*process_fd)(ares_channel channel, ares_socket_t readable, ares_socket_t writable);
    struct timeval *(*timeout)(ares_channel channel, struct timeval *most, struct timeval *left);
};

/* The table, for the rest of the program's life; NULL with `problem` set (never freed) when there
 * is no c-ares. Safe in every thread. */
const struct ares_api *ares_api_open(const char **problem);

#endif
