/* Cutting Markdown into parts, and finding its sections. A scanner walks over the lines with as
 * much understanding as cutting needs: what is code, what is a table, where a block begins. */
#include "page/paging.h"

#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "text/slice.h"
#include "text/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LEAST_FENCE_MARKS  3
#define MOST_HEADING_MARKS 6
#define LONGEST_TABLE_HEAD 1000 /* bytes; a longer one is not repeated in every part */

/* A fence that is open: its line, and its marks within that. */
struct fence {
    struct slice line;   /* without its line break; data == NULL: none is open */
    struct slice prefix; /* blanks and quote marks in front of the marks */
    struct slice marks;  /* ``` or longer, or ~~~ */
};

enum place {
    PLACE_BLOCK,      /* a block begins with this line */
    PLACE_LINE,       /* the line goes on with a block: a list, a paragraph, a table */
    PLACE_CODE,       /* it is a line of code */
    PLACE_INSEPARABLE /* it belongs to the line before it: the end of a fence, a table's ruler,
                         what follows a heading */
};

struct line {
    struct slice text; /* without its line break */
    size_t offset;     /* of its beginning, in bytes */
    size_t next;       /* of the next line's beginning */
    enum place place;  /* of its beginning, for whoever wants to cut before it */
    bool code;         /* code, or a fence around it */
    bool row;          /* of a table */
    int heading;       /* its level; 0: it is none */
    /* What is open at its beginning. */
    struct fence fence;
    struct slice table_head; /* the two first lines of a table, with their line breaks;
                                        data == NULL: the line is no further row of a table */
};

struct lines {
    const char *text;
    size_t length;
    size_t offset;
    bool after_blank;
    bool after_heading;    /* whose text should not be parted from it */
    bool after_opening;    /* the line before opened a fence */
    struct slice previous; /* the line before, for a table's head */
    struct fence fence;
    struct slice table_head;
};

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

static void lines_start(struct lines *lines, const char *text, size_t length)
{
    *lines = (struct lines){.text = text, .length = length, .after_blank = true};
}

static void read_code(struct lines *lines, struct line *line)
{
    bool closes = closes_fence(line->text, &lines->fence);
    line->code = true;
    line->place = closes || lines->after_opening ? PLACE_INSEPARABLE : PLACE_CODE;
    lines->after_opening = false;
    if (closes) {
        lines->fence = (struct fence){0};
    }
}

static void read_table(struct lines *lines, struct line *line)
{
    if (!lines->table_head.data && lines->previous.data && is_row(lines->previous) &&
        is_ruler(line->text)) {
        const char *end = lines->text + line->next;
        lines->table_head =
            (struct slice){lines->previous.data, (size_t)(end - lines->previous.data)};
        line->place = PLACE_INSEPARABLE;
    } else if (line->table_head.data + line->table_head.length == line->text.data) {
        line->place = PLACE_INSEPARABLE; /* a head without a row is of no use */
    }
}

static void read_text(struct lines *lines, struct line *line)
{
    line->code = opens_fence(line->text, &lines->fence);
    lines->after_opening = line->code;
    if (!line->code) {
        line->heading = heading_level(line->text);
        line->row = is_row(line->text);
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

/* False at the end. */
static bool lines_next(struct lines *lines, struct line *line)
{
    if (lines->offset == lines->length) {
        return false;
    }
    const char *at = lines->text + lines->offset;
    const char *end = memchr(at, '\n', lines->length - lines->offset);
    size_t length = end ? (size_t)(end - at) : lines->length - lines->offset;
    *line = (struct line){
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

/* ---- where to cut ---- */

/* What is known about a text after one walk over its lines. Offsets are in bytes; 0 where nothing
 * was found, since nobody cuts at the very beginning. */
struct places {
    struct line first;        /* the line that the part begins in */
    struct line last;         /* the line that its limit is in */
    size_t block, line, code; /* the last place of each kind between the two */
};

static void find_places(const struct paging_request *request, size_t from, size_t limit,
                        struct places *places)
{
    struct lines lines;
    struct line line;
    *places = (struct places){0};
    lines_start(&lines, request->text, request->length);
    while (lines_next(&lines, &line) && line.offset <= limit) {
        if (line.offset <= from) {
            places->first = line;
        }
        places->last = line;
        if (line.offset <= from) {
            continue;
        }
        if (line.place == PLACE_BLOCK) {
            places->block = line.offset;
        } else if (line.place == PLACE_LINE) {
            places->line = line.offset;
        } else if (line.place == PLACE_CODE) {
            places->code = line.offset;
        }
    }
}

/* The last blank in the second half of text[from..limit], or the limit. */
static size_t find_blank(const char *text, size_t from, size_t limit)
{
    for (size_t at = limit; at > from + (limit - from) / 2; at--) {
        if (text[at - 1] == ' ' || text[at - 1] == '\t') {
            return at;
        }
    }
    return limit;
}

/* The best place, in this order: a block's end or else a line's end that leaves a part of decent
 * size, then any of these, then a line of code, then anywhere in a line. */
static size_t choose_place(const struct paging_request *request, const struct places *places,
                           size_t from, size_t limit, enum paging_inside *inside)
{
    size_t decent = from + (limit - from) / 2;
    *inside = INSIDE_NOTHING;
    if (places->block > decent) {
        return places->block;
    }
    if (places->line > decent) {
        return places->line;
    }
    if (places->block || places->line) {
        return places->block ? places->block : places->line;
    }
    if (places->code) {
        *inside = INSIDE_CODE;
        return places->code;
    }
    *inside = places->last.code ? INSIDE_CODE : places->last.row ? INSIDE_ROW : INSIDE_LINE;
    return find_blank(request->text, from, limit);
}

/* ---- what is added ---- */

static const char *opening_of(struct arena *arena, const struct line *first, size_t from)
{
    const struct fence *fence = &first->fence;
    if (fence->line.data) {
        return arena_printf(arena, "_[The code goes on from the part before.]_\n\n%.*s\n",
                            (int)fence->line.length, fence->line.data);
    }
    if (first->table_head.data && from == first->offset &&
        first->table_head.length <= LONGEST_TABLE_HEAD) {
        return arena_printf(arena, "_[The table goes on from the part before.]_\n\n%.*s",
                            (int)first->table_head.length, first->table_head.data);
    }
    return "";
}

/* The fence that is open at the end of a part that cuts code. */
static struct fence open_fence(const struct paging_request *request, size_t end)
{
    struct lines lines;
    struct line line = {0};
    lines_start(&lines, request->text, request->length);
    while (lines_next(&lines, &line) && line.next <= end) {
    }
    /* A cut within the line that opens a fence is a cut behind that fence. */
    return line.fence.line.data || line.offset == end ? line.fence : lines.fence;
}

/* What a fence's line begins with, for the line that closes it: the marker of a list item becomes
 * blanks, since another marker would begin another item. */
static char *closing_prefix(struct arena *arena, const struct fence *fence)
{
    char *prefix = arena_strndup(arena, fence->prefix.data, fence->prefix.length);
    for (size_t i = 0; prefix && prefix[i]; i++) {
        if (prefix[i] != '>' && prefix[i] != '\t') {
            prefix[i] = ' ';
        }
    }
    return prefix;
}

static const char *ending_of(struct arena *arena, const struct paging_request *request, size_t end,
                             size_t end_chars, enum paging_inside inside)
{
    static const char *const REMARKS[] = {
        [INSIDE_CODE] = "_[The code goes on",
        [INSIDE_ROW] = "_[The table row is cut here and goes on",
        [INSIDE_LINE] = "_[The line is cut here and goes on",
    };
    if (inside == INSIDE_NOTHING) {
        return "";
    }
    const char *gap = end && request->text[end - 1] == '\n' ? "" : "\n";
    struct fence fence = {0};
    if (inside == INSIDE_CODE) {
        fence = open_fence(request, end);
    }
    if (!fence.marks.data) {
        return arena_printf(arena, "%s\n%s at start=%zu.]_", gap, REMARKS[inside], end_chars);
    }
    const char *prefix = closing_prefix(arena, &fence);
    return prefix
               ? arena_printf(arena, "%s%s%.*s\n\n%s at start=%zu.]_", gap, prefix,
                              (int)fence.marks.length, fence.marks.data, REMARKS[inside], end_chars)
               : NULL;
}

/* ---- a part ---- */

static size_t chars_of(const char *text)
{
    return text_count(text, strlen(text));
}

/* One try, with at most `window` code points of the text. */
static int cut_window(struct arena *arena, const struct paging_request *request, size_t from,
                      size_t stop, size_t window, struct paging_part *part)
{
    const char *text = request->text;
    struct places places;
    size_t limit = from + text_prefix(text + from, stop - from, window);
    size_t end = limit;
    find_places(request, from, limit, &places);
    part->inside = INSIDE_NOTHING;
    if (limit < stop) {
        end = choose_place(request, &places, from, limit, &part->inside);
    }
    part->text = text + from;
    part->length = end - from;
    part->end = part->start + text_count(text + from, part->length);
    part->before = opening_of(arena, &places.first, from);
    part->after = ending_of(arena, request, end, part->end, part->inside);
    return part->before && part->after ? OK : ERR_NOMEM;
}

int paging_cut(struct arena *arena, const struct paging_request *request, struct paging_part *part)
{
    size_t from = text_prefix(request->text, request->length, request->start);
    size_t stop = request->length;
    if (request->end != SIZE_MAX) {
        stop = text_prefix(request->text, request->length, request->end);
    }
    stop = stop < from ? from : stop;
    *part = (struct paging_part){
        .start = request->start, .end = request->start, .text = "", .before = "", .after = ""};
    if (from == stop) {
        return OK;
    }
    size_t window = request->max_chars;
    int status = cut_window(arena, request, from, stop, window, part);
    /* What was added takes room too; another place may need another addition, so twice. */
    for (int tries = 0; status == OK && tries < 2; tries++) {
        size_t added = chars_of(part->before) + chars_of(part->after);
        if (part->end - part->start + added <= request->max_chars) {
            return OK;
        }
        if (added >= request->max_chars / 2) {
            break;
        }
        window = request->max_chars - added;
        status = cut_window(arena, request, from, stop, window, part);
    }
    if (status == OK && part->end - part->start + chars_of(part->before) + chars_of(part->after) >
                            request->max_chars) {
        /* Too small a part to add anything to; `inside` still says that something is cut. */
        status = cut_window(arena, request, from, stop, request->max_chars, part);
        part->before = "";
        part->after = "";
    }
    return status;
}

/* ---- headings ---- */

/* The text of a heading without its marks: emphasis, code, and the address of a link. */
static const char *plain_title(struct arena *arena, struct slice line)
{
    char *out = arena_alloc(arena, line.length + 1);
    if (!out) {
        return NULL;
    }
    size_t length = 0;
    const char *end = line.data + line.length;
    const char *at = line.data;
    while (at < end && *at == '#') {
        at++;
    }
    while (end > at && (end[-1] == '#' || end[-1] == ' ' || end[-1] == '\r')) {
        end--;
    }
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    for (; at < end; at++) {
        if (*at == '\\' && at + 1 < end && strchr("\\`*_[]()#<>|~!$", at[1])) {
            out[length++] = *++at;
        } else if (*at == ']' && at + 1 < end && at[1] == '(') {
            const char *close = memchr(at, ')', (size_t)(end - at));
            at = close ? close : at;
        } else if (!strchr("`*[", *at)) {
            out[length++] = *at;
        }
    }
    out[length] = '\0';
    return out;
}

static int add_heading(struct arena *arena, struct paging_heading **list, size_t *count,
                       const struct line *line, size_t start)
{
    size_t room = *count ? *count : 1;
    if ((room & (room - 1)) == 0) {
        /* A power of two: the list is full. */
        struct paging_heading *longer =
            arena_realloc(arena, *list, *count * sizeof **list, 2 * room * sizeof **list);
        if (!longer) {
            return ERR_NOMEM;
        }
        *list = longer;
    }
    struct paging_heading *heading = &(*list)[*count];
    *heading = (struct paging_heading){
        .title = plain_title(arena, line->text), .level = line->heading, .start = start};
    (*count)++;
    return heading->title ? OK : ERR_NOMEM;
}

int paging_outline(struct arena *arena, const char *text, size_t length,
                   const struct paging_heading **headings, size_t *count)
{
    struct paging_heading *list = NULL;
    struct lines lines;
    struct line line;
    size_t counted = 0, chars = 0; /* bytes, and the code points they are */
    *count = 0;
    lines_start(&lines, text, length);
    while (lines_next(&lines, &line)) {
        if (!line.heading || *count == LIMIT_PAGE_HEADINGS) {
            continue;
        }
        chars += text_count(text + counted, line.offset - counted);
        counted = line.offset;
        if (add_heading(arena, &list, count, &line, chars) != OK) {
            return ERR_NOMEM;
        }
    }
    size_t total = chars + text_count(text + counted, length - counted);
    for (size_t i = 0; i < *count; i++) {
        size_t next = i + 1;
        while (next < *count && list[next].level > list[i].level) {
            next++;
        }
        list[i].end = next < *count ? list[next].start : total;
    }
    *headings = list;
    return OK;
}

/* ---- finding a section ---- */

/* Ranges of letters in which the small one stands at a fixed distance from the capital. */
static const struct {
    uint32_t first, last, distance;
} CAPITALS[] = {
    {'A', 'Z', 32},     {0xC0, 0xD6, 32},   {0xD8, 0xDE, 32},   {0x391, 0x3A1, 32},
    {0x3A3, 0x3AB, 32}, {0x400, 0x40F, 80}, {0x410, 0x42F, 32}, {0x531, 0x556, 48},
};

static uint32_t small_letter(uint32_t letter)
{
    for (size_t i = 0; i < sizeof CAPITALS / sizeof *CAPITALS; i++) {
        if (letter >= CAPITALS[i].first && letter <= CAPITALS[i].last) {
            return letter + CAPITALS[i].distance;
        }
    }
    /* In this block capitals and small letters alternate, with a few exceptions that nobody uses in
     * a heading. */
    bool paired = (letter >= 0x100 && letter <= 0x137) || (letter >= 0x14A && letter <= 0x177);
    return paired ? letter | 1 : letter;
}

/* How much of `text` the beginning that equals `wanted` is, in bytes; SIZE_MAX: it begins
 * otherwise.
 */
static size_t match_start(const char *text, const char *wanted)
{
    const char *at = text;
    const char *text_end = text + strlen(text);
    const char *wanted_end = wanted + strlen(wanted);
    while (wanted < wanted_end) {
        if (at == text_end || small_letter(text_next(&at, text_end)) !=
                                  small_letter(text_next(&wanted, wanted_end))) {
            return SIZE_MAX;
        }
    }
    return (size_t)(at - text);
}

static bool is_whole(const char *title, const char *wanted)
{
    return match_start(title, wanted) == strlen(title);
}

static bool is_part(const char *title, const char *wanted)
{
    const char *end = title + strlen(title);
    while (title < end) {
        if (match_start(title, wanted) != SIZE_MAX) {
            return true;
        }
        text_next(&title, end);
    }
    return false;
}

/* A number from 1 on; 0 when it is none. */
static size_t read_number(const char *text)
{
    size_t number = 0;
    for (; *text >= '0' && *text <= '9' && number <= LIMIT_PAGE_HEADINGS; text++) {
        number = number * 10 + (size_t)(*text - '0');
    }
    return *text ? 0 : number;
}

const struct paging_heading *paging_find(const struct paging_heading *headings, size_t count,
                                         const char *wanted)
{
    wanted += strspn(wanted, "# ");
    for (size_t i = 0; i < count; i++) {
        if (is_whole(headings[i].title, wanted)) {
            return &headings[i];
        }
    }
    size_t number = read_number(wanted);
    if (number >= 1 && number <= count) {
        return &headings[number - 1];
    }
    for (size_t i = 0; i < count && *wanted; i++) {
        if (is_part(headings[i].title, wanted)) {
            return &headings[i];
        }
    }
    return NULL;
}
