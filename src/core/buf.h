/* A growing buffer of bytes with a ceiling. Errors stick: after an append has failed every further
 * one does nothing, so a writer may check once at the end with buf_error(). `data` always ends in a
 * NUL that is not counted in `length`, and is NULL only while nothing was ever appended. */
#ifndef FORAGE_CORE_BUF_H
#define FORAGE_CORE_BUF_H

#include "core/status.h"

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct buf {
    char *data;
    size_t length;
    size_t capacity;
    size_t ceiling;
    int error; /* OK, ERR_NOMEM or ERR_LIMIT */
};

void buf_init(struct buf *buf, size_t ceiling);
int buf_append(struct buf *buf, const void *data, size_t length);
int buf_puts(struct buf *buf, const char *text);
int buf_putc(struct buf *buf, char c);
int buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* Drops the first `length` bytes. */
void buf_consume(struct buf *buf, size_t length);
/* Empties it and keeps its memory. */
void buf_clear(struct buf *buf);
MUST_CHECK int buf_error(const struct buf *buf);
/* Copies the text into the arena and ends the buffer. NULL after an error, or without memory. */
char *buf_to_arena(struct buf *buf, struct arena *arena);
void buf_done(struct buf *buf);

#endif
