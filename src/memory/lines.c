/* Lines are gathered into a batch; each batch is a call of its own, whose memory goes with it. */
#include "memory/lines.h"

#include "call/errors.h"
#include "core/buf.h"
#include "core/limits.h"
#include "memory/fields.h"

#include <stdlib.h>
#include <string.h>

struct lines {
    struct call *call;
    const struct memory_space *space;
    struct buf partial; /* a line whose end has not come yet */
    struct call *batch; /* NULL: none is begun */
    struct memory_change *changes;
    size_t *numbers; /* of the line that each change came from */
    size_t count;
    size_t number; /* of the line at hand, from 1 */
    struct lines_counts counts;
};

struct lines *lines_new(struct call *call, const struct memory_space *space)
{
    struct lines *lines = calloc(1, sizeof *lines);
    if (!lines) {
        return NULL;
    }
    lines->call = call;
    lines->space = space;
    lines->changes = calloc(LIMIT_MEMORY_IMPORT_LINES, sizeof *lines->changes);
    lines->numbers = calloc(LIMIT_MEMORY_IMPORT_LINES, sizeof *lines->numbers);
    buf_init(&lines->partial, LIMIT_MEMORY_LINE_BYTES);
    return lines->changes && lines->numbers ? lines : lines_free(lines);
}

struct lines *lines_free(struct lines *lines)
{
    if (lines) {
        call_free(lines->batch);
        buf_done(&lines->partial);
        free(lines->changes);
        free(lines->numbers);
        free(lines);
    }
    return NULL;
}

struct lines_counts lines_count(const struct lines *lines)
{
    return lines->counts;
}

/* Tells the import's caller what was wrong with a line, and how far it came. */
static int fail(struct lines *lines, size_t number, int status)
{
    const struct call_error *error = lines->batch ? call_error(lines->batch) : NULL;
    if (!error) {
        return status;
    }
    bool wrong = strcmp(error->code, CODE_VALIDATION) == 0;
    if (wrong) {
        call_fail(lines->call, error->code, "line %zu: %s", number, error->message);
    } else {
        call_fail(lines->call, error->code, "%s", error->message);
    }
    call_fail_details(lines->call,
                      arena_printf(call_arena(lines->call), "{\"line\":%zu,\"imported\":%zu}",
                                   number, lines->counts.lines));
    return ERR_FAILED;
}

static int flush(struct lines *lines)
{
    struct memory_import_counts done = {0};
    size_t wrong = 0;
    int status = call_check(lines->call);
    if (status != OK || lines->count == 0) {
        return status;
    }
    status = memory_import(lines->batch, lines->space, lines->changes, lines->count, &done, &wrong);
    if (status != OK) {
        return fail(lines, lines->numbers[wrong], status);
    }
    size_t taken = lines->count - done.expired;
    lines->counts.lines += taken;
    lines->counts.added += done.added;
    lines->counts.replaced += done.replaced;
    lines->counts.unchanged += taken - done.added - done.replaced;
    lines->counts.expired += done.expired;
    lines->count = 0;
    lines->batch = call_free(lines->batch);
    return OK;
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (!strchr(" \t\r", line[i])) {
            return false;
        }
    }
    return true;
}

static int take_line(struct lines *lines, const char *line, size_t length)
{
    lines->number++;
    if (is_blank(line, length)) {
        return OK;
    }
    if (!lines->batch) {
        struct call_options options = {.request_id = call_request_id(lines->call),
                                       .caller = call_caller(lines->call),
                                       .parts = call_parts(lines->call)};
        lines->batch = call_new(&options);
    }
    if (!lines->batch) {
        return ERR_NOMEM;
    }
    int status = fields_read_line(lines->batch, call_arena(lines->batch), line, length,
                                  &lines->changes[lines->count]);
    if (status != OK) {
        return fail(lines, lines->number, status);
    }
    lines->numbers[lines->count++] = lines->number;
    bool full = lines->count == LIMIT_MEMORY_IMPORT_LINES ||
                arena_used(call_arena(lines->batch)) > LIMIT_MEMORY_IMPORT_BYTES;
    return full ? flush(lines) : OK;
}

static int too_long(struct lines *lines)
{
    return call_fail(lines->call, CODE_VALIDATION, "line %zu: it has more than %zu bytes",
                     lines->number + 1, LIMIT_MEMORY_LINE_BYTES);
}

int lines_feed(struct lines *lines, const char *data, size_t length)
{
    int status = OK;
    const char *end = data + length;
    while (data < end && status == OK) {
        const char *stop = memchr(data, '\n', (size_t)(end - data));
        size_t size = (size_t)((stop ? stop : end) - data);
        bool whole = stop && lines->partial.length == 0;
        if (size > LIMIT_MEMORY_LINE_BYTES - lines->partial.length) {
            return too_long(lines);
        }
        if (!whole && buf_append(&lines->partial, data, size) != OK) {
            return buf_error(&lines->partial);
        }
        if (whole) {
            status = take_line(lines, data, size);
        } else if (stop) {
            status = take_line(lines, lines->partial.data, lines->partial.length);
            buf_clear(&lines->partial);
        }
        data += size + (stop != NULL);
    }
    return status;
}

int lines_end(struct lines *lines)
{
    int status = OK;
    if (lines->partial.length > 0) {
        status = take_line(lines, lines->partial.data, lines->partial.length);
        buf_clear(&lines->partial);
    }
    return status == OK ? flush(lines) : status;
}
