/* Cuts bytes into lines, lines into events, and hands each to the dialect. */
#include "model/stream.h"

#include "text/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum stream_form { FORM_UNKNOWN, FORM_EVENTS, FORM_WHOLE };

struct stream {
    const struct dialect *dialect;
    enum stream_form form;
    struct buf line; /* that is not complete; of FORM_WHOLE, everything */
    struct buf data; /* of the event that is being read */
    bool has_data;
    bool after_return; /* a line feed that follows belongs to it */
    bool done;         /* the server said that nothing more comes */
    size_t total;
    const char *problem;
    struct arena *scratch;
    struct draft draft;
};

struct stream *stream_new(struct arena *arena, const struct dialect *dialect,
                          const struct model_provider *provider)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        return NULL;
    }
    stream->dialect = dialect;
    buf_init(&stream->line, LIMIT_REPLY_BYTES);
    buf_init(&stream->data, LIMIT_REPLY_BYTES);
    stream->scratch = arena_new(LIMIT_REPLY_SCRATCH_BYTES);
    draft_start(&stream->draft, arena, stream->scratch, provider);
    return stream->scratch ? stream : stream_free(stream);
}

struct stream *stream_free(struct stream *stream)
{
    if (stream) {
        draft_done(&stream->draft);
        buf_done(&stream->line);
        buf_done(&stream->data);
        arena_free(stream->scratch);
        free(stream);
    }
    return NULL;
}

/* ---- events ---- */

/* The number of an escape, "u" and four digits; -1 where none is. */
static long escaped_unit(const char *at)
{
    char digits[5] = "";
    if (at[0] != '\\' || at[1] != 'u') {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)at[2 + i])) {
            return -1;
        }
        digits[i] = at[2 + i];
    }
    return strtol(digits, NULL, 16);
}

/* Some cut a text into deltas in the midst of a character, and write each half as an escape, which
 * no JSON reader takes. Each half becomes the sign for a character that is lost; false: there is
 * none. */
static bool mend_halves(char *text)
{
    bool mended = false;
    for (char *at = strchr(text, '\\'); at; at = strchr(at, '\\')) {
        long unit = escaped_unit(at);
        long next = unit >= 0xd800 && unit < 0xdc00 ? escaped_unit(at + 6) : -1;
        if (next >= 0xdc00 && next < 0xe000) {
            at += 12;
            continue;
        }
        if (unit >= 0xd800 && unit < 0xe000) {
            for (int i = 0; i < 4; i++) {
                at[2 + i] = "fffd"[i];
            }
            mended = true;
        }
        at += at[1] ? 2 : 1;
    }
    return mended;
}

static void take_json(struct stream *stream, char *text, size_t length)
{
    struct draft *draft = &stream->draft;
    if (!text_is_utf8(text, length)) {
        for (size_t i = 0; i < length; i++) {
            text[i] = text[i] ? text[i] : ' ';
        }
        text_repair(text);
    }
    yyjson_val *root = yyjson_doc_get_root(json_parse(stream->scratch, text, length, NULL));
    if (!root && mend_halves(text)) {
        root = yyjson_doc_get_root(json_parse(stream->scratch, text, length, NULL));
    }
    if (root) {
        stream->dialect->take(draft, root);
    } else if (!arena_failed(stream->scratch)) {
        stream->problem = "is not JSON";
    }
    if (arena_failed(stream->scratch) || arena_failed(draft->arena)) {
        draft->status = ERR_NOMEM;
    }
    arena_reset(stream->scratch);
}

static void end_event(struct stream *stream)
{
    const char *data = stream->data.data;
    if (stream->has_data && stream->data.length) {
        if (strcmp(data, "[DONE]") == 0) {
            stream->done = true;
            stream->draft.whole = true;
        } else {
            take_json(stream, stream->data.data, stream->data.length);
            /* message_stop, response.completed: some keep the connection open after it. */
            stream->done = stream->draft.whole;
        }
    }
    stream->has_data = false;
    buf_clear(&stream->data);
}

/* A line of an event: "data: ...", or what no dialect needs, since the data names its own kind. */
static void take_line(struct stream *stream)
{
    struct buf *line = &stream->line;
    if (line->length == 0) {
        end_event(stream);
        return;
    }
    if (strncmp(line->data, "data", 4) == 0 && (line->length == 4 || line->data[4] == ':')) {
        size_t at = line->length > 4 ? 5 : 4;
        at += line->data[at] == ' ';
        if (stream->has_data) {
            buf_putc(&stream->data, '\n');
        }
        buf_append(&stream->data, line->data + at, line->length - at);
        stream->has_data = true;
    }
    buf_clear(line);
}

static bool is_sound(struct stream *stream)
{
    struct draft *draft = &stream->draft;
    int status = buf_error(&stream->line);
    status = status == OK ? buf_error(&stream->data) : status;
    draft->status = draft->status == OK ? status : draft->status;
    return draft->status == OK && !stream->problem && !draft->failed;
}

static void take_events(struct stream *stream, const char *data, size_t length)
{
    const char *end = data + length;
    while (data < end && !stream->done && is_sound(stream)) {
        if (stream->after_return && *data == '\n') {
            data++;
            stream->after_return = false;
            continue;
        }
        stream->after_return = false;
        const char *stop = data;
        while (stop < end && *stop != '\n' && *stop != '\r') {
            stop++;
        }
        buf_append(&stream->line, data, (size_t)(stop - data));
        if (stop < end) {
            stream->after_return = *stop == '\r';
            take_line(stream);
            stop++;
        }
        data = stop;
    }
}

/* ---- bytes ---- */

/* JSON begins with a brace or a bracket, and a stream of events never does. */
static size_t find_form(struct stream *stream, const char *data, size_t length)
{
    size_t at = 0;
    while (at < length && strchr(" \t\r\n\xef\xbb\xbf", data[at]) && data[at]) {
        at++;
    }
    if (at < length) {
        stream->form = data[at] == '{' || data[at] == '[' ? FORM_WHOLE : FORM_EVENTS;
    }
    return at;
}

bool stream_feed(struct stream *stream, const char *data, size_t length)
{
    size_t skipped = stream->form == FORM_UNKNOWN ? find_form(stream, data, length) : 0;
    stream->total += length;
    if (stream->total > LIMIT_REPLY_BYTES) {
        stream->draft.status = ERR_LIMIT;
    } else if (stream->form == FORM_WHOLE) {
        buf_append(&stream->line, data + skipped, length - skipped);
    } else if (stream->form == FORM_EVENTS) {
        take_events(stream, data + skipped, length - skipped);
    }
    return is_sound(stream) && !stream->done;
}

struct draft *stream_end(struct stream *stream, const char **problem)
{
    struct draft *draft = &stream->draft;
    if (stream->form == FORM_WHOLE && is_sound(stream)) {
        take_json(stream, stream->line.data, stream->line.length);
        draft->whole = draft->whole || draft->seen;
    } else if (stream->form == FORM_EVENTS && is_sound(stream) && !stream->done) {
        /* Some do not end the last event with an empty line. */
        if (stream->line.length) {
            take_line(stream);
        }
        if (is_sound(stream)) {
            end_event(stream);
        }
    }
    bool sound = is_sound(stream);
    *problem = stream->problem                             ? stream->problem
               : draft->status == ERR_LIMIT                ? "is larger than any answer should be"
               : !sound                                    ? NULL
               : stream->total == 0                        ? "is empty"
               : !draft->seen                              ? "is none that this interface sends"
               : !draft->whole && draft->end == DRAFT_OPEN ? "was cut off"
                                                           : NULL;
    return draft;
}

size_t stream_heard(const struct stream *stream)
{
    const struct draft *draft = &stream->draft;
    size_t heard = draft->text.length + draft->reasoning.length + draft->spare.length;
    for (size_t i = 0; i < draft->use_count; i++) {
        heard += draft->uses[i].arguments.length;
    }
    return heard;
}
