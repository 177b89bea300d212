/* Finds the sentences around the markers of citations. */
#include "answer/sources.h"
#include "core/buf.h"
#include "core/limits.h"
#include "core/status.h"
#include "text/sentences.h"
#include "text/text.h"

#include <ctype.h>
#include <string.h>

/* How far before a marker its sentence may begin, and how far behind it may end, in bytes. */
#define REACH 2000

struct snippet_reading {
    const char *text;
    size_t length;
    const struct span *spans;
    size_t count;
};

/* ---- characters ---- */

static uint32_t point_at(const struct snippet_reading *reading, size_t at, size_t *next)
{
    const char *place = reading->text + at;
    uint32_t point = text_next(&place, reading->text + reading->length);
    *next = (size_t)(place - reading->text);
    return point;
}

static bool is_inside(const struct snippet_reading *reading, size_t at)
{
    return ((unsigned char)reading->text[at] & 0xC0) == 0x80;
}

static size_t before(const struct snippet_reading *reading, size_t at)
{
    do {
        at--;
    } while (at > 0 && is_inside(reading, at));
    return at;
}

static bool is_blank(uint32_t point)
{
    return point == ' ' || point == '\t' || point == '\r' || point == '\n' || point == 0xA0 ||
           point == 0x3000 || (point >= 0x2000 && point <= 0x200B);
}

/* Letters, digits and everything beyond ASCII that is not punctuation. */
static bool is_word(uint32_t point)
{
    if (point < 0x80) {
        return isalnum((int)point);
    }
    bool mark = (point >= 0x2000 && point <= 0x206F) || (point >= 0x3000 && point <= 0x303F) ||
                (point >= 0xFF00 && point <= 0xFF0F) || point == 0xFF1A || point == 0xFF1B ||
                point == 0xFF1F || point == 0xA0 || point == 0xAB || point == 0xBB;
    return !mark;
}

/* Ends a sentence whatever follows: the scripts that write without blanks, and danda. */
static bool is_wide_stop(uint32_t point)
{
    return point == 0x3002 || point == 0xFF01 || point == 0xFF1F || point == 0xFF0E ||
           point == 0xFF61 || point == 0x0964 || point == 0x06D4 || point == 0x061F;
}

static bool is_stop(uint32_t point)
{
    return point == '.' || point == '!' || point == '?' || point == 0x2026 || is_wide_stop(point);
}

/* What may stand between a stop and the blank behind it. */
static bool closes(uint32_t point)
{
    return (point < 0x80 && point && strchr("\"')]*_", (int)point)) || point == 0x201D ||
           point == 0x2019 || point == 0xBB || point == 0x300D || point == 0x300F ||
           point == 0xFF09;
}

/* ---- markers ---- */

/* The span that begins at `at`; NULL: none. */
static const struct span *span_from(const struct snippet_reading *reading, size_t at)
{
    size_t low = 0;
    size_t high = reading->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (reading->spans[middle].start < at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < reading->count && reading->spans[low].start == at;
    return found && reading->spans[low].end > at ? &reading->spans[low] : NULL;
}

/* Back over blanks and the markers between them. */
static size_t skip_back(const struct snippet_reading *reading, size_t at)
{
    size_t next;
    for (size_t i = reading->count; i > 0; i--) {
        while (at > 0 && is_blank(point_at(reading, before(reading, at), &next)) &&
               reading->text[at - 1] != '\n') {
            at = before(reading, at);
        }
        const struct span *span = &reading->spans[i - 1];
        if (span->end == at && span->start < at) {
            at = span->start;
        }
    }
    return at;
}

/* ---- sentences ---- */

/* Where the next sentence begins when the character at `at` ends one; 0 when it does not. */
static size_t sentence_after(const struct snippet_reading *reading, size_t line, size_t at,
                             size_t end)
{
    size_t next;
    uint32_t point = point_at(reading, at, &next);
    if (!is_stop(point) || (point == '.' && sentence_abbreviates(reading->text, line, at))) {
        return 0;
    }
    size_t place = next;
    bool wide = is_wide_stop(point);
    while (place < end && closes(point_at(reading, place, &next)) && !span_from(reading, place)) {
        place = next;
    }
    size_t stop_end = place;
    while (place < end) {
        const struct span *marker = span_from(reading, place);
        if (marker) {
            place = marker->end;
        } else if (is_blank(point_at(reading, place, &next))) {
            place = next;
        } else {
            break;
        }
    }
    if (place >= end) {
        return end;
    }
    bool lower = islower((unsigned char)reading->text[place]);
    return (place > stop_end || wide) && !(lower && point == '.') ? place : 0;
}

static size_t line_start(const struct snippet_reading *reading, size_t at)
{
    const char *found = at ? memrchr(reading->text, '\n', at) : NULL;
    size_t start = found ? (size_t)(found - reading->text) + 1 : 0;
    if (at - start > REACH) {
        start = at - REACH;
        while (start < at && is_inside(reading, start)) {
            start++;
        }
    }
    return start;
}

static size_t line_end(const struct snippet_reading *reading, size_t at)
{
    const char *found = memchr(reading->text + at, '\n', reading->length - at);
    size_t end = found ? (size_t)(found - reading->text) : reading->length;
    if (end - at > REACH) {
        end = at + REACH;
        while (is_inside(reading, end)) {
            end--;
        }
    }
    return end;
}

/* The marks of lists, headings and quotes at the beginning of a line. */
static size_t skip_bullet(const struct snippet_reading *reading, size_t at, size_t end)
{
    const char *text = reading->text;
    while (at < end) {
        size_t next;
        uint32_t point = point_at(reading, at, &next);
        size_t digits = strspn(text + at, "0123456789");
        if (is_blank(point) || point == 0x2022 || point == 0x2013 || point == 0x2014 ||
            (strchr("-*+#>|", (int)(point < 0x80 ? point : 'x')) && next < end &&
             (is_blank((unsigned char)text[next]) || text[next] == text[at]))) {
            at = next;
        } else if (digits > 0 && digits < 4 && at + digits + 1 < end &&
                   strchr(".)", text[at + digits]) &&
                   is_blank((unsigned char)text[at + digits + 1])) {
            at += digits + 1;
        } else {
            break;
        }
    }
    return at;
}

/* The end of the last word in [from, to), markers apart; `from` when there is none. */
static size_t last_word(const struct snippet_reading *reading, size_t from, size_t to)
{
    size_t last = from;
    for (size_t next; from < to; from = next) {
        const struct span *marker = span_from(reading, from);
        if (is_word(point_at(reading, from, &next)) && !marker) {
            last = next;
        }
        next = marker ? marker->end : next;
    }
    return last;
}

static bool has_words(const struct snippet_reading *reading, size_t from, size_t to)
{
    return last_word(reading, from, to) > from;
}

/* The last sentence with words that ends at `end`. */
static struct span sentence_until(const struct snippet_reading *reading, size_t end)
{
    size_t line = line_start(reading, end);
    size_t start = skip_bullet(reading, line, end);
    size_t words_end = last_word(reading, start, end);
    for (size_t at = start, next; at < end; at = next) {
        const struct span *marker = span_from(reading, at);
        point_at(reading, at, &next);
        if (marker) {
            next = marker->end;
            continue;
        }
        size_t begins = sentence_after(reading, line, at, end);
        if (begins && begins < words_end) {
            start = begins;
        }
    }
    return (struct span){start, end};
}

/* The first sentence at or behind `start`, to the end of its line. */
static struct span sentence_from(const struct snippet_reading *reading, size_t start)
{
    size_t line = line_start(reading, start);
    size_t end = line_end(reading, start);
    while (start < end) {
        size_t next;
        if (is_word(point_at(reading, start, &next)) || span_from(reading, start)) {
            break;
        }
        start = next;
    }
    for (size_t at = start, next; at < end; at = next) {
        const struct span *marker = span_from(reading, at);
        point_at(reading, at, &next);
        if (marker) {
            next = marker->end;
        } else if (sentence_after(reading, line, at, end)) {
            return (struct span){start, next};
        }
    }
    return (struct span){start, end};
}

/* ---- choosing ---- */

/* A claim that the span itself covers: from the beginning of its sentence to the end. */
static struct span around_claim(const struct snippet_reading *reading, struct span claim)
{
    size_t next;
    point_at(reading, claim.start, &next);
    size_t start = sentence_until(reading, next).start;
    size_t last = before(reading, claim.end);
    size_t end =
        is_stop(point_at(reading, last, &next)) ? claim.end : sentence_from(reading, last).end;
    return (struct span){start < claim.start ? start : claim.start,
                         end > claim.end ? end : claim.end};
}

static struct span choose(const struct snippet_reading *reading, struct span marker)
{
    size_t end = skip_back(reading, marker.start);
    size_t line = line_start(reading, end);
    if (has_words(reading, skip_bullet(reading, line, end), end)) {
        return sentence_until(reading, end);
    }
    struct span after = sentence_from(reading, marker.end);
    if (has_words(reading, after.start, after.end)) {
        return after;
    }
    /* A marker alone on its line belongs to the lines before it. */
    while (end > 0 && !has_words(reading, line, end)) {
        end = line ? line - 1 : 0;
        line = line_start(reading, end);
    }
    return sentence_until(reading, skip_back(reading, end));
}

/* ---- writing ---- */

/* Without the markers, white space collapsed, a stop behind the last marker taken along. */
static const char *write(struct arena *arena, const struct snippet_reading *reading,
                         struct span sentence, struct span marker)
{
    struct buf out;
    buf_init(&out, KIB(64));
    size_t points = 0;
    bool blank = false;
    for (size_t at = sentence.start; at < sentence.end && points < LIMIT_SNIPPET_CHARS;) {
        const struct span *skipped = span_from(reading, at);
        size_t next;
        uint32_t point = point_at(reading, at, &next);
        if (skipped && markers_is_marker(reading->text, *skipped)) {
            next = skipped->end;
            blank = true;
        } else if (is_blank(point)) {
            blank = true;
        } else {
            if (blank && out.length && !(is_stop(point) || point == ',' || point == ';')) {
                buf_putc(&out, ' ');
                points++;
            }
            buf_append(&out, reading->text + at, next - at);
            blank = false;
            points++;
        }
        at = next;
    }
    if (points >= LIMIT_SNIPPET_CHARS) {
        buf_puts(&out, "\xe2\x80\xa6");
    } else if (sentence.end <= marker.start && marker.end < reading->length && out.length &&
               strchr(".!?", reading->text[marker.end]) &&
               !strchr(".!?:", out.data[out.length - 1])) {
        buf_putc(&out, reading->text[marker.end]);
    }
    return buf_to_arena(&out, arena);
}

const char *snippet_for(struct arena *arena, const char *text, size_t length,
                        const struct span *spans, size_t count, size_t which)
{
    struct span span = spans[which];
    if (span.end > span.start && !markers_is_marker(text, span)) {
        struct snippet_reading plain = {text, length, NULL, 0};
        return write(arena, &plain, around_claim(&plain, span), span);
    }
    struct snippet_reading reading = {text, length, spans, count};
    return write(arena, &reading, choose(&reading, span), span);
}
