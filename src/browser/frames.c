/* Cuts what a browser sends over a WebSocket, and wraps what it is sent. */
#include "browser/frames.h"

#include "core/status.h"

#include <stdio.h>
#include <string.h>

#define LISTENS "DevTools listening on ws://127.0.0.1:"
/* Any 16 bytes: they only keep an answer for another from being taken for this one's. */
#define KEY "Zm9yYWdlIGFuZCBzbmFwcw=="

enum { LAST = 0x80, MASKED = 0x80, TYPE = 0x0F, TEXT = 1, CLOSE = 8 };
enum { LENGTH = 0x7F, TWO_BYTES = 126, EIGHT_BYTES = 127 };

bool frames_find_address(const char *errors, struct frames_address *address)
{
    const char *at = strstr(errors, LISTENS);
    char after = '\0';
    return at &&
           sscanf(at + strlen(LISTENS), "%5hu%127[^ \r\n]%c", &address->port, address->path,
                  &after) == 3 &&
           address->port && address->path[0] == '/' && (after == '\n' || after == '\r');
}

int frames_ask(struct buf *out, const struct frames_address *address)
{
    return buf_printf(out,
                      "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nUpgrade: websocket\r\n"
                      "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                      "Sec-WebSocket-Key: " KEY "\r\n\r\n",
                      address->path, address->port);
}

/* The mask is of zeros and leaves the text as it is: masks guard the caches on the way, and there
 * is none on loopback. */
int frames_wrap(struct buf *out, size_t from)
{
    unsigned char head[14] = {LAST | TEXT};
    uint64_t length = out->length - from;
    size_t bytes = length < TWO_BYTES ? 0 : length <= UINT16_MAX ? 2 : 8;
    head[1] = (unsigned char)(MASKED | (bytes == 0   ? length
                                        : bytes == 2 ? TWO_BYTES
                                                     : EIGHT_BYTES));
    for (size_t i = 0; i < bytes; i++) {
        head[2 + i] = (unsigned char)(length >> (8 * (bytes - 1 - i)));
    }
    size_t size = 2 + bytes + 4;
    int status = buf_append(out, head, size);
    if (status == OK) {
        memmove(out->data + from + size, out->data + from, length);
        memcpy(out->data + from, head, size);
    }
    return status;
}

/* ---- what the browser sends ---- */

/* The next byte of a head. False when there is no room: no browser says so much. */
static bool take_byte(struct frames *frames, struct slice *data)
{
    if (frames->head_length == sizeof frames->head) {
        return false;
    }
    frames->head[frames->head_length++] = *data->data++;
    data->length--;
    return true;
}

static int take_answer(struct frames *frames, struct slice *data)
{
    static const char GOOD[] = "HTTP/1.1 101 ";
    static const char END[] = "\r\n\r\n";
    if (!take_byte(frames, data)) {
        return ERR_CLOSED;
    }
    size_t end = strlen(END);
    if (frames->head_length < end ||
        memcmp(frames->head + frames->head_length - end, END, end) != 0) {
        return OK;
    }
    frames->open = memcmp(frames->head, GOOD, strlen(GOOD)) == 0;
    frames->head_length = 0;
    return frames->open ? OK : ERR_CLOSED;
}

static int take_head(struct frames *frames, struct slice *data)
{
    if (!take_byte(frames, data)) {
        return ERR_CLOSED;
    }
    const unsigned char *head = (const unsigned char *)frames->head;
    if (frames->head_length < 2) {
        return OK;
    }
    unsigned length = head[1] & LENGTH;
    size_t bytes = length == TWO_BYTES ? 2 : length == EIGHT_BYTES ? 8 : 0;
    if (frames->head_length < 2 + bytes) {
        return OK;
    }
    unsigned type = head[0] & TYPE;
    frames->left = bytes ? 0 : length;
    for (size_t i = 0; i < bytes; i++) {
        frames->left = frames->left << 8 | head[2 + i];
    }
    frames->in_frame = true;
    frames->is_text = type <= TEXT; /* or more of one; what asks for a sign of life gets none */
    frames->is_last = (head[0] & LAST) != 0;
    frames->head_length = 0;
    return type == CLOSE || (head[1] & MASKED) ? ERR_CLOSED : OK;
}

int frames_take(struct frames *frames, struct slice *data, struct slice *text, bool *ends)
{
    int status = OK;
    *text = (struct slice){data->data, 0};
    *ends = false;
    while (status == OK && data->length && !frames->in_frame) {
        status = frames->open ? take_head(frames, data) : take_answer(frames, data);
    }
    if (status != OK || !frames->in_frame) {
        return status;
    }
    size_t taken = frames->left < data->length ? (size_t)frames->left : data->length;
    *text = (struct slice){data->data, frames->is_text ? taken : 0};
    data->data += taken;
    data->length -= taken;
    frames->left -= taken;
    frames->in_frame = frames->left > 0;
    *ends = !frames->in_frame && frames->is_text && frames->is_last;
    return OK;
}
