/* Takes the query of a URL apart, and decodes what stands there. */
#include "rest/query.h"

#include "call/errors.h"
#include "text/text.h"
#include "text/url.h"

#include <string.h>
#include <time.h>

bool query_next(struct slice *left, struct slice *name, struct slice *value)
{
    while (left->length) {
        const char *end = left->data + left->length;
        const char *stop = memchr(left->data, '&', left->length);
        stop = stop ? stop : end;
        const char *equals = memchr(left->data, '=', (size_t)(stop - left->data));
        const char *name_end = equals ? equals : stop;
        *name = (struct slice){left->data, (size_t)(name_end - left->data)};
        *value = equals ? (struct slice){equals + 1, (size_t)(stop - equals - 1)}
                        : (struct slice){"", 0};
        bool some = stop > left->data;
        left->length = stop < end ? (size_t)(end - stop - 1) : 0;
        left->data = stop < end ? stop + 1 : end;
        if (some) {
            return true;
        }
    }
    return false;
}

int query_decode(struct call *call, struct slice part, bool in_query, const char **text)
{
    struct arena *arena = call_arena(call);
    char *copy = slice_copy(arena, part);
    for (size_t i = 0; copy && in_query && i < part.length; i++) {
        copy[i] = copy[i] == '+' ? ' ' : copy[i];
    }
    size_t size = 0;
    *text = copy ? url_decode(arena, copy, part.length, &size) : NULL;
    if (*text && (strlen(*text) != size || !text_is_utf8(*text, size))) {
        return call_fail(call, CODE_VALIDATION, "the URL holds a NUL or bytes that are no UTF-8");
    }
    return *text ? OK : ERR_NOMEM;
}

/* The first value of a name as it stands there; {NULL, 0} where it is not given. */
static struct slice find(struct slice query, const char *wanted)
{
    struct slice name, value;
    while (query_next(&query, &name, &value)) {
        if (slice_is(name, wanted)) {
            return value;
        }
    }
    return (struct slice){NULL, 0};
}

int query_text(struct call *call, struct slice query, const char *name, const char **text)
{
    struct slice value = find(query, name);
    *text = NULL;
    return value.length ? query_decode(call, value, true, text) : OK;
}

int64_t query_digits(struct slice digits, int64_t least, int64_t most)
{
    int64_t number = 0;
    size_t i = 0;
    for (; i < digits.length && digits.data[i] >= '0' && digits.data[i] <= '9' && number <= most;
         i++) {
        number = number * 10 + (digits.data[i] - '0');
    }
    return i && i == digits.length && number >= least && number <= most ? number : -1;
}

int64_t query_number(struct slice query, const char *name, int64_t preset, int64_t least,
                     int64_t most)
{
    struct slice value = find(query, name);
    return value.data ? query_digits(value, least, most) : preset;
}

int query_moment(struct call *call, struct slice query, const char *name, int64_t *at_ms)
{
    static const char *const FORMS[] = {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ", "%Y-%m-%d"};
    const char *text;
    int status = query_text(call, query, name, &text);
    *at_ms = 0;
    if (status != OK || !text) {
        return status;
    }
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        struct tm parts = {0};
        const char *end = strptime(text, FORMS[i], &parts);
        if (end && !*end && parts.tm_year >= 70) {
            *at_ms = (int64_t)timegm(&parts) * 1000;
            return OK;
        }
    }
    return call_fail(call, CODE_VALIDATION,
                     "%s: a moment in UTC, such as 2026-11-15 or 2026-11-15T10:10:30Z", name);
}
