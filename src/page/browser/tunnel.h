/* One connection of the browser to the filtering proxy, from its request to its end: the name is
 * looked up and every address is checked, the first one that answers is connected to, and from then
 * on bytes are carried both ways. A state machine that never waits; the proxy's thread polls for
 * it. */
#ifndef FORAGE_PAGE_BROWSER_TUNNEL_H
#define FORAGE_PAGE_BROWSER_TUNNEL_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define TUNNEL_FDS 2

struct tunnel;

/* What all tunnels of a proxy share. */
struct tunnel_rules {
    /* As fetch_request.allow. */
    int (*allow)(void *context, const char *host, const struct sockaddr *address);
    void *allow_context;
    const char *authorization; /* what Proxy-Authorization must say */
    const char *mark;          /* of a refusal: the value of its header X-Forage-Refused */
};

/* Takes the client's socket; NULL without memory, and then it is closed. */
struct tunnel *tunnel_new(const struct tunnel_rules *rules, int client);
/* What to poll for; a descriptor of -1 is for nothing. */
void tunnel_watch(const struct tunnel *tunnel, struct pollfd fds[TUNNEL_FDS]);
/* When it wants to be looked at although nothing happened; of clock_now_ms(). */
int64_t tunnel_deadline_ms(const struct tunnel *tunnel);
/* Does what there is to do. False when it is over. */
bool tunnel_step(struct tunnel *tunnel, const struct pollfd fds[TUNNEL_FDS]);
struct tunnel *tunnel_free(struct tunnel *tunnel);

#endif
