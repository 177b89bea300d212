/* Fuzzes the reading of requests. The input is what a client sends: a head, and a chunked body
 * after it. Whatever it is: slices lie within the bytes, and it makes no difference in which pieces
 * they come. */
#include "fuzz.h"
#include "server/http_parse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CUTS 256 /* beyond this many places only some are tried */

static void require(bool right)
{
    if (!right) {
        abort();
    }
}

static char *copy_of(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1);
    require(copy != NULL);
    if (size) {
        memcpy(copy, data, size);
    }
    return copy;
}

static void require_within(struct slice slice, const char *data, size_t size)
{
    require(slice.length == 0 || (slice.data >= data && slice.data + slice.length <= data + size));
}

static void check_slices(const struct http_head *head, const char *data, size_t size)
{
    const struct http_request *request = &head->request;
    require(request->method.length > 0);
    require(request->path.length > 0 && request->path.data[0] == '/');
    require(request->path.length + request->query.length <= LIMIT_HTTP_TARGET_BYTES);
    require(request->header_count <= LIMIT_HTTP_HEADERS);
    require(request->content_length >= -1);
    require(request->body.length == 0);
    require_within(request->method, data, size);
    require_within(request->path, data, size);
    require_within(request->query, data, size);
    for (size_t i = 0; i < request->header_count; i++) {
        require(request->headers[i].name.length > 0);
        require_within(request->headers[i].name, data, size);
        require_within(request->headers[i].value, data, size);
    }
}

/* Parses a copy of exactly this size. */
static int parse(const uint8_t *data, size_t size)
{
    struct http_head head;
    const char *problem = NULL;
    char *copy = copy_of(data, size);
    int result = http_parse_head(copy, size, &head, &problem);
    require((problem != NULL) == (result < 0));
    require(result <= (int)LIMIT_HTTP_HEAD_BYTES);
    if (result > 0) {
        require((size_t)result <= size);
        check_slices(&head, copy, (size_t)result);
    }
    free(copy);
    return result;
}

/* The length of the head, 0 when there is none. */
static size_t try_head(const uint8_t *data, size_t size)
{
    int whole = parse(data, size);
    size_t step = 1 + size / MOST_CUTS;
    for (size_t cut = 0; cut < size; cut += step) {
        int result = parse(data, cut);
        if (whole > 0) {
            require(result == (cut < (size_t)whole ? 0 : whole));
        } else {
            require(result == 0 || result == whole);
        }
    }
    return whole > 0 ? (size_t)whole : 0;
}

struct decoded {
    char *body;
    size_t length;
    size_t used;
    int result;
};

/* Decodes in pieces of `piece` bytes. */
static struct decoded decode(const uint8_t *data, size_t size, size_t piece, size_t ceiling)
{
    struct http_chunks chunks = {0};
    struct decoded decoded = {.body = copy_of(data, size)};
    while (decoded.used < size && decoded.result == 0) {
        size_t left = size - decoded.used;
        size_t length = piece < left ? piece : left;
        size_t given = length;
        size_t used;
        char *copy = copy_of(data + decoded.used, length);
        decoded.result = http_read_chunks(&chunks, copy, &length, &used, ceiling);
        require(used <= given && length <= used);
        require(decoded.result != 0 || used == given);
        memcpy(decoded.body + decoded.length, copy, length);
        decoded.length += length;
        decoded.used += used;
        free(copy);
    }
    require(decoded.length <= ceiling);
    return decoded;
}

static void try_chunks(const uint8_t *data, size_t size, size_t ceiling)
{
    static const size_t pieces[] = {1, 2, 3, 7, 64};
    struct decoded whole = decode(data, size, size, ceiling);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        struct decoded parts = decode(data, size, pieces[i], ceiling);
        require(parts.result == whole.result);
        require(parts.used == whole.used);
        require(parts.length == whole.length);
        require(memcmp(parts.body, whole.body, whole.length) == 0);
        free(parts.body);
    }
    free(whole.body);
}

FUZZ_TARGET(http_head)
{
    size_t head = try_head(data, size);
    try_chunks(data + head, size - head, LIMIT_MESSAGE_BYTES);
    try_chunks(data + head, size - head, 16);
    return 0;
}
