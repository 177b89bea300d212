/* The reading of an HTTP/1.1 head and of chunked bodies: pure functions over bytes, fuzzed.
 *
 * What is refused stays refused: once the bytes so far are wrong, no further byte changes the
 * verdict, so it does not matter in which pieces a request arrives. */
#ifndef FORAGE_SERVER_HTTP_PARSE_H
#define FORAGE_SERVER_HTTP_PARSE_H

#include "core/limits.h"
#include "core/status.h"
#include "server/server.h"

struct http_head {
    struct http_request request;
    struct http_header headers[LIMIT_HTTP_HEADERS];
    int minor_version; /* 0 or 1 */
    bool keep_alive;
    bool expect_continue;
};

/* Parses the head at the start of `data`. The number of bytes it takes, its last blank line
 * included; 0 when it is not complete yet; minus an HTTP status (-400, -414, -417, -431, -501,
 * -505) when it must be refused, with the reason in `problem`. Slices point into `data`,
 * request.headers into `head`. */
int http_parse_head(const char *data, size_t length, struct http_head *head, const char **problem);

/* Undoes chunked coding, piece by piece. Begins as all zeros. */
struct http_chunks {
    int state;
    unsigned long long left; /* of the current chunk */
    size_t body_length;      /* decoded so far, the current chunk included */
    size_t line_length;      /* of the current size line, or of the trailer so far */
};

/* Decodes in place: reads `*length` bytes at `data`, leaves the decoded ones at its start with
 * their count in `*length`, and the number of bytes read in `*used`. 1 when the body is complete, 0
 * when it wants more, minus an HTTP status (-400, -413, -431) when it must be refused. The trailer
 * is read and dropped. */
MUST_CHECK int http_read_chunks(struct http_chunks *chunks, char *data, size_t *length,
                                size_t *used, size_t ceiling);

#endif
