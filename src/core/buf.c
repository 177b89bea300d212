/* The growing buffer: capacity doubles, the ceiling and a failed allocation stick as its error. */
#include "core/buf.h"

#include "core/arena.h"
#include "core/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256

void buf_init(struct buf *buf, size_t ceiling)
{
    memset(buf, 0, sizeof *buf);
    buf->ceiling = ceiling;
}

static int fail(struct buf *buf, int error)
{
    if (!buf->error) {
        buf->error = error;
    }
    return buf->error;
}

/* Takes more memory, so that `more` bytes and the NUL after them fit; below the ceiling. */
static int grow(struct buf *buf, size_t more)
{
    size_t wanted = buf->length + more + 1;
    size_t capacity = buf->capacity ? buf->capacity : FIRST_CAPACITY;
    while (capacity < wanted) {
        capacity *= 2;
    }
    char *data = realloc(buf->data, capacity);
    if (!data) {
        return fail(buf, ERR_NOMEM);
    }
    buf->data = data;
    buf->capacity = capacity;
    return OK;
}

/* Makes room for `more` bytes and the NUL after them. */
static inline int reserve(struct buf *buf, size_t more)
{
    if (buf->error) {
        return buf->error;
    }
    if (more > buf->ceiling || buf->length > buf->ceiling - more) {
        return fail(buf, ERR_LIMIT);
    }
    return more < buf->capacity - buf->length ? OK : grow(buf, more);
}

int buf_append(struct buf *buf, const void *data, size_t length)
{
    int status = reserve(buf, length);
    if (status != OK) {
        return status;
    }
    if (length) {
        memcpy(buf->data + buf->length, data, length);
    }
    buf->length += length;
    buf->data[buf->length] = '\0';
    return OK;
}

int buf_puts(struct buf *buf, const char *text)
{
    return buf_append(buf, text, strlen(text));
}

int buf_putc(struct buf *buf, char c)
{
    int status = reserve(buf, 1);
    if (status == OK) {
        buf->data[buf->length++] = c;
        buf->data[buf->length] = '\0';
    }
    return status;
}

/* Most texts fit where they are to stand, and are formatted once. */
int buf_vprintf(struct buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t room = buf->capacity - buf->length;
    int length = vsnprintf(room ? buf->data + buf->length : NULL, room, format, again);
    va_end(again);
    int status = length < 0 ? fail(buf, ERR_INVALID) : reserve(buf, (size_t)length);
    if (status == OK && (size_t)length >= room) {
        vsnprintf(buf->data + buf->length, (size_t)length + 1, format, args);
    }
    if (status == OK) {
        buf->length += (size_t)length;
    } else if (room) {
        buf->data[buf->length] = '\0';
    }
    return status;
}

int buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int status = buf_vprintf(buf, format, args);
    va_end(args);
    return status;
}

void buf_consume(struct buf *buf, size_t length)
{
    if (length >= buf->length) {
        buf_clear(buf);
        return;
    }
    buf->length -= length;
    memmove(buf->data, buf->data + length, buf->length + 1);
}

void buf_clear(struct buf *buf)
{
    buf->length = 0;
    if (buf->data) {
        buf->data[0] = '\0';
    }
}

int buf_error(const struct buf *buf)
{
    return buf->error;
}

char *buf_to_arena(struct buf *buf, struct arena *arena)
{
    const char *data = buf->data ? buf->data : "";
    char *copy = buf->error == OK ? arena_strndup(arena, data, buf->length) : NULL;
    buf_done(buf);
    return copy;
}

void buf_done(struct buf *buf)
{
    free(buf->data);
    buf_init(buf, buf->ceiling);
}
