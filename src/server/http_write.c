/* Status lines, headers and the server's own refusals, written by hand rather than with printf,
 * because this runs for every request. */
#include "server/http_write.h"

#include "call/errors.h"
#include "text/http_status.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define DATE_SIZE 32

#define JSON_TYPE "Content-Type: application/json\r\n"

static const struct refusal {
    int status;
    const char *code;
    const char *message;
} REFUSALS[] = {
    {400, CODE_VALIDATION, "the request is not valid HTTP/1.1"},
    {408, CODE_TIMEOUT, "the request did not arrive in time"},
    {413, CODE_TOO_LARGE, "the request body is too large"},
    {414, CODE_TOO_LARGE, "the request target is too long"},
    {417, CODE_VALIDATION, "the expectation cannot be met"},
    {431, CODE_TOO_LARGE, "the request head is too large"},
    {501, CODE_VALIDATION, "the server does not do that"},
    {503, CODE_BUSY,
     "there are too many connections, in all or from your address: close those that you do not "
     "need, or try again in a moment"},
    {505, CODE_VALIDATION, "the HTTP version is not spoken here"},
    {500, CODE_INTERNAL, "the server could not answer"}, /* last: for any other */
};

static char *put(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *put_number(char *at, size_t number, int least_digits)
{
    char digits[24];
    int count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number || count < least_digits);
    while (count) {
        *at++ = digits[--count];
    }
    return at;
}

static void write_date(time_t now, char out[DATE_SIZE])
{
    static const char days[] = "Sun\0Mon\0Tue\0Wed\0Thu\0Fri\0Sat";
    static const char months[] = "Jan\0Feb\0Mar\0Apr\0May\0Jun\0Jul\0Aug\0Sep\0Oct\0Nov\0Dec";
    struct tm parts;
    gmtime_r(&now, &parts);
    char *at = put(out, days + (size_t)parts.tm_wday * 4);
    at = put(at, ", ");
    at = put_number(at, (size_t)parts.tm_mday, 2);
    *at++ = ' ';
    at = put(at, months + (size_t)parts.tm_mon * 4);
    *at++ = ' ';
    at = put_number(at, (size_t)parts.tm_year + 1900, 4);
    *at++ = ' ';
    at = put_number(at, (size_t)parts.tm_hour, 2);
    *at++ = ':';
    at = put_number(at, (size_t)parts.tm_min, 2);
    *at++ = ':';
    at = put_number(at, (size_t)parts.tm_sec, 2);
    at = put(at, " GMT");
    *at = '\0';
}

/* The date changes once a second, so each thread remembers how it wrote it last. */
static char *put_date(char *at)
{
    static _Thread_local time_t written_for;
    static _Thread_local char written[DATE_SIZE];
    time_t now = time(NULL);
    if (now != written_for || !written[0]) {
        write_date(now, written);
        written_for = now;
    }
    return put(at, written);
}

bool http_has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

size_t http_write_head(char out[HTTP_ANSWER_HEAD_SIZE], const struct http_answer *head)
{
    char *at = put(out, "HTTP/1.1 ");
    at = put_number(at, (size_t)head->status % 1000, 3);
    *at++ = ' ';
    const char *words = http_status_words(head->status);
    at = put(at, words ? words : "");
    at = put(at, "\r\nDate: ");
    at = put_date(at);
    at = put(at, "\r\nX-Request-Id: ");
    at = put(at, head->request_id);
    at = put(at, "\r\nX-Content-Type-Options: nosniff\r\n");
    if (head->streamed && head->minor_version == 1) {
        at = put(at, "Transfer-Encoding: chunked\r\n");
    } else if (!head->streamed && http_has_body(head->status)) {
        at = put(at, "Content-Length: ");
        at = put_number(at, head->length, 1);
        at = put(at, "\r\n");
    }
    if (head->close) {
        at = put(at, "Connection: close\r\n");
    } else if (head->minor_version == 0) {
        at = put(at, "Connection: keep-alive\r\n");
    }
    return (size_t)(at - out);
}

size_t http_write_error(char out[HTTP_ERROR_SIZE], int status, const char *problem,
                        const char *request_id, const char **headers)
{
    const struct refusal *refusal = REFUSALS;
    const struct refusal *last = REFUSALS + sizeof REFUSALS / sizeof REFUSALS[0] - 1;
    while (refusal < last && refusal->status != status) {
        refusal++;
    }
    *headers = status == 503 ? JSON_TYPE "Retry-After: 1\r\n" : JSON_TYPE;
    int length = snprintf(out, HTTP_ERROR_SIZE,
                          "{\"success\":false,\"error\":{\"code\":\"%s\",\"message\":\"%s\","
                          "\"request_id\":\"%s\"}}\n",
                          refusal->code, problem ? problem : refusal->message, request_id);
    return length > 0 ? (size_t)length : 0;
}
