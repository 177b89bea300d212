/* The socket calls of the server that differ between systems or need care in more than one place.
 */
#ifndef FORAGE_SERVER_SOCKETS_H
#define FORAGE_SERVER_SOCKETS_H

#include "core/status.h"

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* A listening socket, close-on-exec and non-blocking, with the port it got in `*port`; on failure
 * negative, with the reason in `problem`. */
MUST_CHECK int socket_listen(const char *host, uint16_t *port, char *problem, size_t size);
/* A waiting connection, close-on-exec, non-blocking and without delay, with the client's address as
 * text. It breaks when its client's machine takes nothing of what was sent for `patience_ms`.
 * Negative with errno when there is none. */
MUST_CHECK int socket_accept(int listening, int64_t patience_ms, char peer[INET6_ADDRSTRLEN]);
/* Sends what the socket takes at once: the number of bytes, 0 when it takes none now, negative when
 * the connection is broken. A broken connection raises no signal. */
ssize_t socket_send(int fd, struct iovec *pieces, size_t count);
/* Reads what is there: the number of bytes, ERR_BUSY when there is nothing now, ERR_CLOSED when the
 * other side sends no more or the connection is broken. */
ssize_t socket_receive(int fd, void *data, size_t size);

#endif
