/* Markdown from pieces of Markdown: line by line, with an eye on fences. */
#include "html/compose.h"

#include "core/limits.h"
#include "html/extract.h"
#include "html/xml.h"
#include "text/text.h"

#include <string.h>
#include <time.h>

const char *compose_moment(char out[COMPOSE_DATE_SIZE], int64_t seconds)
{
    time_t moment = (time_t)seconds;
    struct tm parts;
    if (!gmtime_r(&moment, &parts) ||
        strftime(out, COMPOSE_DATE_SIZE, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        out[0] = '\0';
    }
    return out;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

void compose_line(struct buf *out, const char *text)
{
    bool space = false;
    bool any = false;
    for (; text && *text; text++) {
        if (is_space(*text)) {
            space = any;
            continue;
        }
        if (space) {
            buf_putc(out, ' ');
        }
        buf_putc(out, *text);
        space = false;
        any = true;
    }
}

const char *compose_unescaped(struct arena *arena, const char *text)
{
    struct buf plain;
    buf_init(&plain, LIMIT_DOCUMENT_BYTES);
    xml_append(&plain, (struct slice){text ? text : "", text ? strlen(text) : 0});
    return buf_to_arena(&plain, arena);
}

void compose_heading(struct buf *out, const char *mark, const char *text)
{
    buf_printf(out, "%s ", mark);
    compose_line(out, text);
    buf_puts(out, "\n\n");
}

void compose_names(struct buf *out, const char *before, yyjson_val *array)
{
    size_t index, max;
    yyjson_val *item;
    yyjson_arr_foreach(array, index, max, item)
    {
        buf_puts(out, index ? ", " : before);
        compose_line(out, yyjson_is_str(item) ? yyjson_get_str(item) : json_string(item, "name"));
    }
}

int compose_html(struct arena *arena, struct buf *out, const char *html, const char *url)
{
    int status = html ? extract_fragment(arena, html, strlen(html), url, out, NULL) : OK;
    return status == ERR_NOMEM ? ERR_NOMEM : OK;
}

/* ---- people's Markdown ---- */

/* One line of a text, and where the text stands. */
struct markdown_line {
    const char *at, *end;
    const char *line;
    size_t length;
    char fence; /* '`' or '~' inside a block of code, else 0 */
    size_t fence_length;
    bool comment; /* inside a comment of HTML */
};

static bool next_line(struct markdown_line *lines)
{
    if (lines->at >= lines->end) {
        return false;
    }
    const char *feed = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    const char *stop = feed ? feed : lines->end;
    lines->line = lines->at;
    lines->length = (size_t)(stop - lines->at);
    if (lines->length > 0 && stop[-1] == '\r') {
        lines->length--;
    }
    lines->at = feed ? feed + 1 : lines->end;
    return true;
}

/* How many of one character stand in a line from `from` on. */
static size_t count_of(const char *line, size_t from, size_t length, char c)
{
    size_t count = 0;
    while (from + count < length && line[from + count] == c) {
        count++;
    }
    return count;
}

/* Whether the line opens or closes a fence, or is inside one: then it is code. */
static bool line_is_code(struct markdown_line *lines)
{
    size_t indent = count_of(lines->line, 0, lines->length, ' ');
    char mark = indent < lines->length ? lines->line[indent] : '\0';
    size_t run =
        mark == '`' || mark == '~' ? count_of(lines->line, indent, lines->length, mark) : 0;
    if (!lines->fence) {
        bool opens = run >= 3 && (mark == '~' || !memchr(lines->line + indent + run, '`',
                                                         lines->length - indent - run));
        lines->fence = opens ? mark : '\0';
        lines->fence_length = run;
        return opens;
    }
    if (run >= lines->fence_length && mark == lines->fence) {
        size_t rest = indent + run;
        while (rest < lines->length && is_space(lines->line[rest])) {
            rest++;
        }
        if (rest == lines->length) {
            lines->fence = '\0';
        }
    }
    return true;
}

static bool is_relative(const char *target, size_t length)
{
    size_t i = 0;
    while (i < length && !strchr(":/?#", target[i])) {
        i++;
    }
    return length > 0 && !strchr("#</\\", target[0]) && (i == length || target[i] != ':');
}

/* The target of "](target" at `at`, made absolute. Returns how many bytes were read. */
static size_t write_target(struct buf *out, const char *at, size_t most, const char *base)
{
    size_t length = 0;
    while (length < most && at[length] != ')' && !is_space(at[length])) {
        length++;
    }
    if (base && is_relative(at, length)) {
        buf_puts(out, base);
        size_t skipped = length >= 2 && at[0] == '.' && at[1] == '/' ? 2 : 0;
        buf_append(out, at + skipped, length - skipped);
    } else {
        buf_append(out, at, length);
    }
    return length;
}

/* Passes over what is inside a comment; returns where the line goes on. */
static size_t pass_comment(struct markdown_line *lines, size_t i)
{
    const char *close = memmem(lines->line + i, lines->length - i, "-->", 3);
    lines->comment = !close;
    return close ? (size_t)(close - lines->line) + 3 : lines->length;
}

/* A code span as it is, up to the run of backticks that closes it. Returns where it ends. */
static size_t write_span(struct buf *out, const char *line, size_t length, size_t i)
{
    size_t run = count_of(line, i, length, '`');
    size_t stop = i + run;
    for (size_t at = stop; at < length; at++) {
        size_t found = count_of(line, at, length, '`');
        if (found == run) {
            stop = at + run;
            break;
        }
        at += found;
    }
    buf_append(out, line + i, stop - i);
    return stop;
}

/* A line that is no code: without comments, its links absolute. */
static void write_line(struct buf *out, struct markdown_line *lines,
                       const struct compose_links *links)
{
    bool image = false;
    size_t i = lines->comment ? pass_comment(lines, 0) : 0;
    while (i < lines->length) {
        const char *at = lines->line + i;
        size_t rest = lines->length - i;
        if (rest >= 4 && memcmp(at, "<!--", 4) == 0) {
            i = pass_comment(lines, i + 4);
        } else if (*at == '`') {
            i = write_span(out, lines->line, lines->length, i);
        } else if (rest >= 2 && at[0] == '!' && at[1] == '[') {
            image = true;
            buf_append(out, at, 2);
            i += 2;
        } else if (rest >= 2 && at[0] == ']' && at[1] == '(') {
            const char *base = !links ? NULL : image ? links->images : links->pages;
            image = false;
            buf_append(out, at, 2);
            i += 2 + write_target(out, at + 2, rest - 2, base);
        } else {
            buf_putc(out, *at);
            i++;
        }
    }
}

/* How many # a heading begins with; 0: it is none. */
static size_t heading_level(const struct markdown_line *lines)
{
    size_t level = count_of(lines->line, 0, lines->length, '#');
    bool ends = level == lines->length || is_space(lines->line[level]);
    return level <= 6 && ends ? level : 0;
}

void compose_markdown(struct buf *out, const char *text, size_t length, int levels,
                      const struct compose_links *links)
{
    struct markdown_line lines = {.at = text, .end = text + length};
    bool blank = true; /* no blank lines at the beginning, and never two */
    size_t written_until = out->length;
    while (next_line(&lines)) {
        if (!lines.comment && line_is_code(&lines)) {
            buf_append(out, lines.line, lines.length);
            buf_putc(out, '\n');
            blank = false;
            written_until = out->length;
            continue;
        }
        size_t level = lines.comment ? 0 : heading_level(&lines);
        for (int i = 0; level > 0 && i < levels && level + (size_t)i < 6; i++) {
            buf_putc(out, '#');
        }
        size_t start = out->length;
        write_line(out, &lines, links);
        bool empty =
            out->length == start || strspn(out->data + start, " \t") == out->length - start;
        if (empty && blank) {
            out->length = start;
            continue;
        }
        buf_putc(out, '\n');
        blank = empty;
        if (!empty) {
            written_until = out->length;
        }
    }
    if (buf_error(out) == OK && out->data) {
        out->length = written_until;
        out->data[out->length] = '\0';
    }
}

static void put_fence(struct buf *out, size_t length, const char *language)
{
    while (length-- > 0) {
        buf_putc(out, '`');
    }
    buf_printf(out, "%s\n", language);
}

void compose_fenced(struct buf *out, const char *language, const char *text, size_t length)
{
    size_t longest = 0;
    size_t run = 0;
    for (size_t i = 0; i < length; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    size_t fence = longest < 3 ? 3 : longest + 1;
    put_fence(out, fence, language);
    buf_append(out, text, length);
    if (length > 0 && text[length - 1] != '\n') {
        buf_putc(out, '\n');
    }
    put_fence(out, fence, "");
}

void compose_item(struct buf *out, const char *text, size_t length)
{
    while (length > 0 && is_space(text[length - 1])) {
        length--;
    }
    struct markdown_line lines = {.at = text, .end = text + length};
    bool first = true;
    while (next_line(&lines)) {
        if (!first && lines.length > 0) {
            buf_puts(out, "  ");
        }
        buf_append(out, lines.line, lines.length);
        buf_putc(out, '\n');
        first = false;
    }
    if (first) {
        buf_putc(out, '\n');
    }
}

/* A copy in which every byte that is no UTF-8 has become U+FFFD. */
static char *repaired(struct arena *arena, const char *text, size_t *length)
{
    char *copy = arena_alloc(arena, 3 * *length + 1);
    size_t count = 0;
    const char *end = text + *length;
    while (copy && text < end) {
        count += text_encode(text_next(&text, end), copy + count);
    }
    if (copy) {
        copy[count] = '\0';
    }
    *length = count;
    return copy;
}

int compose_done(struct arena *arena, struct buf *out, struct document *document)
{
    if (buf_error(out) == ERR_NOMEM) {
        buf_done(out);
        return ERR_NOMEM;
    }
    document->cut = document->cut || buf_error(out) == ERR_LIMIT;
    document->length = out->length;
    out->error = OK; /* what fitted below the ceiling is the document */
    document->markdown = out->length && !text_is_utf8(out->data, out->length)
                             ? repaired(arena, out->data, &document->length)
                             : buf_to_arena(out, arena);
    buf_done(out);
    return document->markdown ? OK : ERR_NOMEM;
}
