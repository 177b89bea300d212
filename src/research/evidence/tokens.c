/* Folding by the Unicode tables of utf8proc, and a reading of Markdown that is content to know what
 * a reader does not see. Both sides of a comparison pass here, so what is folded too far shows up
 * as a quote that is found, and what is not folded as one that is not. */
#include "research/evidence/tokens.h"

#include "core/limits.h"
#include "index/fold.h"
#include "tables.h"
#include "text/sentences.h"
#include "text/text.h"
#include "text/word_table.h"

#include <string.h>
#include <utf8proc.h>

#define MOST_POINTS 96   /* of one token; a longer word is several */
#define MOST_TARGET 2048 /* bytes of the address in a link */
#define MOST_LABEL  64   /* bytes of the name of a footnote, or of an entity */
#define MOST_WORD   192  /* bytes of a word that is looked up in a table */

#define SOFT_HYPHEN 0x00ADu
#define MINUS       0x2212u
#define OVER        0x2044u /* the stroke of a fraction */

struct reader {
    struct arena *arena;
    const char *text;
    size_t length;
    size_t at;
    size_t no_target_before; /* here a target was looked for in vain */
    size_t capacity;
    struct tokens *out;
    bool begins;    /* the next token begins an item, a row or a paragraph */
    bool after_end; /* or a sentence, if it looks like one */
    bool heading;   /* this line is one: the next begins a paragraph */
    unsigned apart; /* what parts the next token from the one before: TOKEN_BREAK, TOKEN_PAUSE */
    int status;
};

/* ---- looking ---- */

static uint32_t point_at(const struct reader *reader, size_t at, size_t *after)
{
    if (at >= reader->length) {
        *after = at;
        return 0;
    }
    const char *place = reader->text + at;
    uint32_t point = (unsigned char)*place < 128 ? (unsigned char)*place++
                                                 : text_next(&place, reader->text + reader->length);
    *after = (size_t)(place - reader->text);
    return point;
}

static char byte_at(const struct reader *reader, size_t at)
{
    return at < reader->length ? reader->text[at] : '\0';
}

static bool is_digit(uint32_t point)
{
    if (point < 128) {
        return point >= '0' && point <= '9';
    }
    return utf8proc_category((utf8proc_int32_t)point) == UTF8PROC_CATEGORY_ND;
}

/* Digits that stand higher or lower than others, and fractions: they begin a token of their own, so
 * that ten to the sixth is not a hundred and six. */
static bool is_raised(uint32_t point)
{
    return point == 0xB2 || point == 0xB3 || point == 0xB9 || (point >= 0x2070 && point <= 0x209C);
}

static bool is_fraction(uint32_t point)
{
    return (point >= 0xBC && point <= 0xBE) || (point >= 0x2150 && point <= 0x215F) ||
           point == 0x2189;
}

/* What no reader sees: joiners, marks of direction, selectors of variants, the line that stretches
 * an Arabic word. */
static bool is_unseen(uint32_t point)
{
    return point == SOFT_HYPHEN || point == 0x034F || point == 0x0640 || point == 0x061C ||
           (point >= 0x200B && point <= 0x200F) || (point >= 0x202A && point <= 0x202E) ||
           (point >= 0x2060 && point <= 0x206F) || (point >= 0xFE00 && point <= 0xFE0F) ||
           point == 0xFEFF || (point >= 0xE0000 && point <= 0xE0FFF);
}

/* Trade marks and the like, which quotes leave out. */
static bool is_decoration(uint32_t point)
{
    return point == 0xA9 || point == 0xAE || point == 0x2122 || point == 0x2120 || point == 0x2117;
}

static bool is_word(uint32_t point)
{
    return fold_class(point) == FOLD_WORD && !is_raised(point) && !is_fraction(point) &&
           !fold_is_apostrophe(point);
}

static bool is_blank(uint32_t point)
{
    return point <= ' ' || point == 0x7F || point == 0x85 || point == 0xA0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 ||
           point == 0x202F || point == 0x205F || point == 0x3000;
}

/* Those that may stand inside a word. */
static bool is_hyphen(uint32_t point)
{
    return point == '-' || (point >= 0x2010 && point <= 0x2013);
}

static bool is_dash(uint32_t point)
{
    return is_hyphen(point) || point == 0x2014 || point == 0x2015 || point == 0x2E3A ||
           point == 0x2E3B || point == 0xFE58 || point == 0xFE63 || point == 0xFF0D;
}

static bool is_quotation(uint32_t point)
{
    if (point == '"' || fold_is_apostrophe(point) || point == 0xFF02 || point == 0x2032 ||
        point == 0x2033 || (point >= 0x300C && point <= 0x300F) || point == 0x201A ||
        point == 0x201E) {
        return true;
    }
    utf8proc_category_t category =
        point < 128 ? UTF8PROC_CATEGORY_PO : utf8proc_category((utf8proc_int32_t)point);
    return category == UTF8PROC_CATEGORY_PI || category == UTF8PROC_CATEGORY_PF;
}

/* ---- writing ---- */

static uint64_t hash_point(uint64_t hash, uint32_t point)
{
    hash = (hash ^ point) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static void put(struct reader *reader, uint64_t hash, size_t start, unsigned flags)
{
    struct tokens *out = reader->out;
    bool same_mark = (flags & TOKEN_MARK) && out->count && !reader->begins &&
                     out->items[out->count - 1].hash == hash &&
                     out->items[out->count - 1].start + out->items[out->count - 1].length == start;
    if (reader->status != OK || same_mark) {
        return; /* a row of dots or dashes is one */
    }
    if (out->count == LIMIT_EVIDENCE_TOKENS) {
        reader->status = ERR_LIMIT;
        return;
    }
    struct token *items =
        arena_grow(reader->arena, out->items, out->count, &reader->capacity, sizeof *items);
    if (!items) {
        reader->status = ERR_NOMEM;
        return;
    }
    if (!(flags & TOKEN_MARK)) {
        bool sentence = reader->after_end && flags & (TOKEN_CAPITAL | TOKEN_NUMBER | TOKEN_BARE);
        flags |= reader->begins || sentence ? TOKEN_BEGINS : 0;
        flags |= reader->apart | (reader->begins ? TOKEN_BREAK : 0);
        reader->begins = reader->after_end = false;
        reader->apart = 0;
    }
    out->items = items;
    items[out->count++] = (struct token){
        .hash = hash,
        .start = (uint32_t)start,
        .length = (uint32_t)(reader->at - start) & 0xFFFFFF,
        .flags = flags & 0xFF,
    };
}

/* Puts a mark or symbol that stands where the reader is, `after` behind it. */
static void put_sign(struct reader *reader, uint32_t point, size_t after, unsigned flags)
{
    size_t start = reader->at;
    reader->at = after;
    put(reader, hash_point(UINT64_C(1) << 40, point), start, flags);
}

/* ---- words and numbers ---- */

/* The folded points of a word. */
struct word {
    utf8proc_int32_t points[MOST_POINTS + 32];
    size_t count;
    unsigned flags;
    bool marked; /* holds marks that stand on letters, which have an order */
    uint32_t last;
};

static void add_point(struct word *word, uint32_t point)
{
    word->last = point;
    if (point < 128) {
        bool capital = point >= 'A' && point <= 'Z';
        word->flags |= capital ? TOKEN_CAPITAL : 0;
        word->flags |= point >= '0' && point <= '9' ? TOKEN_NUMBER : 0;
        word->points[word->count++] = (utf8proc_int32_t)(capital ? point | 32 : point);
        return;
    }
    const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)point);
    switch (property->category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
        word->flags |= TOKEN_CAPITAL;
        break;
    case UTF8PROC_CATEGORY_LO:
        word->flags |= TOKEN_BARE;
        break;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        word->flags |= TOKEN_NUMBER;
        break;
    default:
        break;
    }
    int boundary = UTF8PROC_BOUNDCLASS_START;
    utf8proc_ssize_t more = utf8proc_decompose_char(
        (utf8proc_int32_t)point, word->points + word->count, 32,
        UTF8PROC_CASEFOLD | UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE, &boundary);
    for (utf8proc_ssize_t i = 0; i < more && i < 32; i++) {
        utf8proc_int32_t made = word->points[word->count];
        word->marked = word->marked || utf8proc_get_property(made)->combining_class != 0;
        word->count++;
    }
}

/* Puts marks that stand on one letter into their canonical order. */
static void order_marks(struct word *word)
{
    for (size_t i = 1; i < word->count; i++) {
        utf8proc_int32_t point = word->points[i];
        int class = utf8proc_get_property(point)->combining_class;
        size_t place = i;
        while (class && place > 0 &&
               utf8proc_get_property(word->points[place - 1])->combining_class > class) {
            word->points[place] = word->points[place - 1];
            place--;
        }
        word->points[place] = point;
    }
}

static uint64_t hash_word(struct word *word)
{
    uint64_t hash = 0;
    if (word->marked) {
        order_marks(word);
    }
    for (size_t i = 0; i < word->count; i++) {
        hash = hash_point(hash, (uint32_t)word->points[i]);
    }
    return hash;
}

/* Behind a hyphen: where the word goes on, in the same line or, behind a break, in the next one. 0:
 * it does not. */
static size_t goes_on(const struct reader *reader, size_t at, bool letters_only)
{
    size_t after, next = at;
    while (byte_at(reader, next) == ' ' || byte_at(reader, next) == '\t' ||
           byte_at(reader, next) == '\r') {
        next++;
    }
    bool broken = byte_at(reader, next) == '\n';
    if (broken) {
        next++;
        while (byte_at(reader, next) == ' ' || byte_at(reader, next) == '\t') {
            next++;
        }
    } else {
        next = at;
    }
    uint32_t point = point_at(reader, next, &after);
    bool good = point && is_word(point) && !((letters_only || broken) && is_digit(point));
    return good ? next : 0;
}

/* What may stand inside a word without ending it: where the word goes on, or 0. */
static size_t skip_inside(const struct reader *reader, struct word *word, uint32_t point,
                          size_t after)
{
    size_t beyond;
    bool number = is_digit(word->last);
    uint32_t next = point_at(reader, after, &beyond);
    if (point == SOFT_HYPHEN) {
        size_t place = goes_on(reader, after, true);
        return place ? place : after;
    }
    if (is_unseen(point)) {
        return after;
    }
    if (is_hyphen(point)) {
        bool range = number && is_digit(next);
        return range || is_hyphen(next) ? 0 : goes_on(reader, after, number);
    }
    if ((point == '*' || point == '`') && !number) { /* one part of a word is set off */
        while (next == point) {
            after = beyond;
            next = point_at(reader, after, &beyond);
        }
        return next && is_word(next) ? after : 0;
    }
    if (point == '\\' && (next == '_' || next == '-' || next == '.' || next == '\'')) {
        return after;
    }
    if (!next || !is_word(next)) {
        return 0;
    }
    bool joins = point == '_' || fold_is_apostrophe(point) ||
                 ((point == '.' || point == ',') && number && is_digit(next));
    if (joins) {
        add_point(word, fold_is_apostrophe(point) ? '\'' : point);
        return after;
    }
    return 0;
}

/* Letters and digits of ASCII, which most words are made of; false: there are none here. */
static bool add_plain(struct reader *reader, struct word *word)
{
    size_t start = reader->at;
    while (reader->at < reader->length && word->count < MOST_POINTS) {
        unsigned char c = (unsigned char)reader->text[reader->at];
        unsigned letter = (c | 32u) - 'a', digit = c - (unsigned)'0';
        if (letter >= 26 && digit >= 10) {
            break;
        }
        word->flags |= digit < 10 ? TOKEN_NUMBER : c & 32 ? 0 : TOKEN_CAPITAL;
        word->points[word->count++] = (utf8proc_int32_t)(digit < 10 ? c : c | 32u);
        word->last = c;
        reader->at++;
    }
    return reader->at > start;
}

/* Reads a word or a number; `sign`: it is a number below zero, and its sign is taken. */
static void read_word(struct reader *reader, size_t start, bool sign)
{
    struct word word;
    word.count = 0;
    word.flags = 0;
    word.marked = false;
    word.last = 0;
    if (sign) {
        add_point(&word, '-');
    }
    size_t end = reader->at;
    while (reader->at < reader->length && word.count < MOST_POINTS) {
        size_t after;
        if (add_plain(reader, &word)) {
            end = reader->at;
            continue;
        }
        uint32_t point = point_at(reader, reader->at, &after);
        if (is_word(point)) {
            if (!is_unseen(point)) {
                add_point(&word, point);
            }
            reader->at = end = after;
            continue;
        }
        after = skip_inside(reader, &word, point, after);
        if (!after) {
            break;
        }
        reader->at = after;
    }
    reader->at = end;
    put(reader, hash_word(&word), start, word.flags);
}

/* Marks of a letter that stand behind it, those of narrow Katakana among them. */
static bool is_mark(uint32_t point)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)point);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
           point == 0xFF9E || point == 0xFF9F;
}

/* A character of a script that does not separate words, with its marks. */
static void read_single(struct reader *reader, uint32_t point, size_t after)
{
    struct word word = {.count = 0};
    size_t start = reader->at;
    do {
        add_point(&word, point);
        reader->at = after;
        point = point_at(reader, reader->at, &after);
    } while (point && word.count < MOST_POINTS && is_mark(point));
    put(reader, hash_word(&word), start, word.flags | TOKEN_BARE);
}

/* A raised digit is "^" and the digit; a fraction is its two numbers and a stroke. */
static void read_raised(struct reader *reader, uint32_t point, size_t after)
{
    struct word word = {.count = 0};
    size_t start = reader->at;
    bool raised = is_raised(point);
    add_point(&word, point);
    reader->at = after;
    if (raised) {
        put(reader, hash_point(UINT64_C(1) << 40, '^'), start, TOKEN_SYMBOL);
    }
    while (raised && word.count < MOST_POINTS) {
        point = point_at(reader, reader->at, &after);
        if (!point || !is_raised(point)) {
            break;
        }
        add_point(&word, point);
        reader->at = after;
    }
    put(reader, hash_word(&word), start, word.flags | TOKEN_NUMBER);
}

/* ---- Markdown ---- */

/* Behind "](": where the address ends, or 0 when that is none. */
static size_t target_end(struct reader *reader, size_t at)
{
    size_t depth = 1, end = at;
    if (at < reader->no_target_before) {
        return 0;
    }
    while (end < reader->length && end - at < MOST_TARGET && reader->text[end] != '\n') {
        char c = reader->text[end++];
        end += c == '\\' && end < reader->length && reader->text[end] != '\n' ? 1 : 0;
        depth += c == '(' ? 1 : 0;
        depth -= c == ')' ? 1 : 0;
        if (depth == 0) {
            return end;
        }
    }
    reader->no_target_before = end;
    return 0;
}

/* "[^name]": behind it; else 0. */
static size_t footnote_end(const struct reader *reader, size_t at)
{
    if (byte_at(reader, at) != '[' || byte_at(reader, at + 1) != '^') {
        return 0;
    }
    for (size_t end = at + 2; end < reader->length && end < at + MOST_LABEL; end++) {
        char c = reader->text[end];
        if (c == ']') {
            return end + 1;
        }
        if (c == ' ' || c == '\n' || c == '[') {
            return 0;
        }
    }
    return 0;
}

/* "[12]", which is no link: behind it; else 0. */
static size_t reference_end(const struct reader *reader, size_t at)
{
    size_t end = at + 1;
    while (end < at + 4 && is_digit((unsigned char)byte_at(reader, end))) {
        end++;
    }
    bool closed = end > at + 1 && byte_at(reader, end) == ']';
    return closed && byte_at(reader, end + 1) != '(' ? end + 1 : 0;
}

/* Brackets are seen by nobody where they make a link, and change nothing where they do not. */
static void read_bracket(struct reader *reader)
{
    size_t note = footnote_end(reader, reader->at);
    size_t reference = byte_at(reader, reader->at) == '[' ? reference_end(reader, reader->at) : 0;
    if (note) {
        reader->at = note;
    } else if (reference) {
        put_sign(reader, '[', reference, TOKEN_MARK);
    } else if (byte_at(reader, reader->at) == ']' && byte_at(reader, reader->at + 1) == '(') {
        size_t end = target_end(reader, reader->at + 2);
        reader->at = end ? end : reader->at + 1;
    } else {
        reader->at++;
    }
}

/* Entities and tags that are left in Markdown: what they stand for, and behind them; 0: there is
 * none. */
static uint32_t read_entity(const struct reader *reader, size_t *after)
{
    static const struct {
        const char *text;
        uint32_t point;
    } ENTITIES[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},    {"&quot;", '"'},
                    {"&#39;", '\''}, {"&nbsp;", 0xA0}, {"<br>", ' '},    {"<br/>", ' '},
                    {"<br />", ' '}, {"<sup>", '^'},   {"</sup>", 0xAD}, {"<sub>", 0xAD},
                    {"</sub>", 0xAD}};
    for (size_t i = 0; i < sizeof ENTITIES / sizeof *ENTITIES; i++) {
        size_t length = strlen(ENTITIES[i].text);
        if (reader->length - reader->at >= length &&
            memcmp(reader->text + reader->at, ENTITIES[i].text, length) == 0) {
            *after = reader->at + length;
            return ENTITIES[i].point;
        }
    }
    return 0;
}

/* Whether the line from `at` on is a rule, or the row under a table's head. */
static bool is_rule(const struct reader *reader, size_t at, size_t *end)
{
    size_t strokes = 0;
    while (at < reader->length && reader->text[at] != '\n') {
        char c = reader->text[at++];
        if (!strchr("-=_*:| \t\r", c) || c == '\0') {
            return false;
        }
        strokes += c == '-' || c == '=' || c == '_' || c == '*';
    }
    *end = at;
    return strokes >= 3;
}

/* "- ", "* ", "+ ", "12. ", "3) ": behind it; else 0. */
static size_t list_mark_end(const struct reader *reader, size_t at)
{
    size_t digits = 0;
    while (digits < 4 && is_digit((unsigned char)byte_at(reader, at + digits))) {
        digits++;
    }
    size_t mark = at + digits;
    char c = byte_at(reader, mark);
    bool fits = digits ? digits < 4 && (c == '.' || c == ')') : c == '-' || c == '*' || c == '+';
    return fits && byte_at(reader, mark + 1) == ' ' ? mark + 2 : 0;
}

/* Passes over what a line begins with that is layout. A rule is looked for only where no mark of a
 * list stands before: "- - - x" would be read over and over. */
static void skip_line_start(struct reader *reader)
{
    size_t end;
    for (bool listed = false;;) {
        while (byte_at(reader, reader->at) == ' ' || byte_at(reader, reader->at) == '\t') {
            reader->at++;
        }
        const char c = byte_at(reader, reader->at);
        size_t hashes = 0;
        while (hashes < 7 && byte_at(reader, reader->at + hashes) == '#') {
            hashes++;
        }
        size_t list = list_mark_end(reader, reader->at);
        if (!listed && is_rule(reader, reader->at, &end)) {
            reader->at = end;
            reader->begins = true;
            return;
        }
        if (hashes && hashes < 7 && byte_at(reader, reader->at + hashes) == ' ') {
            reader->at += hashes;
            reader->heading = true;
        } else if (c == '>') {
            reader->at++;
        } else if (list) {
            reader->at = list;
        } else {
            reader->begins = reader->begins || c == '|' || c == '\n' || c == '\r';
            return;
        }
        listed = list != 0;
        reader->begins = true;
    }
}

/* "```c": the whole line, where it has no more of them. */
static bool skip_fence(struct reader *reader)
{
    size_t at = reader->at;
    char c = byte_at(reader, at);
    if ((c != '`' && c != '~') || byte_at(reader, at + 1) != c || byte_at(reader, at + 2) != c) {
        return false;
    }
    while (byte_at(reader, at) == c) {
        at++;
    }
    while (at < reader->length && reader->text[at] != '\n') {
        if (reader->text[at++] == '`') {
            return false;
        }
    }
    reader->at = at;
    reader->begins = true;
    return true;
}

/* ---- everything else ---- */

/* Whether the dot, or the like, before `after` ends a sentence. */
static bool ends_sentence(const struct reader *reader, uint32_t point, size_t after)
{
    bool alone;
    if (!sentence_stops(point, &alone)) {
        return false;
    }
    if (alone) {
        return true;
    }
    size_t dot = reader->at;
    size_t from = dot > 16 ? dot - 16 : 0;
    for (;;) {
        size_t beyond;
        uint32_t next = point_at(reader, after, &beyond);
        if (!next || is_blank(next)) {
            return point != '.' || !sentence_abbreviates(reader->text, from, dot);
        }
        if (!sentence_closes(next) && next != '*' && next != '_' && next != '[') {
            return false;
        }
        if (next == '[') {
            size_t reference = reference_end(reader, after);
            beyond = reference ? reference : footnote_end(reader, after);
            if (!beyond) {
                return false;
            }
        }
        after = beyond;
    }
}

static bool is_symbol(uint32_t point)
{
    if (point < 128) {
        return point && strchr("%$+<=>^/", (int)point) != NULL;
    }
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)point);
    return category == UTF8PROC_CATEGORY_SC || category == UTF8PROC_CATEGORY_SM ||
           point == 0x2030 || point == 0xB0 || point == OVER;
}

/* The one spelling of a sign that has several. */
static uint32_t usual_sign(uint32_t point)
{
    utf8proc_int32_t made[32];
    int boundary = UTF8PROC_BOUNDCLASS_START;
    if (is_dash(point)) {
        return '-';
    }
    if (is_quotation(point)) {
        return '"';
    }
    if (point < 128) {
        return point;
    }
    utf8proc_ssize_t count = utf8proc_decompose_char(
        (utf8proc_int32_t)point, made, 32, UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE, &boundary);
    return count > 0 ? (uint32_t)made[0] : point;
}

/* A minus before a number or an amount, where it is none of a range. */
static bool is_negative(const struct reader *reader, uint32_t point, size_t after)
{
    size_t beyond;
    uint32_t next = point_at(reader, after, &beyond);
    size_t back = reader->at;
    while (back > 0 && reader->at - back < 4 &&
           ((unsigned char)reader->text[--back] & 0xC0) == 0x80) {
    }
    uint32_t before = reader->at ? point_at(reader, back, &beyond) : ' ';
    bool free = fold_class(before) == FOLD_GAP && before != ')' && before != ']' && before != '%';
    return (point == MINUS || is_hyphen(point)) && free && next &&
           (is_digit(next) || utf8proc_category((utf8proc_int32_t)next) == UTF8PROC_CATEGORY_SC);
}

/* How far a mark parts what stands on its two sides. */
static unsigned parts(uint32_t point)
{
    bool alone;
    if (point == ',' || point == 0x3001 || point == 0x060C || point == 0xFF0C) {
        return TOKEN_PAUSE;
    }
    bool stops = sentence_stops(point, &alone) || is_dash(point) || point == ';' || point == ':' ||
                 point == 0x2026 || point == 0xFF1A || point == 0xFF1B;
    return stops ? TOKEN_BREAK : 0;
}

static void read_sign(struct reader *reader, uint32_t point, size_t after)
{
    size_t entity_after;
    uint32_t entity = point == '&' || point == '<' ? read_entity(reader, &entity_after) : 0;
    if (point == '|' || entity == ' ') { /* a cell, or a line of one, says something of its own */
        reader->apart |= TOKEN_BREAK;
    }
    if (entity) {
        point = entity;
        after = entity_after;
    }
    if (is_blank(point) || is_unseen(point) || is_decoration(point) ||
        (point < 128 && strchr("*`|~_", (int)point))) {
        reader->at = after;
        return;
    }
    if (point == '\\') { /* takes its meaning from what follows, which has it then for readers */
        reader->at = after;
        return;
    }
    if (is_negative(reader, point, after)) {
        size_t start = reader->at, behind;
        if (is_digit(point_at(reader, after, &behind))) {
            reader->at = after;
            read_word(reader, start, true);
        } else {
            put_sign(reader, '-', after, TOKEN_SYMBOL);
        }
        return;
    }
    size_t beyond;
    uint32_t next = point == '^' ? point_at(reader, after, &beyond) : 0;
    if (point == '^' && !(next && (is_word(next) || is_dash(next) || strchr("({+", (int)next)))) {
        reader->at = after; /* the end of what is raised */
        return;
    }
    if (is_symbol(point)) {
        uint32_t usual = point == OVER || point == 0xF7 ? '/' : usual_sign(point);
        put_sign(reader, usual, after, TOKEN_SYMBOL);
        return;
    }
    bool dots = point == 0x2026 || (point == '.' && byte_at(reader, after) == '.');
    while (dots && byte_at(reader, after) == '.') {
        after++;
    }
    bool ends = ends_sentence(reader, dots ? 0x2026 : point, after);
    put_sign(reader, dots ? 0x2026 : usual_sign(point), after, TOKEN_MARK);
    reader->after_end = reader->after_end || ends;
    reader->apart |= parts(dots ? 0x2026 : point);
}

static void read_one(struct reader *reader)
{
    size_t after;
    uint32_t point = point_at(reader, reader->at, &after);
    if (point == '\n') {
        reader->at = after;
        reader->begins = reader->begins || reader->heading;
        reader->heading = false;
        skip_line_start(reader);
        skip_fence(reader);
    } else if (point == TOKEN_SEAM) {
        put_sign(reader, point, after, TOKEN_SYMBOL);
        reader->begins = true;
    } else if (is_blank(point)) {
        reader->at = after;
    } else if (is_word(point)) {
        read_word(reader, reader->at, false);
    } else if (is_raised(point) || is_fraction(point)) {
        read_raised(reader, point, after);
    } else if (fold_class(point) == FOLD_UNSPACED) {
        read_single(reader, point, after);
    } else if (point == '[' || point == ']') {
        read_bracket(reader);
    } else {
        read_sign(reader, point, after);
    }
}

int tokens_read(struct arena *arena, const char *text, size_t length, struct tokens *tokens)
{
    struct reader reader = {
        .arena = arena, .text = text, .length = length, .out = tokens, .begins = true};
    *tokens = (struct tokens){0};
    if (length > LIMIT_EVIDENCE_PAGE_BYTES) {
        return ERR_LIMIT;
    }
    skip_line_start(&reader);
    skip_fence(&reader);
    while (reader.at < length && reader.status == OK) {
        read_one(&reader);
    }
    return reader.status;
}

void tokens_drop_marks(struct tokens *tokens)
{
    size_t kept = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        if (!(tokens->items[i].flags & TOKEN_MARK)) {
            tokens->items[kept++] = tokens->items[i];
        }
    }
    tokens->count = kept;
}

/* ---- what a word does to a claim ---- */

/* A word as tables have it; 0: it is too long for any. */
static size_t bare_word(const char *text, const struct token *token, char out[MOST_WORD])
{
    return token->length < MOST_WORD / 2
               ? fold_bare(text + token->start, token->length, out, MOST_WORD)
               : 0;
}

unsigned token_claims(const char *text, const struct token *token)
{
    char word[MOST_WORD];
    size_t length = bare_word(text, token, word);
    if (!length || token->flags & (TOKEN_MARK | TOKEN_SYMBOL)) {
        return 0;
    }
    /* isn't, won't; n'est */
    const char *end = word + length;
    bool contracted = length > 3 && end[-1] == 't' &&
                      (memcmp(end - 3, "n't", 3) == 0 ||
                       (length > 5 && memcmp(end - 5, "n\xE2\x80\x99t", 5) == 0));
    bool elided = length > 2 && word[0] == 'n' &&
                  (word[1] == '\'' || (length > 4 && memcmp(word + 1, "\xE2\x80\x99", 3) == 0));
    unsigned claims = words_match(&claim_words, word, length);
    return contracted || elided ? claims | CLAIM_NEGATION : claims;
}

bool token_names(const char *text, const struct token *token)
{
    char word[MOST_WORD];
    if (!(token->flags & TOKEN_CAPITAL)) {
        return false;
    }
    size_t length = bare_word(text, token, word);
    return !(token->flags & TOKEN_BEGINS) || !length || !words_value(&stop_words, word, length);
}

bool token_is_common(const char *text, const struct token *token)
{
    char word[MOST_WORD];
    size_t length = bare_word(text, token, word);
    return length && (words_value(&stop_words, word, length) ||
                      words_match(&claim_words, word, length) & CLAIM_LIGHT);
}
