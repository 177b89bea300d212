/* Folding by the Unicode tables of utf8proc. Plain ASCII, which most words are, takes a short way.
 */
#include "index/fold.h"

#include "text/text.h"

#include <string.h>
#include <utf8proc.h>

#define MOST_POINTS 64 /* of one word; a single character may decompose into 18 */

static const struct unspaced_range {
    uint32_t first, last;
} UNSPACED[] = {
    {0x0E00, 0x0E7F},   /* Thai */
    {0x0E80, 0x0EFF},   /* Lao */
    {0x1000, 0x109F},   /* Myanmar */
    {0x1100, 0x11FF},   /* Hangul, by letters */
    {0x1780, 0x17FF},   /* Khmer */
    {0x3005, 0x3007},   /* marks that stand for Chinese characters */
    {0x3040, 0x30FF},   /* Hiragana and Katakana */
    {0x3100, 0x318F},   /* Bopomofo, Hangul */
    {0x31F0, 0x31FF},   /* Katakana, small */
    {0x3400, 0x4DBF},   /* Chinese */
    {0x4E00, 0x9FFF},   /* Chinese */
    {0xA960, 0xA97F},   /* Hangul */
    {0xAC00, 0xD7FF},   /* Hangul */
    {0xF900, 0xFAFF},   /* Chinese, for compatibility */
    {0xFF66, 0xFF9F},   /* Katakana, narrow */
    {0x20000, 0x3FFFF}, /* Chinese, rare */
};

/* What looks like a letter to the tables but separates: the dot between Katakana words. */
#define KATAKANA_DOT 0x30FB

static bool is_unspaced(uint32_t point)
{
    if (point < UNSPACED[0].first || point == KATAKANA_DOT) {
        return false;
    }
    for (size_t i = 0; i < sizeof UNSPACED / sizeof *UNSPACED; i++) {
        if (point >= UNSPACED[i].first && point <= UNSPACED[i].last) {
            return true;
        }
    }
    return false;
}

enum fold_class fold_class(uint32_t point)
{
    if (point < 128) {
        uint32_t letter = point | 32u;
        bool is_word = (letter >= 'a' && letter <= 'z') || (point >= '0' && point <= '9');
        return is_word ? FOLD_WORD : FOLD_GAP;
    }
    switch (utf8proc_category((utf8proc_int32_t)point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return is_unspaced(point) ? FOLD_UNSPACED : FOLD_WORD;
    default:
        return FOLD_GAP;
    }
}

bool fold_is_apostrophe(uint32_t point)
{
    return point == '\'' || point == 0x2019 || point == 0x02BC || point == 0xFF07;
}

static bool is_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] >= 128) {
            return false;
        }
    }
    return true;
}

/* Writes code points as UTF-8, as many as fit. */
static void encode(struct fold_text *out, const utf8proc_int32_t *points, size_t count)
{
    out->length = 0;
    for (size_t i = 0; i < count && out->length + 5 < sizeof out->data; i++) {
        out->length +=
            (size_t)utf8proc_encode_char(points[i], (utf8proc_uint8_t *)out->data + out->length);
    }
    out->data[out->length] = '\0';
}

/* The code points of a text after `options`; apostrophes are left out. */
static size_t decompose(const char *text, size_t length, utf8proc_option_t options,
                        utf8proc_int32_t *points)
{
    const char *at = text;
    const char *end = text + length;
    size_t count = 0;
    int boundary = UTF8PROC_BOUNDCLASS_START;
    while (at < end) {
        uint32_t point = text_next(&at, end);
        if (fold_is_apostrophe(point)) {
            continue;
        }
        utf8proc_ssize_t more =
            utf8proc_decompose_char((utf8proc_int32_t)point, points + count,
                                    (utf8proc_ssize_t)(MOST_POINTS - count), options, &boundary);
        if (more < 0 || count + (size_t)more > MOST_POINTS) {
            break;
        }
        count += (size_t)more;
    }
    return count;
}

void fold_case(struct fold_text *out, const char *text, size_t length)
{
    if (is_ascii(text, length)) {
        out->length = 0;
        for (size_t i = 0; i < length && out->length + 1 < MOST_POINTS; i++) {
            char c = text[i];
            if (c != '\'' && c != ',') {
                out->data[out->length++] = c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
            }
        }
        out->data[out->length] = '\0';
        return;
    }
    utf8proc_int32_t points[MOST_POINTS];
    utf8proc_option_t options =
        UTF8PROC_CASEFOLD | UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_STABLE;
    size_t count = decompose(text, length, options, points);
    utf8proc_ssize_t composed = utf8proc_normalize_utf32(points, (utf8proc_ssize_t)count,
                                                         UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    encode(out, points, composed < 0 ? count : (size_t)composed);
}

/* Marks that writers often leave out. Those of the scripts without spaces are vowels and stay. */
static bool is_left_out(utf8proc_int32_t point)
{
    static const struct unspaced_range MARKS[] = {
        {0x0300, 0x036F}, /* accents */
        {0x0591, 0x05C7}, /* Hebrew points */
        {0x0640, 0x0640}, /* the Arabic line that stretches a word */
        {0x064B, 0x065F}, /* Arabic vowels */
        {0x0670, 0x0670},
    };
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++) {
        if ((uint32_t)point >= MARKS[i].first && (uint32_t)point <= MARKS[i].last) {
            return true;
        }
    }
    return false;
}

/* Letters of which writers use one for the other. */
static utf8proc_int32_t usual_letter(utf8proc_int32_t point)
{
    static const struct {
        utf8proc_int32_t from, to;
    } LETTERS[] = {
        {0x0649, 0x064A}, /* alef maksura: yeh */
        {0x0629, 0x0647}, /* teh marbuta: heh */
        {0x0671, 0x0627}, /* alef wasla: alef */
        {0x00F8, 'o'},    {0x0142, 'l'}, {0x0111, 'd'}, {0x0131, 'i'}, {0x00F0, 'd'},
    };
    for (size_t i = 0; i < sizeof LETTERS / sizeof *LETTERS; i++) {
        if (LETTERS[i].from == point) {
            return LETTERS[i].to;
        }
    }
    return point;
}

void fold_accents(struct fold_text *text)
{
    if (is_ascii(text->data, text->length)) {
        return;
    }
    utf8proc_int32_t points[MOST_POINTS];
    utf8proc_int32_t kept[MOST_POINTS];
    size_t count = decompose(text->data, text->length, UTF8PROC_DECOMPOSE, points);
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_left_out(points[i])) {
            kept[left++] = usual_letter(points[i]);
        }
    }
    utf8proc_ssize_t composed =
        utf8proc_normalize_utf32(kept, (utf8proc_ssize_t)left, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    encode(text, kept, composed < 0 ? left : (size_t)composed);
}

size_t fold_bare(const char *text, size_t length, char *out, size_t size)
{
    const utf8proc_option_t options = UTF8PROC_CASEFOLD | UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE;
    const char *end = text + length;
    int boundary = UTF8PROC_BOUNDCLASS_START;
    size_t used = 0;
    while (text < end) {
        utf8proc_int32_t points[MOST_POINTS];
        utf8proc_ssize_t count = utf8proc_decompose_char((utf8proc_int32_t)text_next(&text, end),
                                                         points, MOST_POINTS, options, &boundary);
        for (utf8proc_ssize_t i = 0; i < count && i < MOST_POINTS; i++) {
            if (used + 4 > size) {
                return 0;
            }
            used += is_left_out(points[i])
                        ? 0
                        : text_encode((uint32_t)usual_letter(points[i]), out + used);
        }
    }
    return used;
}
