/* Tables from failures to words. */
#include "page/notes.h"

#include "core/limits.h"
#include "page/reader.h"

#include <string.h>

#define COUNT(table)     (sizeof(table) / sizeof *(table))
#define MOST_WAIT_DIGITS 6

const char *note_failed(struct arena *arena, const char *kind, const char *detail, const char *url)
{
    return arena_printf(arena, "_Failed to retrieve page content: %s%s%s_\n\nSource: %s", kind,
                        detail ? ": " : "", detail ? detail : "", url);
}

const char *note_unsupported(struct arena *arena, const char *url)
{
    return arena_printf(arena,
                        "_Could not retrieve content for this URL (possibly a PDF or unsupported "
                        "type)._\n\nSource: %s",
                        url);
}

/* ---- fetches ---- */

/* Words that are NULL are those of the fetch, which tells more. */
static const struct {
    enum fetch_failure failure;
    struct note note;
} FAILURES[] = {
    {FETCH_NO_NAME, {"DNSError", "the host does not exist"}},
    {FETCH_NAME_ERROR, {"DNSError", "the name of the host could not be looked up"}},
    {FETCH_CONNECT, {"ConnectionError", "nobody answers at this address"}},
    {FETCH_TLS, {"TLSError", NULL}},
    {FETCH_TIMEOUT, {"Timeout", "there was no answer in time"}},
    {FETCH_BROKEN, {"ConnectionError", NULL}},
    {FETCH_TOO_LARGE, {"TooLarge", "the answer is larger than what is read"}},
    {FETCH_REDIRECTS, {"RedirectError", NULL}},
    {FETCH_FORBIDDEN, {"Forbidden", "a redirect leads to an address that is not public"}},
};

/* "host: words (what a library adds)" without the host and the library. */
static const char *bare_words(struct arena *arena, const char *error)
{
    const char *colon = strstr(error, ": ");
    const char *words = colon ? colon + 2 : error;
    const char *end = strstr(words, " (");
    return arena_strndup(arena, words, end ? (size_t)(end - words) : strlen(words));
}

struct note note_of_failure(struct arena *arena, const struct fetch_response *response)
{
    for (size_t i = 0; i < COUNT(FAILURES); i++) {
        if (FAILURES[i].failure == response->failure) {
            struct note note = FAILURES[i].note;
            if (!note.detail && response->error) {
                note.detail = bare_words(arena, response->error);
            }
            return note;
        }
    }
    return (struct note){"FetchError", response->error};
}

/* ---- statuses ---- */

static const struct {
    int status;
    const char *words;
} STATUSES[] = {
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {418, "I'm a teapot"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {425, "Too Early"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
};

static const char *status_words(int status)
{
    for (size_t i = 0; i < COUNT(STATUSES); i++) {
        if (STATUSES[i].status == status) {
            return STATUSES[i].words;
        }
    }
    return NULL;
}

/* The seconds of "Retry-After: 120"; NULL when it is a date or not there. */
static const char *wait_time(const struct fetch_response *response)
{
    const char *value = fetch_header_value(response, "retry-after");
    size_t digits = value ? strspn(value, "0123456789") : 0;
    return digits && digits <= MOST_WAIT_DIGITS && !value[digits] ? value : NULL;
}

struct note note_of_status(struct arena *arena, const struct fetch_response *response)
{
    const char *words = status_words(response->status);
    const char *wait = wait_time(response);
    return (struct note){
        "HTTPError",
        arena_printf(arena, "%d%s%s%s%s%s", response->status, words ? " " : "", words ? words : "",
                     wait ? "; try again in " : "", wait ? wait : "", wait ? " s" : ""),
    };
}
