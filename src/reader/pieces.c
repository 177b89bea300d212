/* Blocks are found by their lines; those of prose are cut into sentences. */
#include "reader/pieces.h"

#include "core/limits.h"
#include "text/sentences.h"
#include "text/text.h"

#define LEAST_SENTENCE 20u   /* bytes; a shorter one stays with the next */
#define MOST_BYTES     1000u /* of a piece, where there is a place to cut */

enum page_block { BLOCK_NONE, BLOCK_PROSE, BLOCK_ROW, BLOCK_CODE };

struct cutting {
    struct arena *arena;
    const char *text;
    size_t from, until; /* what is cut */
    struct piece *pieces;
    size_t count, capacity;
    size_t counted, chars; /* bytes, and the code points they are */
    uint32_t paragraph;
    bool full;
    /* The block at hand. */
    enum page_block kind;
    size_t start, end;
    bool item;
    struct slice head;
    const struct fence *fence;
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- pieces ---- */

static int add_piece(struct cutting *cutting, size_t start, size_t end)
{
    start = start > cutting->from ? start : cutting->from;
    end = end < cutting->until ? end : cutting->until;
    while (start < end && is_blank(cutting->text[start])) {
        start++;
    }
    while (end > start && is_blank(cutting->text[end - 1])) {
        end--;
    }
    if (start >= end) {
        return OK;
    }
    cutting->full |= cutting->count == LIMIT_FOCUS_PIECES;
    if (cutting->full) {
        return OK;
    }
    struct piece *grown = arena_grow(cutting->arena, cutting->pieces, cutting->count,
                                     &cutting->capacity, sizeof *grown);
    if (!grown) {
        return ERR_NOMEM;
    }
    const char *text = cutting->text;
    size_t at = cutting->chars + text_count(text + cutting->counted, start - cutting->counted);
    size_t chars = text_count(text + start, end - start);
    cutting->pieces = grown;
    cutting->pieces[cutting->count++] = (struct piece){
        .start = start,
        .end = end,
        .at = at,
        .chars = chars,
        .paragraph = cutting->paragraph,
        .prose = cutting->kind == BLOCK_PROSE && !(cutting->item && start <= cutting->start),
        .head = cutting->head,
        .fence = cutting->fence,
    };
    cutting->counted = end;
    cutting->chars = at + chars;
    return OK;
}

/* ---- sentences ---- */

/* Behind a stop and what closes its sentence. */
static size_t skip_closing(const char *text, size_t at, size_t end, bool *alone)
{
    const char *limit = text + end;
    for (const char *next = text + at; next < limit; at = (size_t)(next - text)) {
        bool stop_alone;
        uint32_t point = text_next(&next, limit);
        bool stops = sentence_stops(point, &stop_alone);
        *alone |= stop_alone;
        if (!stops && !sentence_closes(point) && point != '*' && point != '_') {
            return at;
        }
    }
    return end;
}

/* Whether the sentence may go on here, behind a dot: with a small letter, or after a name that is
 * written short. */
static bool goes_on(const char *text, size_t start, size_t stop, size_t next, size_t end)
{
    bool small = next < end && text[next] >= 'a' && text[next] <= 'z';
    return text[stop] == '.' && (small || sentence_abbreviates(text, start, stop));
}

/* Where the sentence ends that begins at `start`: behind the blanks that follow it. */
static size_t sentence_end(const char *text, size_t start, size_t end)
{
    size_t blank = 0; /* behind the last one */
    const char *limit = text + end;
    const char *next = text + start;
    while (next < limit) {
        bool alone;
        size_t at = (size_t)(next - text);
        if (at - start > MOST_BYTES) {
            return blank ? blank : at;
        }
        uint32_t point = text_next(&next, limit);
        if (point < 128 && is_blank((char)point)) {
            blank = at + 1;
        }
        if (!sentence_stops(point, &alone)) {
            continue;
        }
        size_t behind = skip_closing(text, (size_t)(next - text), end, &alone);
        size_t begin = behind;
        while (begin < end && is_blank(text[begin])) {
            begin++;
        }
        next = text + behind;
        if (begin - start >= LEAST_SENTENCE && (alone || begin > behind) &&
            !goes_on(text, start, at, begin, end)) {
            return begin;
        }
    }
    return end;
}

static int add_sentences(struct cutting *cutting, size_t start, size_t end)
{
    int status = OK;
    while (start < end && status == OK && !cutting->full) {
        size_t next = sentence_end(cutting->text, start, end);
        if (end - next < LEAST_SENTENCE) {
            next = end;
        }
        status = add_piece(cutting, start, next);
        start = next;
    }
    return status;
}

/* ---- blocks ---- */

static int close_block(struct cutting *cutting)
{
    int status = OK;
    if (cutting->kind == BLOCK_PROSE) {
        status = add_sentences(cutting, cutting->start, cutting->end);
    } else if (cutting->kind != BLOCK_NONE) {
        status = add_piece(cutting, cutting->start, cutting->end);
    }
    cutting->kind = BLOCK_NONE;
    cutting->head = (struct slice){0};
    cutting->fence = NULL;
    return status;
}

static int open_block(struct cutting *cutting, enum page_block kind, const struct page_line *line,
                      struct slice head)
{
    int status = close_block(cutting);
    while (head.length > 0 && is_blank(head.data[head.length - 1])) {
        head.length--;
    }
    cutting->kind = kind;
    cutting->item = line->item;
    cutting->start = line->offset;
    cutting->end = line->next;
    cutting->head = head;
    return status;
}

static int take_code(struct cutting *cutting, const struct page_line *line)
{
    if (!line->fence.line.data) {
        return open_block(cutting, BLOCK_CODE, line, (struct slice){0});
    }
    if (cutting->kind == BLOCK_CODE && line->place == PLACE_CODE &&
        line->next - cutting->start > MOST_BYTES) {
        struct fence *fence = arena_alloc(cutting->arena, sizeof *fence);
        if (!fence) {
            return ERR_NOMEM;
        }
        *fence = line->fence;
        cutting->fence = fence;
        return open_block(cutting, BLOCK_CODE, line, fence->line);
    }
    cutting->end = line->next;
    return OK;
}

static int take_line(struct cutting *cutting, const struct page_line *line)
{
    if (line->code) {
        return take_code(cutting, line);
    }
    bool empty = slice_trim(line->text).length == 0;
    if (line->heading || empty) {
        int status = close_block(cutting);
        cutting->paragraph++;
        return status;
    }
    if (line->row && (cutting->kind != BLOCK_ROW || line->place != PLACE_INSEPARABLE)) {
        return open_block(cutting, BLOCK_ROW, line, line->table_head);
    }
    if (!line->row && (cutting->kind != BLOCK_PROSE || line->item)) {
        return open_block(cutting, BLOCK_PROSE, line, (struct slice){0});
    }
    cutting->end = line->next;
    return OK;
}

int pieces_cut(struct arena *arena, const char *text, size_t start, size_t end,
               const struct piece **pieces, size_t *count, bool *whole)
{
    struct cutting cutting = {.arena = arena, .text = text, .from = start, .until = end};
    struct page_lines lines;
    struct page_line line;
    int status = OK;
    lines_start(&lines, text, end);
    while (status == OK && !cutting.full && lines_next(&lines, &line)) {
        status = take_line(&cutting, &line);
    }
    status = status == OK ? close_block(&cutting) : status;
    *pieces = cutting.pieces;
    *count = cutting.count;
    *whole = !cutting.full;
    return status;
}
