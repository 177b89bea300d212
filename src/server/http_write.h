/* The writing of an HTTP/1.1 answer: its status line and the headers that every answer has, and
 * the answers that the server gives by itself. The counterpart of http_parse.h. */
#ifndef FORAGE_SERVER_HTTP_WRITE_H
#define FORAGE_SERVER_HTTP_WRITE_H

#include <stdbool.h>
#include <stddef.h>

#define HTTP_ANSWER_HEAD_SIZE 512
#define HTTP_ERROR_SIZE       512

struct http_answer {
    int status;
    const char *request_id;
    size_t length; /* of the body */
    bool streamed; /* the length is not known */
    bool close;
    int minor_version; /* of the client */
};

/* Writes status line and headers without the blank line; returns their length. */
size_t http_write_head(char out[HTTP_ANSWER_HEAD_SIZE], const struct http_answer *head);
/* Whether answers with this status have a body. */
bool http_has_body(int status);

/* What the server says when it refuses by itself: a JSON body, its length, and the headers to it.
 * `problem` is NULL for the words that go with the status. */
size_t http_write_error(char out[HTTP_ERROR_SIZE], int status, const char *problem,
                        const char *request_id, const char **headers);

#endif
