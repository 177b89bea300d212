/* UTF-8, messages in fixed memory, and the nearest word. */
#include "text/text.h"

#include "core/buf.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- UTF-8 ---- */

/* The code point at `text` with its length in bytes; length 0 when it is no UTF-8. */
static uint32_t decode(const unsigned char *text, size_t left, size_t *length)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } FORMS[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};

    for (size_t form = 0; form < sizeof FORMS / sizeof *FORMS; form++) {
        if ((text[0] & FORMS[form].mask) != FORMS[form].lead || left <= form) {
            continue;
        }
        uint32_t point = text[0] & (unsigned char)~FORMS[form].mask;
        for (size_t i = 1; i <= form; i++) {
            if ((text[i] & 0xC0) != 0x80) {
                *length = 0;
                return TEXT_REPLACEMENT;
            }
            point = point << 6 | (text[i] & 0x3Fu);
        }
        bool surrogate = point >= 0xD800 && point <= 0xDFFF;
        bool valid = point >= FORMS[form].least && point <= 0x10FFFF && !surrogate;
        *length = valid ? form + 1 : 0;
        return valid ? point : TEXT_REPLACEMENT;
    }
    *length = 0;
    return TEXT_REPLACEMENT;
}

uint32_t text_next(const char **at, const char *end)
{
    size_t length = 0;
    uint32_t point = decode((const unsigned char *)*at, (size_t)(end - *at), &length);
    *at += length ? length : 1;
    return point;
}

size_t text_encode(uint32_t point, char out[4])
{
    static const unsigned char LEADS[] = {0, 0xC0, 0xE0, 0xF0};
    size_t more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    out[0] = (char)(LEADS[more] | point >> 6 * more);
    for (size_t i = 1; i <= more; i++) {
        out[i] = (char)(0x80 | (point >> 6 * (more - i) & 0x3F));
    }
    return more + 1;
}

/* How many bytes of a text, which is not empty, stand before the first that is no ASCII, in whole
 * words of eight. */
static inline size_t plain_length(const char *text, size_t length)
{
    uint64_t word = 0;
    size_t at = 0;
    if (*text & 0x80) {
        return 0;
    }
    for (; length - at >= sizeof word; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        if (word & UINT64_C(0x8080808080808080)) {
            break;
        }
    }
    return at;
}

/* How many bytes the code point takes, or a byte that is no UTF-8. The forms that are valid by
 * their first byte and the bits of the others go first. */
static inline size_t length_of(const char *text, size_t left)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t length = 0;
    if (*at < 0x80) {
        return 1;
    }
    if (left >= 3 && *at > 0xE0 && *at < 0xF0 && *at != 0xED && (at[1] & 0xC0) == 0x80 &&
        (at[2] & 0xC0) == 0x80) {
        return 3;
    }
    if (left >= 2 && *at >= 0xC2 && *at < 0xE0 && (at[1] & 0xC0) == 0x80) {
        return 2;
    }
    decode(at, left, &length);
    return length ? length : 1;
}

bool text_is_utf8(const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        size_t taken = plain_length(text, (size_t)(end - text));
        if (taken == 0) {
            decode((const unsigned char *)text, (size_t)(end - text), &taken);
        }
        if (taken == 0) {
            return false;
        }
        text += taken;
    }
    return true;
}

size_t text_count(const char *text, size_t length)
{
    const char *end = text + length;
    size_t count = 0;
    while (text < end) {
        size_t plain = plain_length(text, (size_t)(end - text));
        text += plain ? plain : length_of(text, (size_t)(end - text));
        count += plain ? plain : 1;
    }
    return count;
}

size_t text_prefix(const char *text, size_t length, size_t count)
{
    size_t at = 0;
    while (at < length && count > 0) {
        size_t left = length - at;
        size_t plain = plain_length(text + at, left < count ? left : count);
        at += plain ? plain : length_of(text + at, left);
        count -= plain ? plain : 1;
    }
    return at;
}

bool text_is_blank(const char *text)
{
    static const struct {
        uint32_t first, last;
    } BLANKS[] = {{0, 0x20},        {0x7F, 0xA0},     {0xAD, 0xAD},     {0x1680, 0x1680},
                  {0x180E, 0x180E}, {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F},
                  {0x2800, 0x2800}, {0x3000, 0x3000}, {0x3164, 0x3164}, {0xFEFF, 0xFEFF}};
    const char *end = text + strlen(text);
    bool blank = true;
    while (blank && text < end) {
        uint32_t point = text_next(&text, end);
        blank = false;
        for (size_t i = 0; i < sizeof BLANKS / sizeof *BLANKS; i++) {
            blank = blank || (point >= BLANKS[i].first && point <= BLANKS[i].last);
        }
    }
    return blank;
}

/* ---- messages ---- */

void text_repair(char *text)
{
    const char *end = text + strlen(text);
    for (const char *at = text; at < end;) {
        const char *start = at;
        uint32_t point = text_next(&at, end);
        if (point == TEXT_REPLACEMENT && at == start + 1) {
            text[start - text] = '?';
        }
    }
}

void text_start(struct text_out *out, char *data, size_t size)
{
    *out = (struct text_out){.data = data, .size = size, .cut = size == 0};
    if (size) {
        data[0] = '\0';
    }
}

static bool begins_path(const char *text, const char *at)
{
    bool named = isalnum((unsigned char)at[1]) || (at[1] && strchr("._~-+@", at[1]));
    bool free = at == text || strchr(" \t\r\n\"'`([{<=,;|:", at[-1]) ||
                (at - text >= 3 && memcmp(at - 3, "://", 3) == 0);
    return *at == '/' && named && free;
}

/* How long the path is that begins there. A blank ends it unless a name follows that has a slash
 * behind it: it is better to hide a word too many. */
static size_t path_length(const char *at)
{
    static const char ENDS[] = " \t\r\n\"'`()[]{}<>,;|:";
    size_t length = strcspn(at, ENDS);
    while (at[length] == ' ') {
        size_t next = strcspn(at + length + 1, ENDS);
        size_t slash = strcspn(at + length + 1, "/");
        if (slash == 0 || slash >= next) {
            break;
        }
        length += 1 + next;
    }
    return length;
}

void text_put_without_paths(struct text_out *out, const char *text)
{
    const char *at = text;
    while (*at) {
        if (begins_path(text, at)) {
            at += path_length(at);
            text_put(out, "[path]");
        } else {
            text_put_bytes(out, at++, 1);
        }
    }
}

void text_put_bytes(struct text_out *out, const char *text, size_t length)
{
    if (out->cut) {
        return;
    }
    size_t room = out->size - out->length - 1;
    if (length > room) {
        /* Back to the beginning of the code point that does not fit. */
        while (room > 0 && ((unsigned char)text[room] & 0xC0) == 0x80) {
            room--;
        }
        length = room;
        out->cut = true;
    }
    if (length) {
        memcpy(out->data + out->length, text, length);
    }
    out->length += length;
    out->data[out->length] = '\0';
}

void text_put(struct text_out *out, const char *text)
{
    text_put_bytes(out, text, strlen(text));
}

void text_putf(struct text_out *out, const char *format, ...)
{
    if (out->cut) {
        return;
    }
    size_t room = out->size - out->length;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(out->data + out->length, room, format, args);
    va_end(args);
    if (length < 0) {
        out->data[out->length] = '\0';
    } else if ((size_t)length < room) {
        out->length += (size_t)length;
    } else {
        /* vsnprintf has filled the memory; give back what it cut in the middle of a code point. */
        size_t written = out->size - 1;
        size_t start = written;
        while (start > out->length && ((unsigned char)out->data[start - 1] & 0xC0) == 0x80) {
            start--;
        }
        start -= start > out->length;
        bool whole = text_is_utf8(out->data + start, written - start);
        out->length = whole ? written : start;
        out->data[out->length] = '\0';
        out->cut = true;
    }
}

/* Code points that a reader cannot see, or that change how what follows is shown. */
static bool is_hidden(uint32_t point)
{
    static const struct {
        uint32_t first, last;
    } HIDDEN[] = {
        {0x00, 0x1F},         {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},
        {0x180E, 0x180E},     {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
        {0xFEFF, 0xFEFF},     {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF}, {0xE0000, 0xE0FFF},
        {0xF0000, 0x10FFFFu},
    };
    for (size_t i = 0; i < sizeof HIDDEN / sizeof *HIDDEN; i++) {
        if (point >= HIDDEN[i].first && point <= HIDDEN[i].last) {
            return true;
        }
    }
    return false;
}

static void put_escaped(struct text_out *out, uint32_t point)
{
    static const char LETTERS[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    for (const char *pair = LETTERS; *pair; pair += 2) {
        if (point == (unsigned char)pair[0]) {
            text_putf(out, "\\%c", pair[1]);
            return;
        }
    }
    if (point > 0xFFFF) {
        uint32_t offset = point - 0x10000;
        text_putf(out, "\\u%04x\\u%04x", 0xD800 + (offset >> 10), 0xDC00 + (offset & 0x3FF));
    } else {
        text_putf(out, "\\u%04x", point);
    }
}

void text_put_quoted(struct text_out *out, const char *text, size_t length, size_t most)
{
    const char *end = text + length;
    text_put(out, "\"");
    for (size_t count = 0; text < end && !out->cut; count++) {
        if (count == most) {
            text_put(out, "\u2026");
            break;
        }
        const char *start = text;
        uint32_t point = text_next(&text, end);
        if (point == '"' || point == '\\' || is_hidden(point)) {
            put_escaped(out, point);
        } else if (point == TEXT_REPLACEMENT) {
            text_put(out, "\uFFFD");
        } else {
            text_put_bytes(out, start, (size_t)(text - start));
        }
    }
    text_put(out, "\"");
}

/* ---- the nearest word ---- */

#define LONGEST_GUESS 64

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters must be added, removed, changed or swapped with their neighbour; case does not
 * count. Both are at most LONGEST_GUESS bytes long. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LONGEST_GUESS + 1];
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *twice_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t changed = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            row[j] = least(changed, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1])) {
                row[j] = least(row[j], twice_above[j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

/* Whether the word is what the candidate begins with ("max" for "max_chars"). */
static bool abbreviates(const char *word, size_t length, const char *candidate,
                        size_t candidate_length)
{
    if (length < 3 || length >= candidate_length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (lower(word[i]) != lower(candidate[i])) {
            return false;
        }
    }
    return true;
}

void text_guess_start(struct text_guess *guess, const char *word, size_t length)
{
    *guess = (struct text_guess){.word = word, .length = length};
}

void text_guess_try(struct text_guess *guess, const char *candidate, size_t length)
{
    if (guess->length > LONGEST_GUESS || length > LONGEST_GUESS) {
        return;
    }
    size_t longer = guess->length > length ? guess->length : length;
    size_t allowed = longer < 4 ? 1 : least(longer / 3, 4);
    size_t found = distance(guess->word, guess->length, candidate, length);
    if (found > allowed && abbreviates(guess->word, guess->length, candidate, length)) {
        found = allowed;
    }
    /* A word of which nothing is left was not mistyped, it is another word. */
    if (found > allowed || found >= longer) {
        return;
    }
    if (!guess->best || found < guess->best_distance) {
        guess->best = candidate;
        guess->best_length = length;
        guess->best_distance = found;
    }
}

/* ---- templates ---- */

unsigned text_fill(struct buf *out, const char *template, const struct text_blank *blanks,
                   size_t count)
{
    unsigned used = 0;
    while (*template) {
        size_t taken = strcspn(template, "{");
        size_t i = 0;
        buf_append(out, template, taken);
        template += taken;
        while (i < count && strncmp(template, blanks[i].name, strlen(blanks[i].name)) != 0) {
            i++;
        }
        if (i < count) {
            buf_puts(out, blanks[i].words);
            used |= 1u << i;
            template += strlen(blanks[i].name);
        } else if (*template) {
            buf_putc(out, *template ++);
        }
    }
    return used;
}
