/* The messages between us and the browser: JSON texts that end in a NUL, over its pipe, or frames
 * of a WebSocket (frames.h). One thread, the owner, moves the bytes; each page has a channel, which
 * is how its thread sends commands and gets, in order, the answers it waits for and the events of
 * its session.
 *
 * Everything but the owner's part may be used by any thread; a channel belongs to one. */
#ifndef FORAGE_BROWSER_PROTOCOL_H
#define FORAGE_BROWSER_PROTOCOL_H

#include "call/call.h"
#include "text/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protocol;
struct channel;
struct frames_address; /* browser/frames.h */

/* ---- for the owner ---- */

struct protocol *protocol_new(void);
/* Drops one reference; channels hold one each. */
struct protocol *protocol_free(struct protocol *protocol);
/* Takes what the browser has written. A message that is too long or no JSON is dropped: a page must
 * not be able to end the browser of the others. OK; ERR_CLOSED when it leaves a WebSocket. */
int protocol_take(struct protocol *protocol, const char *data, size_t length);
/* What is said and taken from now on are frames: asks for the WebSocket at this address. A status.
 */
int protocol_use_frames(struct protocol *protocol, const struct frames_address *address);
/* Whether the browser has opened that WebSocket. */
bool protocol_is_open(const struct protocol *protocol);
/* Readable when there is something new to write. */
int protocol_wake_fd(const struct protocol *protocol);
/* Writes what the pipe takes; SIGPIPE must be blocked or ignored. OK; ERR_BUSY when the pipe is
 * full and something is left; ERR_CLOSED. */
int protocol_write(struct protocol *protocol, int fd);
/* The browser is gone: every channel gets ERR_CLOSED. */
void protocol_close(struct protocol *protocol);

/* ---- for the thread of a page ---- */

struct browser_message {
    yyjson_doc *doc;      /* NULL: nothing came */
    const char *method;   /* of an event; NULL: the answer that was waited for */
    yyjson_val *contents; /* an event's params, or an answer's result; may be NULL */
    const char *error;    /* the browser's words, when the answer is a failure */
};

struct channel *channel_open(struct protocol *protocol);
/* Events of this session come to the channel from now on. A status. */
int channel_set_session(struct channel *channel, const char *session);
enum channel_target { TO_BROWSER, TO_SESSION };
/* Sends a command; `params` is JSON text, or NULL for none. `wanted`: its answer comes to the
 * channel, and answers of earlier commands do not any more. A status. */
int channel_send(struct channel *channel, enum channel_target target, const char *method,
                 const char *params, bool wanted);
/* The next message, to be freed by message_free(); after `timeout_ms` without one, doc is NULL. OK,
 * ERR_CLOSED when the browser is gone, ERR_LIMIT when the page floods us; or as of call_wait. */
int channel_next(struct call *call, struct channel *channel, int64_t timeout_ms,
                 struct browser_message *message);
/* The same without waiting; for the owner. */
int channel_poll(struct channel *channel, struct browser_message *message);
struct channel *channel_close(struct channel *channel);
void message_free(struct browser_message *message);

#endif
