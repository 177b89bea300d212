/* Unpacking: a chain of inflating streams, the last coding first. */
#include "net/codings.h"

#include "core/limits.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#define HEAD_BYTES 2
#define WINDOW     15 /* the largest; zlib's format */
#define WITH_GZIP  16 /* in the format of gzip; the negative window: no format around the data */

enum coding_state {
    BEGINS, /* its first two bytes say what it is */
    RUNS,
    OVER, /* what follows is none of it */
};

struct coding {
    z_stream stream;
    bool open; /* the stream */
    bool gzip; /* or deflate, with or without zlib's format around it: servers send both */
    bool whole;
    enum coding_state state;
    size_t came;
    unsigned char head[HEAD_BYTES];
    size_t head_length;
    unsigned char out[KIB(16)];
};

struct codings {
    struct coding *of[LIMIT_FETCH_CODINGS];
    size_t count;
    size_t most;
    codings_sink sink;
    void *context;
};

/* ---- names ---- */

enum coding_kind { GZIP, DEFLATE, NOT_TAKEN, NONE };

static const struct {
    const char *name;
    enum coding_kind kind;
} NAMES[] = {
    {"gzip", GZIP},     {"x-gzip", GZIP},    {"deflate", DEFLATE},
    {"br", NOT_TAKEN},  {"zstd", NOT_TAKEN}, {"compress", NOT_TAKEN},
    {"dcb", NOT_TAKEN}, {"dcz", NOT_TAKEN},  {"x-compress", NOT_TAKEN},
};

static enum coding_kind kind_of(const char *name, size_t length, const char **known)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strlen(NAMES[i].name) == length && strncasecmp(NAMES[i].name, name, length) == 0) {
            *known = NAMES[i].name;
            return NAMES[i].kind;
        }
    }
    return NONE;
}

static int add(struct codings **codings, bool gzip)
{
    if (!*codings) {
        *codings = calloc(1, sizeof **codings);
    }
    if (!*codings) {
        return ERR_NOMEM;
    }
    if ((*codings)->count == LIMIT_FETCH_CODINGS) {
        return ERR_INVALID; /* nobody compresses so often */
    }
    struct coding *coding = calloc(1, sizeof *coding);
    if (coding) {
        coding->gzip = gzip;
        (*codings)->of[(*codings)->count++] = coding;
    }
    return coding ? OK : ERR_NOMEM;
}

int codings_add(struct codings **codings, const char *names, const char **wrong)
{
    int status = OK;
    while (*names && status == OK) {
        names += strspn(names, " \t,");
        size_t length = strcspn(names, " \t,");
        enum coding_kind kind = kind_of(names, length, wrong);
        if (kind == NOT_TAKEN) {
            status = ERR_UNSUPPORTED;
        } else if (kind != NONE) {
            status = add(codings, kind == GZIP);
        }
        names += length;
    }
    return status;
}

/* ---- streams ---- */

static int unpack(struct codings *codings, size_t left, const unsigned char *data, size_t length);

static int run(struct codings *codings, size_t left, const unsigned char **data, size_t *length)
{
    struct coding *coding = codings->of[left];
    z_stream *stream = &coding->stream;
    int status = OK;
    int code = Z_OK;
    stream->next_in = (z_const Bytef *)(uintptr_t)*data;
    stream->avail_in = (uInt)*length;
    do {
        stream->next_out = coding->out;
        stream->avail_out = sizeof coding->out;
        code = inflate(stream, Z_SYNC_FLUSH);
        size_t made = sizeof coding->out - stream->avail_out;
        status = made ? unpack(codings, left, coding->out, made) : OK;
    } while (status == OK && code == Z_OK && (stream->avail_in || stream->avail_out == 0));
    *data = stream->next_in;
    *length = stream->avail_in;
    if (code == Z_STREAM_END) {
        coding->whole = true;
        coding->state = coding->gzip ? BEGINS : OVER;
        coding->head_length = 0;
    } else if (status == OK && code == Z_MEM_ERROR) {
        status = ERR_NOMEM;
    } else if (status == OK && code != Z_OK && code != Z_BUF_ERROR) {
        status = ERR_INVALID;
    }
    return status;
}

static bool is_gzip(const unsigned char *head)
{
    return head[0] == 0x1f && head[1] == 0x8b;
}

static bool is_zlib(const unsigned char *head)
{
    return (head[0] & 0x0f) == Z_DEFLATED && ((unsigned)head[0] << 8 | head[1]) % 31 == 0;
}

/* Begins a stream, or one more of gzip's: they may follow on each other. What follows and is none
 * of them is let go by, as browsers do. */
static int begin(struct codings *codings, size_t left)
{
    struct coding *coding = codings->of[left];
    const unsigned char *head = coding->head;
    size_t length = HEAD_BYTES;
    int code = Z_OK;
    if (coding->whole && !is_gzip(head)) {
        coding->state = OVER;
        return OK;
    }
    if (coding->open) {
        code = inflateReset(&coding->stream);
    } else {
        code = inflateInit2(&coding->stream, coding->gzip    ? WINDOW + WITH_GZIP
                                             : is_zlib(head) ? WINDOW
                                                             : -WINDOW);
        coding->open = code == Z_OK;
    }
    coding->state = RUNS;
    return code == Z_OK ? run(codings, left, &head, &length) : ERR_NOMEM;
}

/* Gives the data to the `left` codings that it has to pass yet, and to the sink after them. */
static int unpack(struct codings *codings, size_t left, const unsigned char *data, size_t length)
{
    if (left == 0) {
        return codings->sink(codings->context, (const char *)data, length) ? OK : ERR_LIMIT;
    }
    struct coding *coding = codings->of[--left];
    int status = OK;
    coding->came += length;
    if (coding->came > codings->most) {
        return ERR_LIMIT;
    }
    while (status == OK && length && coding->state != OVER) {
        if (coding->state == RUNS) {
            status = run(codings, left, &data, &length);
            continue;
        }
        coding->head[coding->head_length++] = *data++;
        length--;
        status = coding->head_length == HEAD_BYTES ? begin(codings, left) : OK;
    }
    return status;
}

int codings_unpack(struct codings *codings, const char *data, size_t length, size_t most,
                   codings_sink sink, void *context)
{
    codings->most = most;
    codings->sink = sink;
    codings->context = context;
    return unpack(codings, codings->count, (const unsigned char *)data, length);
}

bool codings_ended(const struct codings *codings)
{
    bool ended = true;
    for (size_t i = 0; codings && i < codings->count; i++) {
        const struct coding *coding = codings->of[i];
        ended &= coding->state == OVER ||
                 (coding->state == BEGINS && (coding->whole || coding->came == 0));
    }
    return ended;
}

struct codings *codings_free(struct codings *codings)
{
    for (size_t i = 0; codings && i < codings->count; i++) {
        if (codings->of[i]->open) {
            inflateEnd(&codings->of[i]->stream);
        }
        free(codings->of[i]);
    }
    free(codings);
    return NULL;
}
