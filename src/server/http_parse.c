/* The reading of an HTTP/1.1 head and of chunked bodies. Where HTTP lets a reader be lenient this
 * one is not: every leniency is a chance that a proxy in front of us understands a request
 * differently. */
#include "server/http_parse.h"

#include <stdint.h>
#include <string.h>

#define METHOD_CHARS         32
#define CHUNK_LINE_BYTES     256
#define CHUNK_TRAILER_BYTES  KIB(8)
#define CONTENT_LENGTH_CHARS 18 /* more digits than this are more bytes than anybody sends */

/* What a byte may be part of. */
enum { TOKEN = 1, TARGET = 2, VALUE = 4, HOST = 8, HEX = 16 };

#define VISIBLE (TARGET | VALUE)
#define LETTER  (TOKEN | TARGET | VALUE | HOST)
#define DIGIT   (LETTER | HEX)

static const unsigned char CLASSES[256] = {
    ['\t'] = VALUE,          [' '] = VALUE,
    ['!'] = LETTER,          ['"'] = VISIBLE,
    ['#'] = TOKEN | VALUE,   ['$'] = LETTER,
    ['%'] = LETTER,          ['&'] = LETTER,
    ['\''] = LETTER,         ['('] = VISIBLE | HOST,
    [')'] = VISIBLE | HOST,  ['*'] = LETTER,
    ['+'] = LETTER,          [','] = VISIBLE,
    ['-'] = LETTER,          ['.'] = LETTER,
    ['/'] = VISIBLE,         ['0' ... '9'] = DIGIT,
    [':'] = VISIBLE | HOST,  [';'] = VISIBLE | HOST,
    ['<'] = VISIBLE,         ['='] = VISIBLE | HOST,
    ['>'] = VISIBLE,         ['?'] = VISIBLE,
    ['@'] = VISIBLE,         ['A' ... 'F'] = LETTER | HEX,
    ['G' ... 'Z'] = LETTER,  ['['] = VISIBLE | HOST,
    ['\\'] = VISIBLE,        [']'] = VISIBLE | HOST,
    ['^'] = TOKEN | VISIBLE, ['_'] = LETTER,
    ['`'] = TOKEN | VISIBLE, ['a' ... 'f'] = LETTER | HEX,
    ['g' ... 'z'] = LETTER,  ['{'] = VISIBLE,
    ['|'] = TOKEN | VISIBLE, ['}'] = VISIBLE,
    ['~'] = LETTER,          [0x80 ... 0xff] = VALUE,
};

static bool is(char byte, unsigned char class)
{
    return (CLASSES[(unsigned char)byte] & class) != 0;
}

static bool all_are(struct slice text, unsigned char class)
{
    for (size_t i = 0; i < text.length; i++) {
        if (!is(text.data[i], class)) {
            return false;
        }
    }
    return true;
}

/* One head while it is read. */
struct head_reader {
    const char *data;
    size_t length;
    size_t at;
    struct http_head *head;
    const char *problem;
    unsigned hosts;
    unsigned lengths;
    unsigned codings;
    bool asks_close;
    bool asks_keep_alive;
};

/* The steps below return 1 to go on, 0 when bytes are missing, or minus a status. */
static int refuse(struct head_reader *reader, int status, const char *problem)
{
    reader->problem = problem;
    return -status;
}

/* ---- the request line ---- */

/* Some clients send one CRLF too many after a body. */
static int skip_blank_line(struct head_reader *reader)
{
    if (reader->length && reader->data[0] == '\r') {
        if (reader->length == 1) {
            return 0;
        }
        if (reader->data[1] == '\n') {
            reader->at = 2;
        }
    }
    return 1;
}

/* What a word of the request line is made of, and what is said of one that is not. */
struct word_form {
    unsigned char class;
    size_t most;
    const char *wrong;
    int too_long_status;
    const char *too_long;
};

static const struct word_form METHOD = {TOKEN, METHOD_CHARS,
                                        "the request does not begin with a method", 501,
                                        "the method is not known"};
static const struct word_form REQUEST_TARGET = {
    TARGET, LIMIT_HTTP_TARGET_BYTES, "the request target has a character that must be encoded", 414,
    "the request target is too long"};

/* Reads a word and the blank behind it. */
static int read_word(struct head_reader *reader, const struct word_form *form, struct slice *word)
{
    size_t start = reader->at;
    for (; reader->at < reader->length; reader->at++) {
        char byte = reader->data[reader->at];
        size_t length = reader->at - start;
        if (byte == ' ' && length) {
            *word = (struct slice){reader->data + start, length};
            reader->at++;
            return 1;
        }
        if (!is(byte, form->class)) {
            return refuse(reader, 400, form->wrong);
        }
        if (length >= form->most) {
            return refuse(reader, form->too_long_status, form->too_long);
        }
    }
    return 0;
}

static int read_method(struct head_reader *reader)
{
    return read_word(reader, &METHOD, &reader->head->request.method);
}

static int read_target(struct head_reader *reader)
{
    struct http_request *request = &reader->head->request;
    struct slice target;
    if (reader->at < reader->length && reader->data[reader->at] != '/') {
        return refuse(reader, 400, "the request target must begin with /");
    }
    int step = read_word(reader, &REQUEST_TARGET, &target);
    if (step == 1) {
        const char *mark = memchr(target.data, '?', target.length);
        size_t path = mark ? (size_t)(mark - target.data) : target.length;
        request->path = (struct slice){target.data, path};
        if (mark) {
            request->query = (struct slice){mark + 1, target.length - path - 1};
        }
    }
    return step;
}

static int read_version(struct head_reader *reader)
{
    static const char shape[] = "HTTP/d.d\r\n";
    for (size_t i = 0; i < sizeof shape - 1; i++) {
        if (reader->at + i >= reader->length) {
            return 0;
        }
        char byte = reader->data[reader->at + i];
        if (shape[i] == 'd' ? byte < '0' || byte > '9' : byte != shape[i]) {
            return refuse(reader, 400, "the request line must end in HTTP/1.1 and CRLF");
        }
        if ((i == 5 && byte != '1') || (i == 7 && byte > '1')) {
            return refuse(reader, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
        }
    }
    reader->head->minor_version = reader->data[reader->at + 7] - '0';
    reader->at += sizeof shape - 1;
    return 1;
}

/* ---- the headers that the framing depends on ---- */

static int see_host(struct head_reader *reader, struct slice value)
{
    if (reader->hosts++) {
        return refuse(reader, 400, "there is more than one Host header");
    }
    if (value.length == 0 || !all_are(value, HOST)) {
        return refuse(reader, 400, "the Host header is not a host");
    }
    return 1;
}

static int see_content_length(struct head_reader *reader, struct slice value)
{
    if (reader->lengths++) {
        return refuse(reader, 400, "there is more than one Content-Length header");
    }
    while (value.length > 1 && value.data[0] == '0') {
        value.data++;
        value.length--;
    }
    int64_t length = 0;
    bool number = value.length > 0;
    for (size_t i = 0; number && i < value.length; i++) {
        number = value.data[i] >= '0' && value.data[i] <= '9';
        length = i < CONTENT_LENGTH_CHARS ? length * 10 + (value.data[i] - '0') : INT64_MAX;
    }
    if (!number) {
        return refuse(reader, 400, "the Content-Length header is not a number");
    }
    reader->head->request.content_length = length;
    return 1;
}

static int see_transfer_encoding(struct head_reader *reader, struct slice value)
{
    if (reader->codings++) {
        return refuse(reader, 400, "there is more than one Transfer-Encoding header");
    }
    if (reader->head->minor_version == 0) {
        return refuse(reader, 400, "HTTP/1.0 has no Transfer-Encoding");
    }
    if (!slice_is_any_case(value, "chunked")) {
        return refuse(reader, 501, "the only Transfer-Encoding understood is chunked");
    }
    return 1;
}

static int see_connection(struct head_reader *reader, struct slice value)
{
    while (value.length) {
        const char *comma = memchr(value.data, ',', value.length);
        size_t length = comma ? (size_t)(comma - value.data) : value.length;
        struct slice option = slice_trim((struct slice){value.data, length});
        reader->asks_close |= slice_is_any_case(option, "close");
        reader->asks_keep_alive |= slice_is_any_case(option, "keep-alive");
        length += comma ? 1 : 0;
        value.data += length;
        value.length -= length;
    }
    return 1;
}

static int see_expect(struct head_reader *reader, struct slice value)
{
    if (!slice_is_any_case(value, "100-continue")) {
        return refuse(reader, 417, "the only expectation understood is 100-continue");
    }
    reader->head->expect_continue = reader->head->minor_version == 1;
    return 1;
}

static const struct {
    struct slice name;
    int (*see)(struct head_reader *reader, struct slice value);
} FRAMING[] = {
    {{"host", 4}, see_host},
    {{"content-length", 14}, see_content_length},
    {{"transfer-encoding", 17}, see_transfer_encoding},
    {{"connection", 10}, see_connection},
    {{"expect", 6}, see_expect},
};

/* ---- header lines ---- */

/* Finds the end of the line at `reader->at`. A line that ends beyond the ceiling is refused before
 * its contents are looked at, so that the verdict is the same when it arrives in pieces. */
static int find_line(struct head_reader *reader, struct slice *line)
{
    const char *start = reader->data + reader->at;
    size_t seen = reader->length < LIMIT_HTTP_HEAD_BYTES ? reader->length : LIMIT_HTTP_HEAD_BYTES;
    const char *end = seen > reader->at ? memchr(start, '\n', seen - reader->at) : NULL;
    if (!end) {
        return seen < LIMIT_HTTP_HEAD_BYTES
                   ? 0
                   : refuse(reader, 431, "the headers are too long together");
    }
    if (end == start || end[-1] != '\r') {
        return refuse(reader, 400, "a line of the head ends without CR");
    }
    *line = (struct slice){start, (size_t)(end - start) - 1};
    reader->at += line->length + 2;
    return 1;
}

static int read_header(struct head_reader *reader, struct slice line)
{
    struct http_request *request = &reader->head->request;
    size_t name = 0;
    while (name < line.length && is(line.data[name], TOKEN)) {
        name++;
    }
    if (name == 0 || name == line.length || line.data[name] != ':') {
        return refuse(reader, 400, "a header line is not a name, a colon and a value");
    }
    struct slice value = {line.data + name + 1, line.length - name - 1};
    if (!all_are(value, VALUE)) {
        return refuse(reader, 400, "a header has a control character");
    }
    if (request->header_count == LIMIT_HTTP_HEADERS) {
        return refuse(reader, 431, "there are too many headers");
    }
    struct http_header *header = &reader->head->headers[request->header_count++];
    *header = (struct http_header){{line.data, name}, slice_trim(value)};
    for (size_t i = 0; i < sizeof FRAMING / sizeof FRAMING[0]; i++) {
        if (slice_same_any_case(header->name, FRAMING[i].name)) {
            return FRAMING[i].see(reader, header->value);
        }
    }
    return 1;
}

/* The head is complete: does it hang together? */
static int check_framing(struct head_reader *reader)
{
    struct http_head *head = reader->head;
    if (head->minor_version == 1 && reader->hosts == 0) {
        return refuse(reader, 400, "the Host header is missing");
    }
    if (reader->lengths && reader->codings) {
        return refuse(reader, 400, "there is a Content-Length and a Transfer-Encoding header");
    }
    if (reader->codings) {
        head->request.content_length = -1;
    }
    head->keep_alive = !reader->asks_close && (head->minor_version == 1 || reader->asks_keep_alive);
    return 1;
}

static int read_headers(struct head_reader *reader)
{
    for (;;) {
        struct slice line;
        int step = find_line(reader, &line);
        if (step <= 0) {
            return step;
        }
        if (line.length == 0) {
            return check_framing(reader);
        }
        step = read_header(reader, line);
        if (step < 0) {
            return step;
        }
    }
}

int http_parse_head(const char *data, size_t length, struct http_head *head, const char **problem)
{
    static int (*const steps[])(struct head_reader *) = {
        skip_blank_line, read_method, read_target, read_version, read_headers,
    };
    struct head_reader reader = {.data = data, .length = length, .head = head};
    memset(&head->request, 0, sizeof head->request);
    head->request.headers = head->headers;
    head->minor_version = 1;
    head->keep_alive = false;
    head->expect_continue = false;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        int step = steps[i](&reader);
        if (step <= 0) {
            *problem = reader.problem;
            return step;
        }
    }
    *problem = NULL;
    return (int)reader.at;
}

/* ---- chunked bodies ---- */

enum chunk_state {
    CHUNK_SIZE, /* the first digit; the rest follow in CHUNK_DIGITS */
    CHUNK_DIGITS,
    CHUNK_EXTENSION,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_TRAILER, /* at the start of a line of the trailer */
    CHUNK_TRAILER_LINE,
    CHUNK_TRAILER_LF,
    CHUNK_LAST_LF,
    CHUNK_DONE,
};

static unsigned hex_value(char digit)
{
    return digit <= '9' ? (unsigned)(digit - '0') : (unsigned)((digit | 0x20) - 'a') + 10;
}

/* A byte of the line that says how long the next chunk is. 0, or minus a status. */
static int read_size(struct http_chunks *chunks, char byte, size_t ceiling)
{
    if (++chunks->line_length > CHUNK_LINE_BYTES) {
        return -400;
    }
    if (chunks->state != CHUNK_EXTENSION && is(byte, HEX)) {
        chunks->state = CHUNK_DIGITS;
        chunks->left = chunks->left * 16 + hex_value(byte);
        return chunks->left > ceiling - chunks->body_length ? -413 : 0;
    }
    if (chunks->state == CHUNK_SIZE) {
        return -400;
    }
    if (byte == '\r') {
        chunks->state = CHUNK_SIZE_LF;
        return 0;
    }
    if (chunks->state == CHUNK_DIGITS ? byte != ';' : !is(byte, VALUE)) {
        return -400;
    }
    chunks->state = CHUNK_EXTENSION;
    return 0;
}

/* A byte of the lines after the last chunk. 0, or minus a status. */
static int read_trailer(struct http_chunks *chunks, char byte)
{
    if (++chunks->line_length > CHUNK_TRAILER_BYTES) {
        return -431;
    }
    if (byte == '\r') {
        chunks->state = chunks->state == CHUNK_TRAILER ? CHUNK_LAST_LF : CHUNK_TRAILER_LF;
        return 0;
    }
    if (!is(byte, chunks->state == CHUNK_TRAILER ? TOKEN : VALUE)) {
        return -400;
    }
    chunks->state = CHUNK_TRAILER_LINE;
    return 0;
}

/* A byte that must be the expected one. 0, or minus a status. */
static int expect_byte(struct http_chunks *chunks, char byte, char expected, int next)
{
    if (byte != expected) {
        return -400;
    }
    chunks->state = next;
    return 0;
}

/* A byte that is not part of a chunk's data. 0, or minus a status. */
static int read_framing(struct http_chunks *chunks, char byte, size_t ceiling)
{
    switch (chunks->state) {
    case CHUNK_SIZE:
    case CHUNK_DIGITS:
    case CHUNK_EXTENSION:
        return read_size(chunks, byte, ceiling);
    case CHUNK_SIZE_LF:
        chunks->line_length = 0;
        chunks->body_length += (size_t)chunks->left;
        return expect_byte(chunks, byte, '\n', chunks->left ? CHUNK_DATA : CHUNK_TRAILER);
    case CHUNK_DATA_CR:
        return expect_byte(chunks, byte, '\r', CHUNK_DATA_LF);
    case CHUNK_DATA_LF:
        return expect_byte(chunks, byte, '\n', CHUNK_SIZE);
    case CHUNK_TRAILER_LF:
        return expect_byte(chunks, byte, '\n', CHUNK_TRAILER);
    case CHUNK_LAST_LF:
        return expect_byte(chunks, byte, '\n', CHUNK_DONE);
    default:
        return read_trailer(chunks, byte);
    }
}

int http_read_chunks(struct http_chunks *chunks, char *data, size_t *length, size_t *used,
                     size_t ceiling)
{
    size_t in = 0;
    size_t out = 0;
    int result = 0;
    while (in < *length && chunks->state != CHUNK_DONE && result == 0) {
        if (chunks->state == CHUNK_DATA) {
            size_t there = *length - in;
            size_t take = chunks->left < there ? (size_t)chunks->left : there;
            memmove(data + out, data + in, take);
            in += take;
            out += take;
            chunks->left -= take;
            chunks->state = chunks->left ? CHUNK_DATA : CHUNK_DATA_CR;
        } else {
            result = read_framing(chunks, data[in++], ceiling);
        }
    }
    *length = out;
    *used = in;
    return result < 0 ? result : chunks->state == CHUNK_DONE;
}
