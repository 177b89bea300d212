/* Takes tracking parameters out of addresses, wherever they stand, and spells addresses in one way.
 */
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "embedded.h"
#include "text/slice.h"
#include "text/text.h"
#include "text/url.h"
#include "world/world.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* ---- the table ---- */

/* The next word of a line; empty at its end. */
static struct slice next_word(const char **at)
{
    *at += strspn(*at, " \t");
    struct slice word = {*at, strcspn(*at, " \t\n")};
    *at += word.length;
    return word;
}

/* Whether `host` is `domain` or below it. */
static bool within(struct slice host, const char *domain, size_t length)
{
    if (host.length < length ||
        strncasecmp(host.data + host.length - length, domain, length) != 0) {
        return false;
    }
    return host.length == length || host.data[host.length - length - 1] == '.';
}

static bool same_name(struct slice name, struct slice pattern)
{
    bool prefix = pattern.length && pattern.data[pattern.length - 1] == '*';
    size_t length = prefix ? pattern.length - 1 : pattern.length;
    return (prefix ? name.length >= length : name.length == length) &&
           strncasecmp(name.data, pattern.data, length) == 0;
}

/* Whether the hosts behind a name let it go at this host. */
static bool goes_at(const char *hosts, struct slice host)
{
    bool limited = false;
    for (struct slice word = next_word(&hosts); word.length; word = next_word(&hosts)) {
        bool here = within(host, word.data + 1, word.length - 1);
        if (here) {
            return word.data[0] == '@';
        }
        limited = limited || word.data[0] == '@';
    }
    return !limited;
}

static bool is_tracking(struct slice name, struct slice host)
{
    for (const char *at = tracking_parameters; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *line = at;
        struct slice pattern = next_word(&line);
        if (pattern.length && pattern.data[0] != '#' && same_name(name, pattern) &&
            goes_at(line, host)) {
            return true;
        }
    }
    return false;
}

/* ---- one URL ---- */

static struct slice host_of(const char *url, size_t length)
{
    const char *end = url + length;
    const char *begin = memchr(url, ':', length);
    begin = begin ? begin + 3 : end;
    begin = begin < end ? begin : end;
    size_t authority = 0;
    while (begin + authority < end && !strchr("/?#", begin[authority])) {
        authority++;
    }
    const char *at = memrchr(begin, '@', authority);
    const char *name = at ? at + 1 : begin;
    size_t left = authority - (size_t)(name - begin);
    const char *colon = memchr(name, ':', left);
    return (struct slice){name, colon ? (size_t)(colon - name) : left};
}

static int add_cut(struct arena *arena, struct cuts *cuts, size_t start, size_t end)
{
    if (cuts->count && cuts->items[cuts->count - 1].end == start) {
        cuts->items[cuts->count - 1].end = end;
        return OK;
    }
    /* Grows by doubling: at every power of two. */
    if ((cuts->count & (cuts->count - 1)) == 0) {
        size_t size = cuts->count * sizeof *cuts->items;
        size_t wanted = cuts->count ? 2 * size : sizeof *cuts->items;
        cuts->items = arena_realloc(arena, cuts->items, size, wanted);
        if (!cuts->items) {
            return ERR_NOMEM;
        }
    }
    cuts->items[cuts->count++] = (struct cut){start, end};
    return OK;
}

/* Finds what goes from the URL at text[start..end): each run of tracking parameters, with the &
 * behind it, or, at the end of the query, with the & or ? before it. `budget` bounds how many
 * parameters of one text are looked at. */
static int find_in_url(struct arena *arena, const char *text, struct cut url, size_t *budget,
                       struct cuts *cuts)
{
    const char *hash = memchr(text + url.start, '#', url.end - url.start);
    size_t stop = hash ? (size_t)(hash - text) : url.end;
    const char *question = memchr(text + url.start, '?', stop - url.start);
    if (!question) {
        return OK;
    }
    struct slice host = host_of(text + url.start, url.end - url.start);
    size_t run = 0; /* where the run begins; 0: there is none */
    int status = OK;
    for (size_t at = (size_t)(question - text) + 1; status == OK && at<stop && * budget> 0;) {
        const char *and = memchr(text + at, '&', stop - at);
        size_t length = and? (size_t)(and-text) - at : stop - at;
        const char *equals = memchr(text + at, '=', length);
        struct slice name = {text + at, equals ? (size_t)(equals - text) - at : length};
        if (is_tracking(name, host)) {
            run = run ? run : at;
        } else if (run) {
            status = add_cut(arena, cuts, run, at);
            run = 0;
        }
        at += length + (and? 1 : 0);
        (*budget)--;
    }
    return run && status == OK && *budget > 0 ? add_cut(arena, cuts, run - 1, stop) : status;
}

char *tracking_strip(struct arena *arena, const char *url)
{
    struct cuts cuts = {0};
    size_t budget = LIMIT_URL_PARAMETERS;
    size_t length = strlen(url);
    size_t left;
    if (find_in_url(arena, url, (struct cut){0, length}, &budget, &cuts) != OK) {
        return NULL;
    }
    return cuts_apply(arena, url, length, &cuts, &left);
}

/* ---- a text ---- */

/* Whether a character cannot be part of a URL that stands in prose. */
static bool ends_url(uint32_t point)
{
    if (point < 0x80) {
        return point <= ' ' || point == 0x7F || strchr("<>\"`{}|\\^", (int)point);
    }
    bool quote = point >= 0x2018 && point <= 0x201F;
    bool wide = (point >= 0x3000 && point <= 0x303F) || (point >= 0xFF00 && point <= 0xFFEF);
    return quote || wide;
}

/* The end of the URL at `start`: brackets that it did not open close something around it, and
 * punctuation at its end belongs to the sentence. */
static size_t url_end(const char *text, size_t length, size_t start)
{
    const char *end = text + length;
    const char *at = text + start;
    int open = 0;
    while (at < end) {
        const char *next = at;
        uint32_t point = text_next(&next, end);
        open += point == '(' || point == '[';
        if (ends_url(point) || ((point == ')' || point == ']') && --open < 0)) {
            break;
        }
        at = next;
    }
    while (at > text + start && strchr(".,;:!?'*_", at[-1])) {
        at--;
    }
    return (size_t)(at - text);
}

/* The next "http://" or "https://" at or after `from`; `length` when there is none. */
static size_t next_url(const char *text, size_t length, size_t from)
{
    while (from < length) {
        const char *colon = memmem(text + from, length - from, "://", 3);
        if (!colon) {
            return length;
        }
        size_t at = (size_t)(colon - text);
        for (size_t scheme = 5; scheme >= 4; scheme--) {
            if (at >= scheme && at - scheme >= from &&
                strncasecmp(colon - scheme, "https", scheme) == 0) {
                return at - scheme;
            }
        }
        from = at + 3;
    }
    return length;
}

int tracking_find(struct arena *arena, const char *text, size_t length, struct cuts *cuts)
{
    *cuts = (struct cuts){0};
    size_t budget = LIMIT_URL_PARAMETERS;
    int status = OK;
    for (size_t at = next_url(text, length, 0); status == OK && at < length;) {
        size_t end = url_end(text, length, at);
        status = find_in_url(arena, text, (struct cut){at, end}, &budget, cuts);
        at = next_url(text, length, end > at + 3 ? end : at + 3);
    }
    return status;
}

char *cuts_apply(struct arena *arena, const char *text, size_t length, const struct cuts *cuts,
                 size_t *left)
{
    char *out = arena_alloc(arena, length + 1);
    if (!out) {
        return NULL;
    }
    size_t from = 0;
    *left = 0;
    for (size_t i = 0; i <= cuts->count; i++) {
        size_t until = i < cuts->count ? cuts->items[i].start : length;
        memcpy(out + *left, text + from, until - from);
        *left += until - from;
        from = i < cuts->count ? cuts->items[i].end : length;
    }
    out[*left] = '\0';
    return out;
}

size_t cuts_map(const struct cuts *cuts, size_t position)
{
    size_t gone = 0;
    for (size_t i = 0; i < cuts->count && cuts->items[i].start < position; i++) {
        size_t end = cuts->items[i].end < position ? cuts->items[i].end : position;
        gone += end - cuts->items[i].start;
    }
    return position - gone;
}

/* ---- one spelling ---- */

/* Empty parameters ask for nothing. */
static void put_query(struct buf *out, const char *query)
{
    char mark = '?';
    while (query && *query) {
        size_t length = strcspn(query, "&");
        if (length) {
            buf_putc(out, mark);
            buf_append(out, query, length);
            mark = '&';
        }
        query += length + (query[length] == '&');
    }
}

const char *canonical_url(struct arena *arena, const char *link)
{
    struct url url;
    const char *plain = tracking_strip(arena, link);
    int status = plain ? url_parse(arena, plain, &url, NULL) : ERR_NOMEM;
    if (status != OK) {
        return status == ERR_NOMEM ? NULL : link;
    }
    struct buf out;
    buf_init(&out, 2 * LIMIT_URL_BYTES);
    bool usual = url.port == 80 || url.port == 443;
    buf_puts(&out, strncmp(url.host, "www.", 4) == 0 ? url.host + 4 : url.host);
    if (!usual) {
        buf_printf(&out, ":%d", url.port);
    }
    size_t path = strlen(url.path);
    while (path > 0 && url.path[path - 1] == '/') {
        path--;
    }
    buf_append(&out, url.path, path);
    put_query(&out, url.query);
    /* Some sites show another page for another fragment, and mark it so. */
    if (url.fragment && (*url.fragment == '!' || *url.fragment == '/')) {
        buf_printf(&out, "#%s", url.fragment);
    }
    return buf_to_arena(&out, arena);
}
