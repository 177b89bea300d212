/* The proxies in front of this server whose word about a client is taken: FORAGE_TRUST_PROXY.
 * Anybody can write X-Forwarded-For; only what one of these wrote is believed. */
#ifndef FORAGE_GUARD_PROXIES_H
#define FORAGE_GUARD_PROXIES_H

#include <stdbool.h>
#include <stddef.h>

struct proxies;

/* `items` are addresses and ranges, ended by a NULL; "yes" stands for the addresses of this
 * machine, and "no" alone for none, since the variable was true or false once. NULL with the reason
 * in `problem` when an item is wrong or there is no memory. */
struct proxies *proxies_new(const char *const *items, char *problem, size_t size);
struct proxies *proxies_free(struct proxies *proxies);
/* Whether that address, as text, is one of them. */
bool proxies_hold(const struct proxies *proxies, const char *address);

#endif
