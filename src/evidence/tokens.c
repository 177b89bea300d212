/* Folding by the Unicode tables of utf8proc, and a reading of Markdown that is content to know what
 * a reader does not see. Both sides of a comparison pass here, so what is folded too far shows up
 * as a quote that is found, and what is not folded as one that is not. */
#include "evidence/tokens.h"

#include "core/limits.h"
#include "evidence/marks.h"
#include "evidence/reading.h"
#include "text/sentences.h"

#include <string.h>

#define MINUS 0x2212u
#define OVER  0x2044u /* the stroke of a fraction */
#define PRIME 0x2032u

/* ---- looking ---- */

/* Trade marks and the like, which quotes leave out. */
static bool is_decoration(uint32_t point)
{
    return point == 0xA9 || point == 0xAE || point == 0x2122 || point == 0x2120 || point == 0x2117;
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

void reading_put(struct token_reader *reader, uint64_t hash, size_t start, unsigned flags)
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
static void put_sign(struct token_reader *reader, uint32_t point, size_t after, unsigned flags)
{
    size_t start = reader->at;
    reader->at = after;
    reading_put(reader, hash_point(UINT64_C(1) << 40, point), start, flags);
}

/* ---- Markdown ---- */

/* "[12]", which is no link: behind it; else 0. */
static size_t reference_end(const struct token_reader *reader, size_t at)
{
    size_t end = at + 1;
    while (end < at + 4 && is_digit((unsigned char)byte_at(reader, end))) {
        end++;
    }
    bool closed = end > at + 1 && byte_at(reader, end) == ']';
    return closed && byte_at(reader, end + 1) != '(' ? end + 1 : 0;
}

/* Behind a footnote's mark; else 0. In a quote, a mark that is a word may be one that the page does
 * not have: "was [^not]guilty". */
static size_t note_end(const struct token_reader *reader, size_t at)
{
    size_t end = marks_footnote_end(reader->text, reader->length, at);
    for (size_t i = at + 2; reader->is_quote && i + 1 < end; i++) {
        if (!is_digit((unsigned char)reader->text[i])) {
            return 0;
        }
    }
    return end;
}

/* Brackets are seen by nobody where they make a link, and change nothing where they do not. */
static void read_bracket(struct token_reader *reader)
{
    size_t note = note_end(reader, reader->at);
    size_t reference = byte_at(reader, reader->at) == '[' ? reference_end(reader, reader->at) : 0;
    if (note) {
        reader->at = note;
    } else if (reference) {
        put_sign(reader, '[', reference, TOKEN_MARK);
    } else if (byte_at(reader, reader->at) == ']' && byte_at(reader, reader->at + 1) == '(') {
        size_t target = reader->at + 2;
        size_t end =
            marks_target_end(reader->text, reader->length, target, &reader->no_target_before);
        bool skipped =
            end && (!reader->is_quote || marks_is_address(reader->text + target, end - target));
        reader->at = skipped ? end : reader->at + 1;
    } else {
        reader->at++;
    }
}

/* Entities and tags that are left in Markdown: what they stand for, and behind them; 0: there is
 * none. */
static uint32_t read_entity(const struct token_reader *reader, size_t *after)
{
    static const struct {
        const char *text;
        uint32_t point;
    } ENTITIES[] = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},    {"&quot;", '"'},
                    {"&#39;", '\''}, {"&nbsp;", 0xA0}, {"<br>", ' '},    {"<br/>", ' '},
                    {"<br />", ' '}, {"<sup>", '^'},   {"</sup>", 0xAD}, {"<sub>", '_'},
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
static bool is_rule(const struct token_reader *reader, size_t at, size_t *end)
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
static size_t list_mark_end(const struct token_reader *reader, size_t at)
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
static void skip_line_start(struct token_reader *reader)
{
    size_t end, depth = 0;
    bool apart = false; /* something but a ">" parts this line from the one before */
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
            apart = true;
            break;
        }
        if (hashes && hashes < 7 && byte_at(reader, reader->at + hashes) == ' ') {
            reader->at += hashes;
            reader->heading = true;
        } else if (c == '>') {
            reader->at++;
            depth++;
            continue;
        } else if (list) {
            reader->at = list;
        } else {
            apart = apart || c == '|' || c == '\n' || c == '\r';
            break;
        }
        listed = list != 0;
        apart = true;
    }
    if (apart || depth != reader->depth) { /* the lines of one quotation are one text */
        reader->begins = true;
        reader->open[0] = reader->open[1] = false;
    }
    reader->depth = depth;
}

/* "```c": the whole line, where it has no more of them. */
static bool skip_fence(struct token_reader *reader)
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
        char mark = reader->text[at++];
        if (mark == '`' || (reader->is_quote && !is_blank((unsigned char)mark))) {
            return false;
        }
    }
    reader->at = at;
    reader->begins = true;
    return true;
}

/* ---- everything else ---- */

/* Whether the dot, or the like, before `after` ends a sentence. */
static bool ends_sentence(const struct token_reader *reader, uint32_t point, size_t after)
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
            beyond = reference ? reference : note_end(reader, after);
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
    if (point == 0x223C || point == 0x2248) {
        return '~';
    }
    if (point < 128) {
        return point;
    }
    utf8proc_ssize_t count = utf8proc_decompose_char(
        (utf8proc_int32_t)point, made, 32, UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE, &boundary);
    return count > 0 ? (uint32_t)made[0] : point;
}

/* The character before the one that is read. */
static uint32_t point_before(const struct token_reader *reader)
{
    size_t beyond, back = reader->at;
    while (back > 0 && reader->at - back < 4 &&
           ((unsigned char)reader->text[--back] & 0xC0) == 0x80) {
    }
    return reader->at ? point_at(reader, back, &beyond) : ' ';
}

static bool is_currency(uint32_t point)
{
    return utf8proc_category((utf8proc_int32_t)point) == UTF8PROC_CATEGORY_SC;
}

/* A minus before a number or an amount, where it is none of a range. */
static bool is_negative(const struct token_reader *reader, uint32_t point, size_t after)
{
    size_t beyond;
    uint32_t next = point_at(reader, after, &beyond);
    uint32_t before = point_before(reader);
    bool free = fold_class(before) == FOLD_GAP && before != ')' && before != ']' && before != '%';
    return (point == MINUS || is_hyphen(point)) && free && next &&
           (is_digit(next) || is_currency(next));
}

/* A tilde before a number says "about", and between two "to"; others are marks of a layout. */
static bool read_tilde(struct token_reader *reader, size_t after)
{
    size_t beyond, at = after + (byte_at(reader, after) == ' ');
    uint32_t next = point_at(reader, at, &beyond);
    uint32_t before = point_before(reader);
    if (!next || !(is_digit(next) || is_currency(next)) || before == '~' ||
        (is_word(before) && !is_digit(before))) {
        return false;
    }
    bool range = is_digit(before);
    put_sign(reader, range ? '-' : '~', after, range ? TOKEN_MARK : TOKEN_SYMBOL);
    reader->apart |= range ? TOKEN_BREAK : 0;
    return true;
}

/* Which of the quotation marks it is: 0 for a single one, 1 for a double one. */
static size_t kind_of_quotation(uint32_t point)
{
    return !(point == PRIME || fold_is_apostrophe(point) || point == 0x2018 || point == 0x201A ||
             point == 0x2039 || point == 0x203A);
}

/* A mark behind a digit that closes no quotation says minutes or seconds, feet or inches: five feet
 * are not five inches. False: it is no such mark. */
static bool read_prime(struct token_reader *reader, uint32_t point, size_t after)
{
    size_t kind = kind_of_quotation(point);
    bool closes = point != '\'' && point != '"' && point != 0x2019 && point != 0x201D;
    bool prime = point == PRIME || point == PRIME + 1;
    if (!is_digit(point_before(reader)) || (!prime && (closes || reader->open[kind]))) {
        return false;
    }
    if (kind == 0 && byte_at(reader, after) == '\'') {
        after++;
        kind = 1;
    }
    put_sign(reader, kind ? '"' : PRIME, after, TOKEN_SYMBOL);
    return true;
}

/* Notes that a quotation begins or ends. */
static void note_quotation(struct token_reader *reader, uint32_t point, size_t after)
{
    size_t beyond, kind = kind_of_quotation(point);
    uint32_t next = point_at(reader, after, &beyond), before = point_before(reader);
    bool short_form = kind == 0 && is_digit(next); /* the '90s */
    bool behind_mark = before < 128 && before && strchr(".,;:!?%)", (int)before);
    reader->open[kind] =
        next && !is_blank(next) && !short_form && !behind_mark && fold_class(before) == FOLD_GAP;
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

static void read_sign(struct token_reader *reader, uint32_t point, size_t after)
{
    size_t entity_after = after;
    uint32_t entity = point == '&' || point == '<' ? read_entity(reader, &entity_after) : 0;
    if (point == '|' || entity == ' ') { /* a cell, or a line of one, says something of its own */
        reader->apart |= TOKEN_BREAK;
        reader->open[0] = reader->open[1] = false;
    }
    size_t note = entity == '^' ? reading_raised_note(reader) : 0;
    if (note) {
        put_sign(reader, '[', note, TOKEN_MARK);
        return;
    }
    if (entity == '_') { /* 101<sub>2</sub> */
        bool base = is_digit(point_before(reader)) &&
                    is_digit((unsigned char)byte_at(reader, entity_after));
        if (base) {
            put_sign(reader, '_', entity_after, TOKEN_SYMBOL);
            return;
        }
        entity = SOFT_HYPHEN;
    }
    if (entity) {
        point = entity;
        after = entity_after;
    }
    if ((point == '~' && read_tilde(reader, after)) ||
        (is_quotation(point) && read_prime(reader, point, after))) {
        return;
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
            reading_word(reader, start, true);
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
    if (is_quotation(point)) {
        note_quotation(reader, point, after);
    }
    put_sign(reader, dots ? 0x2026 : usual_sign(point), after, TOKEN_MARK);
    reader->after_end = reader->after_end || ends;
    reader->apart |= parts(dots ? 0x2026 : point);
}

static void read_one(struct token_reader *reader)
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
        reader->apart |= TOKEN_BREAK;
        put_sign(reader, point, after, TOKEN_SYMBOL);
        reader->begins = true;
    } else if (is_blank(point)) {
        reader->at = after;
    } else if (is_word(point)) {
        reading_word(reader, reader->at, false);
    } else if (is_raised(point) || is_lowered(point) || is_fraction(point)) {
        reading_raised(reader, point, after);
    } else if (fold_class(point) == FOLD_UNSPACED) {
        reading_single(reader, point, after);
    } else if (point == '[' || point == ']') {
        read_bracket(reader);
    } else {
        read_sign(reader, point, after);
    }
}

int tokens_read(struct arena *arena, const char *text, size_t length, bool is_quote,
                struct tokens *tokens)
{
    struct token_reader reader = {.arena = arena,
                                  .text = text,
                                  .length = length,
                                  .out = tokens,
                                  .is_quote = is_quote,
                                  .begins = true};
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
