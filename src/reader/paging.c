/* Cutting Markdown into parts, and finding its sections. */
#include "reader/paging.h"

#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "reader/lines.h"
#include "text/slice.h"
#include "text/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LONGEST_TABLE_HEAD 1000 /* bytes; a longer one is not repeated in every part */

/* ---- where to cut ---- */

/* What is known about a text after one walk over its lines. Offsets are in bytes; 0 where nothing
 * was found, since nobody cuts at the very beginning. */
struct cut_places {
    struct page_line first;   /* the line that the part begins in */
    struct page_line last;    /* the line that its limit is in */
    size_t block, line, code; /* the last place of each kind between the two */
};

static void find_places(const struct paging_request *request, size_t from, size_t limit,
                        struct cut_places *places)
{
    struct page_lines lines;
    struct page_line line;
    *places = (struct cut_places){0};
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
static size_t choose_place(const struct paging_request *request, const struct cut_places *places,
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

static const char *opening_of(struct arena *arena, const struct page_line *first, size_t from)
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
    struct page_lines lines;
    struct page_line line = {0};
    lines_start(&lines, request->text, request->length);
    while (lines_next(&lines, &line) && line.next <= end) {
    }
    /* A cut within the line that opens a fence is a cut behind that fence. */
    return line.fence.line.data || line.offset == end ? line.fence : lines.fence;
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
    const char *closing = fence_closing(arena, &fence);
    return closing ? arena_printf(arena, "%s%s\n\n%s at start=%zu.]_", gap, closing,
                                  REMARKS[inside], end_chars)
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
    struct cut_places places;
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
                       const struct page_line *line, size_t start)
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
    struct page_lines lines;
    struct page_line line;
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
