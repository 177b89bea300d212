/* The messages of a browser that cannot be given a pipe: frames of a WebSocket (RFC 6455) at the
 * port that it has chosen. The request for one, what the browser's bytes hold, and frames of ours.
 * Pure. */
#ifndef FORAGE_BROWSER_FRAMES_H
#define FORAGE_BROWSER_FRAMES_H

#include "core/buf.h"
#include "text/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a browser listens. */
struct frames_address {
    uint16_t port;  /* of 127.0.0.1 */
    char path[128]; /* a secret, but whoever reaches the port is told it */
};

/* Finds it in what the browser has written to stderr; false: it has not said so yet. */
bool frames_find_address(const char *errors, struct frames_address *address);
/* Appends the request for a WebSocket. A status. */
MUST_CHECK int frames_ask(struct buf *out, const struct frames_address *address);
/* Makes a frame of the text that `out` holds from `from` on. A status. */
MUST_CHECK int frames_wrap(struct buf *out, size_t from);

/* What was read so far of what the browser sends; all zeros at first. */
struct frames {
    bool open;       /* the answer to the request has come */
    char head[1024]; /* of that answer, or of a frame, as far as it has come */
    size_t head_length;
    bool in_frame; /* its head has come: */
    bool is_text, is_last;
    uint64_t left; /* bytes of it that are still to come */
};

/* Takes bytes from the beginning of `data`: `text` is what they hold of a message, which is over
 * where `ends`. OK, or ERR_CLOSED when the browser leaves, or speaks something else. */
MUST_CHECK int frames_take(struct frames *frames, struct slice *data, struct slice *text,
                           bool *ends);

#endif
