/* Names as the system looks them up: getaddrinfo(), with every source that /etc/nsswitch.conf
 * names. It cannot be interrupted, so each look-up has a thread of its own, and one that nobody
 * waits for any more keeps its thread until the system answers. So the threads are few, each owner
 * has its share of them, and only what cannot be asked in another way is asked here. */
#ifndef FORAGE_NET_SYSTEM_NAMES_H
#define FORAGE_NET_SYSTEM_NAMES_H

#include "core/stock.h"
#include "net/resolve.h"

#include <stdbool.h>

struct system_names;
struct system_look_up;

/* NULL when there is no memory. */
struct system_names *system_names_new(struct stocks *stocks);
/* Look-ups that are still under way are left to themselves. */
struct system_names *system_names_free(struct system_names *names);

/* Whether the system has other sources of names than its hosts file and its name servers. */
bool system_has_other_sources(void);

/* Starts one; `names` of NULL: it is not counted. OK, or as of stock_take. */
MUST_CHECK int system_look_up_start(struct system_names *names,
                                    const struct resolve_question *question,
                                    struct system_look_up **look_up);
/* Readable when it is answered. */
MUST_CHECK int system_look_up_fd(const struct system_look_up *look_up);
/* ERR_BUSY while it is not answered; otherwise as of resolve_finish. */
MUST_CHECK int system_look_up_finish(struct system_look_up *look_up, struct resolve_result *result);
/* At any time. */
struct system_look_up *system_look_up_free(struct system_look_up *look_up);

#endif
