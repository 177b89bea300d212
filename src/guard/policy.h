/* The address policy: forage fetches what strangers ask for, so it connects only to public
 * addresses of the internet, whatever a URL, a redirect or the domain name system says. Judged is
 * the address itself, after the look-up; addresses that carry another address inside (IPv4 in IPv6)
 * are judged by that one.
 *
 * An operator may open hosts of his own network by name, address or range:
 * FORAGE_ALLOW_PRIVATE_HOSTS. */
#ifndef FORAGE_GUARD_POLICY_H
#define FORAGE_GUARD_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct policy;

/* `allowed` is a list separated by commas of names (wiki.internal), names with a port
 * (wiki.internal:8080), addresses (10.0.0.7, ::1), addresses with a port (10.0.0.7:80, [::1]:80)
 * and ranges (10.0.0.0/8, fd00::/8); NULL or empty: none. NULL with the reason in `problem` when an
 * entry is wrong or there is no memory. A policy is never changed and may be shared between
 * threads. */
struct policy *policy_new(const char *allowed, char *problem, size_t size);
struct policy *policy_free(struct policy *policy);

/* OK when the address may be connected to for `host` (normalised as text/url.h does, without
 * brackets), ERR_INVALID when not. `policy` is a struct policy, or NULL for one that opens
 * nothing; the form is that of fetch_request.allow. */
int policy_allow(void *policy, const char *host, const struct sockaddr *address);

#endif
