/* The heads that pass the filtering proxy: what the browser asks for, and how a request and its
 * answer are handed on. */
#include "browser/proxy.h"

#include "core/limits.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_METHOD_CHARS 32

/* Headers that belong to one connection and are not handed on. */
static const char *const OF_THE_CONNECTION[] = {
    "connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "upgrade",
};

static bool is_of_the_connection(struct slice name)
{
    for (size_t i = 0; i < sizeof OF_THE_CONNECTION / sizeof *OF_THE_CONNECTION; i++) {
        if (slice_is_any_case(name, OF_THE_CONNECTION[i])) {
            return true;
        }
    }
    return false;
}

/* ---- lines ---- */

/* The length of a head with its blank line; 0 when its end has not come. */
static size_t head_length(const char *data, size_t length)
{
    const char *end = length ? memmem(data, length, "\r\n\r\n", 4) : NULL;
    return end ? (size_t)(end - data) + 4 : 0;
}

/* Takes the next line off `rest`, without its CRLF. False when a control character is in it. */
static bool take_line(struct slice *rest, struct slice *line)
{
    const char *end = memmem(rest->data, rest->length, "\r\n", 2);
    if (!end) {
        return false;
    }
    *line = (struct slice){rest->data, (size_t)(end - rest->data)};
    rest->data += line->length + 2;
    rest->length -= line->length + 2;
    for (size_t i = 0; i < line->length; i++) {
        unsigned char byte = (unsigned char)line->data[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
            return false;
        }
    }
    return true;
}

static bool is_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* "Name: value", without the blanks around the value. */
static bool split_header(struct slice line, struct slice *name, struct slice *value)
{
    size_t length = 0;
    while (length < line.length && is_name_char(line.data[length])) {
        length++;
    }
    if (length == 0 || length == line.length || line.data[length] != ':') {
        return false;
    }
    *name = (struct slice){line.data, length};
    *value = (struct slice){line.data + length + 1, line.length - length - 1};
    while (value->length && (*value->data == ' ' || *value->data == '\t')) {
        value->data++;
        value->length--;
    }
    return true;
}

/* ---- what is asked for ---- */

/* "host:port" */
static bool read_authority(struct proxy_request *request, struct slice text)
{
    const char *problem;
    const char *colon = memrchr(text.data, ':', text.length);
    if (!colon) {
        return false;
    }
    size_t host = (size_t)(colon - text.data);
    size_t digits = text.length - host - 1;
    for (size_t i = 0; i < digits; i++) {
        if (digits > 5 || colon[1 + i] < '0' || colon[1 + i] > '9') {
            return false;
        }
        request->port = request->port * 10 + (colon[1 + i] - '0');
    }
    return request->port > 0 && request->port <= 65535 &&
           url_host(text.data, host, request->host, &problem) == OK;
}

/* "http://host:port/path?query" */
static bool read_absolute(struct proxy_request *request, struct slice text)
{
    static const size_t SCHEME = sizeof "http://" - 1;
    struct url url;
    const char *problem;
    if (text.length <= SCHEME || strncasecmp(text.data, "http://", SCHEME) != 0) {
        return false;
    }
    struct arena *arena = arena_new(8 * LIMIT_URL_BYTES);
    char *copy = arena ? arena_strndup(arena, text.data, text.length) : NULL;
    bool good = copy && url_parse(arena, copy, &url, &problem) == OK;
    if (good) {
        memcpy(request->host, url.host, strlen(url.host) + 1);
        request->port = url.port;
    }
    arena_free(arena);
    struct slice rest = {text.data + SCHEME, text.length - SCHEME};
    size_t authority = 0;
    while (authority < rest.length && !strchr("/?#\\", rest.data[authority])) {
        authority++;
    }
    request->authority = (struct slice){rest.data, authority};
    request->path = (struct slice){rest.data + authority, rest.length - authority};
    return good && authority > 0;
}

/* "METHOD target HTTP/1.1". 0, or minus an HTTP status. */
static int read_request_line(struct proxy_request *request, struct slice line)
{
    const char *first = memchr(line.data, ' ', line.length);
    const char *last = memrchr(line.data, ' ', line.length);
    if (!first || first == last || line.data + line.length - last != sizeof " HTTP/1.1" - 1 ||
        memcmp(last, " HTTP/1.", sizeof " HTTP/1." - 1) != 0) {
        return -400;
    }
    request->method = (struct slice){line.data, (size_t)(first - line.data)};
    struct slice target = {first + 1, (size_t)(last - first) - 1};
    if (request->method.length == 0 || request->method.length > MOST_METHOD_CHARS ||
        target.length == 0 || memchr(target.data, ' ', target.length) ||
        memchr(target.data, '\t', target.length)) {
        return -400;
    }
    for (size_t i = 0; i < request->method.length; i++) {
        if (!is_name_char(request->method.data[i])) {
            return -400;
        }
    }
    request->tunnel = request->method.length == 7 && memcmp(line.data, "CONNECT", 7) == 0;
    bool good = request->tunnel ? read_authority(request, target) : read_absolute(request, target);
    return good ? 0 : -400;
}

int proxy_read_request(const char *data, size_t length, struct proxy_request *request)
{
    memset(request, 0, sizeof *request);
    size_t whole = head_length(data, length);
    if (whole == 0 || whole > LIMIT_HTTP_HEAD_BYTES) {
        return whole || length > LIMIT_HTTP_HEAD_BYTES ? -431 : 0;
    }
    struct slice rest = {data, whole - 2};
    struct slice line;
    struct slice name;
    struct slice value;
    int status = take_line(&rest, &line) ? read_request_line(request, line) : -400;
    request->headers = rest;
    while (status == 0 && rest.length) {
        if (!take_line(&rest, &line) || !split_header(line, &name, &value)) {
            status = -400;
        } else if (slice_is_any_case(name, "proxy-authorization")) {
            request->authorization = value;
        }
    }
    return status ? status : (int)whole;
}

/* ---- what is handed on ---- */

/* Copies the header lines that are not about the connection, nor `without`. A line of an answer
 * that is no header is for the browser to judge. */
static int copy_headers(struct buf *out, struct slice rest, const char *without)
{
    struct slice line;
    struct slice name;
    struct slice value;
    while (rest.length) {
        if (!take_line(&rest, &line)) {
            return ERR_INVALID;
        }
        bool dropped =
            split_header(line, &name, &value) &&
            (is_of_the_connection(name) || (without && slice_is_any_case(name, without)));
        if (!dropped) {
            buf_append(out, line.data, line.length);
            buf_puts(out, "\r\n");
        }
    }
    buf_puts(out, "Connection: close\r\n\r\n");
    return buf_error(out);
}

int proxy_write_request(struct buf *out, const struct proxy_request *request)
{
    buf_append(out, request->method.data, request->method.length);
    buf_puts(out, " ");
    if (request->path.length == 0 || request->path.data[0] != '/') {
        buf_puts(out, "/");
    }
    buf_append(out, request->path.data, request->path.length);
    buf_puts(out, " HTTP/1.1\r\nHost: ");
    buf_append(out, request->authority.data, request->authority.length);
    buf_puts(out, "\r\n");
    return copy_headers(out, request->headers, "host");
}

int proxy_write_answer(struct buf *out, const char *data, size_t length, bool *is_interim)
{
    static const char BEGINNING[] = "HTTP/1.";
    size_t seen = length < sizeof BEGINNING - 1 ? length : sizeof BEGINNING - 1;
    *is_interim = false;
    if (memcmp(data, BEGINNING, seen) != 0) {
        return ERR_INVALID;
    }
    size_t whole = head_length(data, length);
    if (whole == 0) {
        return length > LIMIT_HTTP_HEAD_BYTES ? ERR_LIMIT : 0;
    }
    struct slice rest = {data, whole - 2};
    struct slice line;
    /* "HTTP/1.1 200": what follows is words. */
    if (!take_line(&rest, &line) || line.length < sizeof "HTTP/1.1 200" - 1) {
        return ERR_INVALID;
    }
    *is_interim = line.data[9] == '1';
    buf_append(out, line.data, line.length);
    buf_puts(out, "\r\n");
    int status = copy_headers(out, rest, NULL);
    return status == OK ? (int)whole : status;
}
