/* What a line of Markdown is, from itself and from what is open before it. */
#include "reader/lines.h"

#include <string.h>

#define LEAST_FENCE_MARKS  3
#define MOST_HEADING_MARKS 6

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_empty(struct slice line)
{
    for (size_t i = 0; i < line.length; i++) {
        if (!is_blank(line.data[i])) {
            return false;
        }
    }
    return true;
}

/* How many bytes of blanks and quote marks a line begins with. */
static size_t prefix_length(struct slice line)
{
    size_t length = 0;
    while (length < line.length && (is_blank(line.data[length]) || line.data[length] == '>')) {
        length++;
    }
    return length;
}

/* ---- fences ---- */

/* Where the marker of a list item ends, for a fence that is the first thing of an item. */
static size_t item_length(struct slice line, size_t from)
{
    size_t at = from;
    while (at < line.length && line.data[at] >= '0' && line.data[at] <= '9') {
        at++;
    }
    bool numbered = at > from && at < line.length && (line.data[at] == '.' || line.data[at] == ')');
    bool bulleted = at == from && at < line.length && strchr("-*+", line.data[at]);
    if ((numbered || bulleted) && at + 1 < line.length && line.data[at + 1] == ' ') {
        at++;
        while (at < line.length && line.data[at] == ' ') {
            at++;
        }
        return at;
    }
    return from;
}

/* The fence that a line opens. What follows backticks must not hold one: that is code in a line. */
static bool opens_fence(struct slice line, struct fence *fence)
{
    size_t from = item_length(line, prefix_length(line));
    char mark = from < line.length ? line.data[from] : '\0';
    if (mark != '`' && mark != '~') {
        return false;
    }
    size_t to = from;
    while (to < line.length && line.data[to] == mark) {
        to++;
    }
    if (to - from < LEAST_FENCE_MARKS ||
        (mark == '`' && memchr(line.data + to, '`', line.length - to))) {
        return false;
    }
    fence->line = line;
    fence->prefix = (struct slice){line.data, from};
    fence->marks = (struct slice){line.data + from, to - from};
    return true;
}

static bool closes_fence(struct slice line, const struct fence *fence)
{
    size_t from = prefix_length(line);
    size_t to = from;
    while (to < line.length && line.data[to] == *fence->marks.data) {
        to++;
    }
    return to - from >= fence->marks.length &&
           is_empty((struct slice){line.data + to, line.length - to});
}

/* ---- tables and headings ---- */

static bool is_row(struct slice line)
{
    size_t from = prefix_length(line);
    return from < line.length && line.data[from] == '|';
}

/* "| --- | :-: |" */
static bool is_ruler(struct slice line)
{
    bool dashed = false;
    for (size_t i = prefix_length(line); i < line.length; i++) {
        if (!strchr("|-: \t\r", line.data[i])) {
            return false;
        }
        dashed |= line.data[i] == '-';
    }
    return dashed && is_row(line);
}

static int heading_level(struct slice line)
{
    size_t marks = 0;
    while (marks < line.length && line.data[marks] == '#') {
        marks++;
    }
    bool ends = marks == line.length || is_blank(line.data[marks]);
    return marks >= 1 && marks <= MOST_HEADING_MARKS && ends ? (int)marks : 0;
}

/* ---- lines ---- */

void lines_start(struct page_lines *lines, const char *text, size_t length)
{
    *lines = (struct page_lines){.text = text, .length = length, .after_blank = true};
}

static void read_code(struct page_lines *lines, struct page_line *line)
{
    bool closes = closes_fence(line->text, &lines->fence);
    line->code = true;
    line->place = closes || lines->after_opening ? PLACE_INSEPARABLE : PLACE_CODE;
    lines->after_opening = false;
    if (closes) {
        lines->fence = (struct fence){0};
    }
}

static void read_table(struct page_lines *lines, struct page_line *line)
{
    if (!lines->table_head.data && lines->previous.data && is_row(lines->previous) &&
        is_ruler(line->text)) {
        const char *end = lines->text + line->next;
        lines->table_head =
            (struct slice){lines->previous.data, (size_t)(end - lines->previous.data)};
        line->place = PLACE_INSEPARABLE;
    } else if (line->table_head.data &&
               line->table_head.data + line->table_head.length == line->text.data) {
        line->place = PLACE_INSEPARABLE; /* a head without a row is of no use */
    }
}

static void read_text(struct page_lines *lines, struct page_line *line)
{
    line->code = opens_fence(line->text, &lines->fence);
    lines->after_opening = line->code;
    if (!line->code) {
        line->heading = heading_level(line->text);
        line->row = is_row(line->text);
        size_t from = prefix_length(line->text);
        line->item = item_length(line->text, from) > from;
    }
    line->place = line->heading          ? PLACE_BLOCK
                  : lines->after_heading ? PLACE_INSEPARABLE
                  : lines->after_blank   ? PLACE_BLOCK
                                         : PLACE_LINE;
    if (line->row) {
        line->table_head = lines->table_head;
        read_table(lines, line);
    } else {
        lines->table_head = (struct slice){0};
    }
    if (is_empty(line->text)) {
        line->place = PLACE_INSEPARABLE; /* the blank lines after a block belong to it */
    } else {
        lines->after_heading = line->heading;
    }
}

bool lines_next(struct page_lines *lines, struct page_line *line)
{
    if (lines->offset == lines->length) {
        return false;
    }
    const char *at = lines->text + lines->offset;
    const char *end = memchr(at, '\n', lines->length - lines->offset);
    size_t length = end ? (size_t)(end - at) : lines->length - lines->offset;
    *line = (struct page_line){
        .text = {at, length},
        .offset = lines->offset,
        .next = lines->offset + length + (end ? 1 : 0),
        .fence = lines->fence,
    };
    if (lines->fence.line.data) {
        read_code(lines, line);
    } else {
        read_text(lines, line);
    }
    lines->after_blank = !line->code && is_empty(line->text);
    lines->previous = line->row ? line->text : (struct slice){0};
    lines->offset = line->next;
    return true;
}

/* The marker of a list item becomes blanks, since another marker would begin another item. */
const char *fence_closing(struct arena *arena, const struct fence *fence)
{
    char *closing = arena_printf(arena, "%.*s%.*s", (int)fence->prefix.length, fence->prefix.data,
                                 (int)fence->marks.length, fence->marks.data);
    for (size_t i = 0; closing && i < fence->prefix.length; i++) {
        if (closing[i] != '>' && closing[i] != '\t') {
            closing[i] = ' ';
        }
    }
    return closing;
}
