/* Words and numbers, with what is raised or lowered in them: how far each goes, and which spellings
 * of it are the same. */
#include "evidence/reading.h"
#include "tables.h"
#include "text/word_table.h"

#include <string.h>

#define MOST_POINTS 96 /* of one token; a longer word is several */
#define MOST_SCRIPT 16 /* bytes of what is raised or lowered as a part of a word */

/* The folded points of a word. */
struct folded_word {
    utf8proc_int32_t points[MOST_POINTS + 32];
    size_t count;
    unsigned flags;
    bool marked; /* holds marks that stand on letters, which have an order */
    uint32_t last;
};

static void add_point(struct folded_word *word, uint32_t point)
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
static void order_marks(struct folded_word *word)
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

static uint64_t hash_word(struct folded_word *word)
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

/* Behind the blanks and the ">" that the next line of the same block begins with. */
static size_t next_line(const struct token_reader *reader, size_t at)
{
    size_t depth = 0;
    for (;; at++) {
        char c = byte_at(reader, at);
        if (c == '>' && depth < reader->depth) {
            depth++;
        } else if (c != ' ' && c != '\t') {
            return at;
        }
    }
}

/* Behind a hyphen: where the word goes on, in the same line or, behind a break, in the next one. 0:
 * it does not. */
static size_t goes_on(const struct token_reader *reader, size_t at, bool letters_only)
{
    size_t after, next = at;
    while (byte_at(reader, next) == ' ' || byte_at(reader, next) == '\t' ||
           byte_at(reader, next) == '\r') {
        next++;
    }
    bool broken = byte_at(reader, next) == '\n';
    next = broken ? next_line(reader, next + 1) : at;
    uint32_t point = point_at(reader, next, &after);
    bool good = point && is_word(point) && !((letters_only || broken) && is_digit(point));
    return good ? next : 0;
}

/* Behind the blank at `at`: where three digits go on a number that is written in groups, "1 250
 * 000"; 0: they do not. Without its first group it is another number. */
static size_t next_group(const struct token_reader *reader, const struct folded_word *word,
                         uint32_t blank, size_t at)
{
    size_t run = 0;
    while (run < word->count && word->points[word->count - 1 - run] >= '0' &&
           word->points[word->count - 1 - run] <= '9') {
        run++;
    }
    bool first = run == word->count || (run + 1 == word->count && word->points[0] == '-');
    bool later = run == 3 && !first && word->points[word->count - 4] == ' ';
    if (!(first && run && run <= 3) && !later) {
        return 0;
    }
    if (blank == '\n') {
        at = reader->heading ? reader->length : next_line(reader, at);
    }
    for (size_t i = 0; i < 4; i++) {
        if ((i < 3) != is_digit((unsigned char)byte_at(reader, at + i))) {
            return 0;
        }
    }
    bool listed = blank == '\n' && strchr(".)", byte_at(reader, at + 3));
    return blank == '\t' || listed ? 0 : at;
}

/* What may stand inside a word without ending it: where the word goes on, or 0. */
static size_t skip_inside(const struct token_reader *reader, struct folded_word *word,
                          uint32_t point, size_t after)
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
    if (number && is_blank(point)) {
        size_t group = next_group(reader, word, point, after);
        if (group) {
            add_point(word, ' ');
        }
        return group;
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
static bool add_plain(struct token_reader *reader, struct folded_word *word)
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

/* ---- what is raised or lowered ---- */

static bool begins_with(const struct token_reader *reader, size_t at, const char *text)
{
    size_t length = strlen(text);
    return reader->length - at >= length && memcmp(reader->text + at, text, length) == 0;
}

/* Whether the word is a unit of length, whose square is written in three ways: km², km^2, km2. */
static bool is_unit(const struct folded_word *word)
{
    char unit[4];
    size_t length = 0;
    for (; length < word->count && length < sizeof unit; length++) {
        unit[length] = (char)(word->points[length] < 128 ? word->points[length] : ' ');
    }
    return length == word->count && words_value(&power_units, unit, length);
}

/* "₂" behind a letter, "²" or "^2" behind a unit. */
static bool add_small_point(struct token_reader *reader, struct folded_word *word)
{
    size_t after, behind;
    uint32_t point = point_at(reader, reader->at, &after);
    bool sign = point >= 0x208A && point <= 0x208F;
    if (is_lowered(point)) {
        if (sign || (is_digit(word->last) && point < LOWERED + 10)) {
            return false;
        }
        add_point(word, point);
        reader->at = after;
        return true;
    }
    point = point == '^' ? point_at(reader, after, &after) : is_raised(point) ? point : 0;
    uint32_t next = point ? point_at(reader, after, &behind) : 0;
    bool power = point == '2' || point == '3' || point == 0xB2 || point == 0xB3;
    if (!power || (next && (is_word(next) || is_raised(next))) || !is_unit(word)) {
        return false;
    }
    add_point(word, point);
    reader->at = after;
    return true;
}

/* What is lowered behind a letter (CO₂, V<sub>max</sub>), and what is raised and is no exponent
 * (21<sup>st</sup>, km²), is part of the word. False: no such thing stands here. */
static bool add_script(struct token_reader *reader, struct folded_word *word)
{
    size_t at = reader->at;
    while (byte_at(reader, at) == '*') { /* the word was set off */
        at++;
    }
    bool lowered = begins_with(reader, at, "<sub>");
    if (!lowered && !begins_with(reader, at, "<sup>")) {
        return at == reader->at && add_small_point(reader, word);
    }
    char script[MOST_SCRIPT];
    size_t length = 0;
    for (at += 5; byte_at(reader, at) != '<'; at++) {
        char c = byte_at(reader, at);
        if (c != '*') {
            if (length == sizeof script || !is_word((unsigned char)c) || (c & 0x80)) {
                return false;
            }
            script[length++] = c;
        }
    }
    bool power = length == 1 && (script[0] == '2' || script[0] == '3') && is_unit(word);
    bool joins = lowered ? length && !(is_digit(word->last) && is_digit((unsigned char)script[0]))
                         : power || words_value(&raised_endings, script, length);
    if (!joins || !begins_with(reader, at, lowered ? "</sub>" : "</sup>")) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        bool digit = lowered && is_digit((unsigned char)script[i]);
        add_point(word, (unsigned char)script[i] + (digit ? LOWERED - '0' : 0));
    }
    reader->at = at + 6;
    return true;
}

/* Whether what stands before is a mark behind which there is no exponent, but the number of a note
 * may be: 5 %³, "so it is."³ */
static bool is_behind_mark(const struct token_reader *reader)
{
    static const char *const CLOSING[] = {"\xE2\x80\x9D", "\xE2\x80\x99", "\xC2\xBB"};
    size_t at = reader->at;
    while (at > 0 && (reader->text[at - 1] == '*' || reader->text[at - 1] == '_')) {
        at--;
    }
    bool behind = at > 0 && reader->text[at - 1] && strchr("%.,;:!?\"'", reader->text[at - 1]);
    for (size_t i = 0; i < sizeof CLOSING / sizeof *CLOSING && !behind; i++) {
        size_t length = strlen(CLOSING[i]);
        behind = at >= length && memcmp(reader->text + at - length, CLOSING[i], length) == 0;
    }
    return behind;
}

size_t reading_raised_note(const struct token_reader *reader)
{
    size_t at = reader->at + 5;
    bool bracket = false, number = false;
    for (; at < reader->at + MOST_SCRIPT && byte_at(reader, at) != '<'; at++) {
        char c = byte_at(reader, at);
        bracket = bracket || c == '[';
        number = number || is_digit((unsigned char)c);
        if (c == '\0' || (!is_digit((unsigned char)c) && !strchr("[]\\,; *", c))) {
            return 0;
        }
    }
    bool closed = begins_with(reader, reader->at, "<sup>") && begins_with(reader, at, "</sup>");
    return closed && number && (bracket || is_behind_mark(reader)) ? at + 6 : 0;
}

void reading_word(struct token_reader *reader, size_t start, bool sign)
{
    struct folded_word word;
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
        if (is_lowered(word.last) && is_digit((unsigned char)byte_at(reader, reader->at))) {
            break; /* log₂8 */
        }
        if (add_plain(reader, &word) || add_script(reader, &word)) {
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
    reading_put(reader, hash_word(&word), start, word.flags);
}

/* Marks of a letter that stand behind it, those of narrow Katakana among them. */
static bool is_mark(uint32_t point)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)point);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
           point == 0xFF9E || point == 0xFF9F;
}

void reading_single(struct token_reader *reader, uint32_t point, size_t after)
{
    struct folded_word word = {.count = 0};
    size_t start = reader->at;
    do {
        add_point(&word, point);
        reader->at = after;
        point = point_at(reader, reader->at, &after);
    } while (point && word.count < MOST_POINTS && is_mark(point));
    reading_put(reader, hash_word(&word), start, word.flags | TOKEN_BARE);
}

void reading_raised(struct token_reader *reader, uint32_t point, size_t after)
{
    struct folded_word word = {.count = 0};
    size_t start = reader->at;
    bool raised = is_raised(point), note = raised && is_behind_mark(reader);
    bool small = raised || is_lowered(point);
    if (small && !note) {
        reader->at = after;
        reading_put(reader, hash_point(UINT64_C(1) << 40, raised ? '^' : '_'), start, TOKEN_SYMBOL);
    }
    do {
        add_point(&word, point == 0x207B ? '-' : point);
        reader->at = after;
        point = point_at(reader, reader->at, &after);
    } while (small && word.count < MOST_POINTS && (raised ? is_raised(point) : is_lowered(point)));
    if (note) {
        reading_put(reader, hash_point(UINT64_C(1) << 40, '['), start, TOKEN_MARK);
    } else {
        reading_put(reader, hash_word(&word), start, word.flags | TOKEN_NUMBER);
    }
}
