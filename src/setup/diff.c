/* The difference of two texts that share their beginning and their end. It is shown on screens, so
 * what looks like a secret is not: the lines around a change may belong to others. */
#include "setup/diff.h"

#include "text/slice.h"

#include <string.h>

#define CONTEXT_LINES 3
#define LONGEST_LINE  200 /* bytes that are shown; a minified file is one line */

/* The first line of the text, its line end included. */
static size_t first_line(const struct slice *lines)
{
    const char *end = lines->length ? memchr(lines->data, '\n', lines->length) : NULL;
    return end ? (size_t)(end - lines->data) + 1 : lines->length;
}

static size_t last_line(const struct slice *lines)
{
    size_t length = lines->length ? 1 : 0;
    while (length < lines->length && lines->data[lines->length - length - 1] != '\n') {
        length++;
    }
    return length;
}

static void drop_first(struct slice *lines, size_t length)
{
    lines->data += length;
    lines->length -= length;
}

static size_t count(const struct slice *lines)
{
    size_t lines_seen = 0;
    for (size_t i = 0; i < lines->length; i++) {
        lines_seen += lines->data[i] == '\n' || i + 1 == lines->length;
    }
    return lines_seen;
}

/* Takes the lines away that both begin with. */
static size_t drop_common_start(struct slice *a, struct slice *b)
{
    size_t dropped = 0;
    while (a->length && b->length) {
        size_t length = first_line(a);
        if (length != first_line(b) || memcmp(a->data, b->data, length) != 0) {
            break;
        }
        drop_first(a, length);
        drop_first(b, length);
        dropped++;
    }
    return dropped;
}

static void drop_common_end(struct slice *a, struct slice *b)
{
    while (a->length && b->length) {
        size_t length = last_line(a);
        if (length != last_line(b) ||
            memcmp(a->data + a->length - length, b->data + b->length - length, length) != 0) {
            break;
        }
        a->length -= length;
        b->length -= length;
    }
}

/* ---- secrets ---- */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
}

/* Whether what stands before `end`, blanks and quotes aside, is a name that secrets have. */
static bool is_secret_name(const char *start, const char *end)
{
    static const char *const SIGNS[] = {"key", "token", "secret", "password", "authorization"};
    char name[64];
    while (end > start && strchr(" \t\"'", end[-1])) {
        end--;
    }
    const char *begin = end;
    while (begin > start && is_word(begin[-1]) && (size_t)(end - begin) < sizeof name - 1) {
        begin--;
    }
    size_t length = (size_t)(end - begin);
    memcpy(name, begin, length);
    name[length] = '\0';
    /* Codex's own members that name a variable. */
    if (strstr(name, "_var") || strcmp(name, "env_key") == 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        if (strcasestr(name, SIGNS[i])) {
            return true;
        }
    }
    return false;
}

/* The length of the string that begins at `at`, with its quotes, when it holds a value and not a
 * reference to one; otherwise 0. */
static size_t value_length(const char *at, const char *end)
{
    const char *close = at + 1;
    while (close < end && *close != *at) {
        close += *close == '\\' ? 2 : 1;
    }
    close = close < end ? close + 1 : end;
    size_t length = (size_t)(close - at);
    return length > 2 && !memchr(at, '$', length) ? length : 0;
}

static void put_masked(struct buf *out, const char *line, size_t length)
{
    const char *end = line + length;
    for (const char *at = line; at < end; at++) {
        buf_putc(out, *at);
        if (*at != ':' && *at != '=') {
            continue;
        }
        const char *value = at + 1;
        while (value < end && (*value == ' ' || *value == '\t')) {
            value++;
        }
        bool is_string = value < end && (*value == '"' || *value == '\'');
        size_t hidden = is_string && is_secret_name(line, at) ? value_length(value, end) : 0;
        if (hidden) {
            buf_append(out, at + 1, (size_t)(value - at - 1));
            buf_puts(out, "\"***\"");
            at = value + hidden - 1;
        }
    }
}

/* ---- the hunk ---- */

static void put_lines(struct buf *out, char sign, struct slice lines)
{
    while (lines.length) {
        size_t length = first_line(&lines);
        size_t shown = length;
        while (shown && (lines.data[shown - 1] == '\n' || lines.data[shown - 1] == '\r')) {
            shown--;
        }
        buf_putc(out, sign);
        put_masked(out, lines.data, shown < LONGEST_LINE ? shown : LONGEST_LINE);
        buf_puts(out, shown > LONGEST_LINE ? "...\n" : "\n");
        buf_puts(out, shown == length ? "\\ No newline at end of file\n" : "");
        drop_first(&lines, length);
    }
}

/* The lines before `end` of a text that begins at `start`. */
static struct slice context_before(const char *start, const char *end)
{
    struct slice before = {start, (size_t)(end - start)};
    struct slice rest = before;
    for (int i = 0; i < CONTEXT_LINES; i++) {
        rest.length -= last_line(&rest);
    }
    return (struct slice){start + rest.length, before.length - rest.length};
}

static struct slice context_after(const char *start, const char *end)
{
    struct slice after = {start, (size_t)(end - start)};
    size_t length = 0;
    for (int i = 0; i < CONTEXT_LINES; i++) {
        struct slice rest = {start + length, after.length - length};
        length += first_line(&rest);
    }
    after.length = length;
    return after;
}

void diff_put(struct buf *out, const char *path, const struct buf *before, bool existed,
              const struct buf *after, bool remains)
{
    struct slice a = {before->data ? before->data : "", before->length};
    struct slice b = {after->data ? after->data : "", after->length};
    const char *a_end = a.data + a.length;
    const char *a_start = a.data;
    size_t common = drop_common_start(&a, &b);
    drop_common_end(&a, &b);
    if (existed == remains && a.length == 0 && b.length == 0) {
        return;
    }
    struct slice above = context_before(a_start, a.data);
    struct slice below = context_after(a.data + a.length, a_end);
    size_t first = common - count(&above);
    size_t shared = count(&above) + count(&below);
    size_t gone = shared + count(&a);
    size_t come = shared + count(&b);
    buf_printf(out, "--- %s\n+++ %s\n", existed ? path : "/dev/null", remains ? path : "/dev/null");
    buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", first + (gone > 0), gone, first + (come > 0),
               come);
    put_lines(out, ' ', above);
    put_lines(out, '-', a);
    put_lines(out, '+', b);
    put_lines(out, ' ', below);
}
