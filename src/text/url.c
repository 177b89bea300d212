/* URLs: cutting a text into its parts, dot segments, percent-encoding. Hosts are in url_host.c. */
#include "text/url.h"

#include "core/limits.h"
#include "core/status.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static const char HEX[] = "0123456789ABCDEF";

static const struct {
    const char *name;
    int port;
} SCHEMES[] = {{"http", 80}, {"https", 443}};

/* What a part may not hold as it is, a bit for each part: controls, blanks, DEL and bytes beyond
 * ASCII in none of them, and a few signs. */
enum url_part { PATH = 1, QUERY = 2, FRAGMENT = 4 };

static const uint8_t ENCODED[256] = {
    [0 ... ' '] = PATH | QUERY | FRAGMENT,
    [0x7f ... 0xff] = PATH | QUERY | FRAGMENT,
    ['"'] = PATH | QUERY | FRAGMENT,
    ['#'] = PATH | QUERY,
    ['<'] = PATH | QUERY | FRAGMENT,
    ['>'] = PATH | QUERY | FRAGMENT,
    ['?'] = PATH,
    ['`'] = PATH | FRAGMENT,
    ['{'] = PATH,
    ['}'] = PATH,
    ['^'] = PATH,
    ['\''] = QUERY,
};

/* What is read and what is written, with the places in `out` where its parts begin. */
struct url_reader {
    struct arena *arena;
    const struct url *base; /* NULL: only an absolute URL will do */
    const char *at;         /* the next character of the cleaned text */
    struct buf clean;
    struct buf out;
    const char *scheme;
    int port;
    char host[URL_HOST_SIZE];
    size_t path_start;
    const char *problem;
};

static int invalid(struct url_reader *reader, const char *problem)
{
    reader->problem = problem;
    return ERR_INVALID;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Browsers take both slashes in http and https URLs. */
static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

static bool ends_path(char c)
{
    return c == '\0' || c == '?' || c == '#';
}

int url_hex_value(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* ---- percent-encoding ---- */

static int put_encoded(struct buf *out, char c)
{
    unsigned char byte = (unsigned char)c;
    char escape[3] = {'%', HEX[byte >> 4], HEX[byte & 15]};
    return buf_append(out, escape, sizeof escape);
}

int url_encode(struct buf *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (is_letter(c) || is_digit(c) || (c && strchr("-._~", c))) {
            buf_putc(out, c);
        } else {
            put_encoded(out, c);
        }
    }
    return buf_error(out);
}

size_t url_unescape(const char *text, size_t length, char *out, size_t size)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++, written++) {
        int high = i + 2 < length && text[i] == '%' ? url_hex_value(text[i + 1]) : -1;
        int low = high >= 0 ? url_hex_value(text[i + 2]) : -1;
        if (written == size) {
            return size + 1;
        }
        out[written] = low >= 0 ? (char)(high * 16 + low) : text[i];
        i += low >= 0 ? 2 : 0;
    }
    return written;
}

char *url_decode(struct arena *arena, const char *text, size_t length, size_t *decoded_length)
{
    char *decoded = arena_alloc(arena, length + 1);
    if (!decoded) {
        return NULL;
    }
    size_t written = url_unescape(text, length, decoded, length);
    decoded[written] = '\0';
    if (decoded_length) {
        *decoded_length = written;
    }
    return decoded;
}

/* Appends a part of a URL. An escape that is already there stays as it is, even a broken one: the
 * server that wrote the link knows what it meant. */
static void put_part(struct buf *out, const char *text, size_t length, enum url_part part)
{
    size_t done = 0;
    for (size_t i = 0; i < length; i++) {
        if ((ENCODED[(unsigned char)text[i]] & part) != 0) {
            buf_append(out, text + done, i - done);
            put_encoded(out, text[i]);
            done = i + 1;
        }
    }
    buf_append(out, text + done, length - done);
}

/* ---- the path ---- */

/* The number of dots when the segment is "." or "..", also where they are written "%2e"; otherwise
 * 0. */
static int count_dots(const char *segment, size_t length)
{
    int dots = 0;
    while (length && dots < 3) {
        if (segment[0] == '.') {
            segment++;
            length--;
        } else if (length >= 3 && strncasecmp(segment, "%2e", 3) == 0) {
            segment += 3;
            length -= 3;
        } else {
            return 0;
        }
        dots++;
    }
    return dots < 3 ? dots : 0;
}

/* Takes back the last segment of the path, which ends in a slash; never the first slash. */
static void drop_segment(struct url_reader *reader)
{
    struct buf *out = &reader->out;
    if (buf_error(out) || out->length - reader->path_start <= 1) {
        return;
    }
    out->length--;
    while (out->data[out->length - 1] != '/') {
        out->length--;
    }
    out->data[out->length] = '\0';
}

/* Reads the rest of a path; what is written so far ends in a slash. */
static void read_path(struct url_reader *reader)
{
    while (!ends_path(*reader->at)) {
        const char *segment = reader->at;
        while (!ends_path(*reader->at) && !is_slash(*reader->at)) {
            reader->at++;
        }
        size_t length = (size_t)(reader->at - segment);
        bool more = is_slash(*reader->at);
        int dots = count_dots(segment, length);
        if (dots == 2) {
            drop_segment(reader);
        } else if (dots == 0) {
            put_part(&reader->out, segment, length, PATH);
            if (more) {
                buf_putc(&reader->out, '/');
            }
        }
        if (more) {
            reader->at++;
        }
    }
}

/* ---- the authority ---- */

static int read_port(struct url_reader *reader, const char *text, const char *end)
{
    long port = 0;
    for (const char *digit = text; digit < end; digit++) {
        if (!is_digit(*digit)) {
            return invalid(reader, "has a port that is not a number");
        }
        port = port * 10 + (*digit - '0');
        if (port > UINT16_MAX) {
            return invalid(reader, "has a port above 65535");
        }
    }
    if (text < end && port == 0) {
        return invalid(reader, "has port 0");
    }
    if (text < end) {
        reader->port = (int)port;
    }
    return OK;
}

static int read_authority(struct url_reader *reader)
{
    while (is_slash(*reader->at)) {
        reader->at++;
    }
    const char *start = reader->at;
    size_t length = strcspn(start, "/\\?#");
    const char *end = start + length;
    if (memchr(start, '@', length)) {
        return invalid(reader, "carries a user name or password, which is not allowed");
    }
    const char *bracket = *start == '[' ? memchr(start, ']', length) : NULL;
    const char *after_host = bracket ? bracket + 1 : start;
    const char *colon = memchr(after_host, ':', (size_t)(end - after_host));
    const char *host_end = colon ? colon : end;
    int status = url_host(start, (size_t)(host_end - start), reader->host, &reader->problem);
    if (status == OK && colon) {
        status = read_port(reader, colon + 1, end);
    }
    reader->at = end;
    return status;
}

static int default_port(const char *scheme)
{
    return strcmp(scheme, SCHEMES[0].name) == 0 ? SCHEMES[0].port : SCHEMES[1].port;
}

static void write_authority(struct url_reader *reader)
{
    bool ipv6 = url_host_is_ipv6(reader->host);
    buf_puts(&reader->out, reader->scheme);
    buf_puts(&reader->out, ipv6 ? "://[" : "://");
    buf_puts(&reader->out, reader->host);
    buf_puts(&reader->out, ipv6 ? "]" : "");
    if (reader->port != default_port(reader->scheme)) {
        buf_printf(&reader->out, ":%d", reader->port);
    }
    reader->path_start = reader->out.length;
}

/* ---- the whole ---- */

/* Copies the text without what browsers ignore: controls and blanks around it, tabs and line ends
 * in it. */
static int clean_text(struct url_reader *reader, const char *text)
{
    size_t length = strlen(text);
    if (length > LIMIT_URL_BYTES) {
        reader->problem = "is too long";
        return ERR_LIMIT;
    }
    while (length && (unsigned char)text[length - 1] <= ' ') {
        length--;
    }
    while (length && (unsigned char)*text <= ' ') {
        text++;
        length--;
    }
    buf_append(&reader->clean, "", 0);
    for (size_t i = 0; i < length; i++) {
        size_t plain = i;
        while (plain < length && text[plain] != '\t' && text[plain] != '\r' &&
               text[plain] != '\n') {
            plain++;
        }
        buf_append(&reader->clean, text + i, plain - i);
        i = plain;
    }
    reader->at = reader->clean.data;
    return buf_error(&reader->clean);
}

/* The length of a scheme at the beginning, without its colon; 0 when there is none. */
static size_t scheme_length(const char *text)
{
    size_t length = 0;
    if (is_letter(*text)) {
        while (is_letter(text[length]) || is_digit(text[length]) ||
               (text[length] && strchr("+-.", text[length]))) {
            length++;
        }
    }
    return text[length] == ':' ? length : 0;
}

static int read_scheme(struct url_reader *reader, size_t length)
{
    for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++) {
        if (strlen(SCHEMES[i].name) == length &&
            strncasecmp(reader->at, SCHEMES[i].name, length) == 0) {
            reader->scheme = SCHEMES[i].name;
            reader->port = SCHEMES[i].port;
            reader->at += length + 1;
            return OK;
        }
    }
    return invalid(reader, "must begin with http:// or https://");
}

/* Takes over from the base what a relative reference leaves out. */
static void read_relative(struct url_reader *reader)
{
    const struct url *base = reader->base;
    struct buf *out = &reader->out;
    reader->scheme = base->scheme;
    reader->port = base->port;
    memcpy(reader->host, base->host, strlen(base->host) + 1);
    write_authority(reader);
    if (is_slash(*reader->at)) {
        reader->at++;
        buf_putc(out, '/');
        read_path(reader);
    } else if (!ends_path(*reader->at)) {
        const char *last_slash = strrchr(base->path, '/');
        buf_append(out, base->path, (size_t)(last_slash - base->path) + 1);
        read_path(reader);
    } else {
        buf_puts(out, base->path);
        if (*reader->at != '?' && base->query) {
            buf_putc(out, '?');
            buf_puts(out, base->query);
        }
    }
}

/* Everything up to the query. */
static int read_front(struct url_reader *reader)
{
    bool relative = reader->base != NULL;
    size_t scheme = scheme_length(reader->at);
    if (scheme) {
        int status = read_scheme(reader, scheme);
        if (status != OK) {
            return status;
        }
        /* "http:page" is relative where the base has the same scheme; "http:/host" is not. */
        relative =
            relative && strcmp(reader->scheme, reader->base->scheme) == 0 && !is_slash(*reader->at);
    } else if (!reader->base) {
        return invalid(reader, "must begin with http:// or https://");
    } else if (is_slash(reader->at[0]) && is_slash(reader->at[1])) {
        relative = false;
        reader->scheme = reader->base->scheme;
        reader->port = default_port(reader->scheme);
    }
    if (relative) {
        read_relative(reader);
        return OK;
    }
    int status = read_authority(reader);
    if (status != OK) {
        return status;
    }
    write_authority(reader);
    buf_putc(&reader->out, '/');
    if (is_slash(*reader->at)) {
        reader->at++;
    }
    read_path(reader);
    return OK;
}

static void read_query_and_fragment(struct url_reader *reader)
{
    if (*reader->at == '?') {
        size_t length = strcspn(reader->at + 1, "#");
        buf_putc(&reader->out, '?');
        put_part(&reader->out, reader->at + 1, length, QUERY);
        reader->at += 1 + length;
    }
    if (*reader->at == '#') {
        buf_putc(&reader->out, '#');
        put_part(&reader->out, reader->at + 1, strlen(reader->at + 1), FRAGMENT);
    }
}

/* Copies the parts into the arena. */
static int store(struct url_reader *reader, struct url *url)
{
    if (buf_error(&reader->out)) {
        reader->problem = buf_error(&reader->out) == ERR_LIMIT ? "is too long" : NULL;
        return buf_error(&reader->out);
    }
    struct arena *arena = reader->arena;
    const char *path = reader->out.data + reader->path_start;
    size_t path_length = strcspn(path, "?#");
    const char *hash = strchr(path, '#');
    const char *mark = path[path_length] == '?' ? path + path_length : NULL;
    url->scheme = reader->scheme;
    url->port = reader->port;
    url->text = arena_strndup(arena, reader->out.data, reader->out.length);
    url->host = arena_strdup(arena, reader->host);
    url->path = arena_strndup(arena, path, path_length);
    url->query = mark ? arena_strndup(arena, mark + 1, strcspn(mark + 1, "#")) : NULL;
    url->fragment = hash ? arena_strdup(arena, hash + 1) : NULL;
    bool stored =
        url->text && url->host && url->path && (url->query || !mark) && (url->fragment || !hash);
    return stored ? OK : ERR_NOMEM;
}

int url_resolve(struct arena *arena, const struct url *base, const char *reference, struct url *url,
                const char **problem)
{
    struct url_reader reader = {.arena = arena, .base = base};
    memset(url, 0, sizeof *url);
    buf_init(&reader.clean, LIMIT_URL_BYTES);
    buf_init(&reader.out, LIMIT_URL_BYTES);
    int status = clean_text(&reader, reference);
    if (status == OK) {
        status = read_front(&reader);
    }
    if (status == OK) {
        read_query_and_fragment(&reader);
        status = store(&reader, url);
    }
    buf_done(&reader.clean);
    buf_done(&reader.out);
    if (problem) {
        *problem = status == OK ? NULL : reader.problem ? reader.problem : "needs too much memory";
    }
    return status;
}

int url_parse(struct arena *arena, const char *text, struct url *url, const char **problem)
{
    return url_resolve(arena, NULL, text, url, problem);
}

bool url_same_origin(const struct url *first, const struct url *second)
{
    return first->port == second->port && strcmp(first->scheme, second->scheme) == 0 &&
           strcmp(first->host, second->host) == 0;
}
