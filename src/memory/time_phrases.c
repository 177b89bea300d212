/* The folding of a text, and the comparison with the phrases of a language. A phrase is read as it
 * stands in the table: {slot} is an open place, (a/b) one of several, [a/b] one of several or
 * nothing. */
#include "memory/time_phrases.h"

#include "index/fold.h"
#include "tables.h"
#include "text/text.h"
#include "text/word_table.h"

#include <stdio.h>
#include <string.h>

#define MOST_DIGITS 6
#define MOST_COUNT  100000 /* "3 days ago": of the 3 */
#define MOST_OFFERS 8      /* of one phrase: where "A to B" may be cut in two */

/* English comes first: what it understands is never taken for another language. */
static const struct {
    const struct word_table *names, *phrases;
} LANGUAGES[] = {
    {&time_names_en, &time_phrases_en}, {&time_names_zh, &time_phrases_zh},
    {&time_names_hi, &time_phrases_hi}, {&time_names_es, &time_phrases_es},
    {&time_names_ar, &time_phrases_ar}, {&time_names_fr, &time_phrases_fr},
    {&time_names_bn, &time_phrases_bn}, {&time_names_pt, &time_phrases_pt},
    {&time_names_ru, &time_phrases_ru}, {&time_names_id, &time_phrases_id},
    {&time_names_ja, &time_phrases_ja}, {&time_names_de, &time_phrases_de},
};

size_t time_phrases_languages(void)
{
    return sizeof LANGUAGES / sizeof *LANGUAGES;
}

/* ---- folding ---- */

/* The digits of a script stand in one row; these are the zeros. */
static uint32_t plain_digit(uint32_t point)
{
    static const uint32_t ZEROS[] = {
        0x0660, /* Arabic */
        0x06F0, /* Persian, Urdu */
        0x0966, /* Devanagari */
        0x09E6, /* Bengali */
    };
    for (size_t i = 0; i < sizeof ZEROS / sizeof *ZEROS; i++) {
        if (point >= ZEROS[i] && point <= ZEROS[i] + 9) {
            return '0' + point - ZEROS[i];
        }
    }
    return point;
}

/* A digit of Chinese and Japanese, 10 for the sign of ten; -1: none. */
static int chinese_digit(uint32_t point)
{
    static const uint32_t DIGITS[] = {0x3007, 0x4E00, 0x4E8C, 0x4E09, 0x56DB, 0x4E94,
                                      0x516D, 0x4E03, 0x516B, 0x4E5D, 0x5341};
    for (int i = 0; i <= 10; i++) {
        if (point == DIGITS[i]) {
            return i;
        }
    }
    return point == 0x96F6 ? 0 : point == 0x4E24 || point == 0x5169 ? 2 : -1;
}

/* A number in Chinese numerals, up to 99 or digit by digit as years are written, in plain digits;
 * -1: there is none. The four of "a fourth of the year" belongs to a word. */
static int read_chinese(const char **at, const char *end)
{
    const uint32_t half = 0x534A;
    int value = 0;
    int last = 0;
    bool any = false;
    for (const char *next = *at; next < end;) {
        const char *behind;
        int digit = chinese_digit(text_next(&next, end));
        behind = next;
        if (digit < 0 || (behind < end && text_next(&behind, end) == half) || value > 9999) {
            break;
        }
        bool after_ten = any && value >= 10 && value % 10 == 0 && last == 10;
        value = digit == 10 ? (any ? value : 1) * 10
                : after_ten ? value + digit
                            : value * 10 + digit;
        last = digit;
        any = true;
        *at = next;
    }
    return any ? value : -1;
}

/* What writers use one for the other, or for nothing. */
static const char *stand_in(uint32_t point)
{
    static const struct {
        uint32_t first, last;
        const char *text;
    } SIGNS[] =
        {
            {'\t', '\r', " "},       {',', ',', " "},         {'\'', '\'', " "},
            {'/', '/', "-"},         {'~', '~', " - "},       {0x02BC, 0x02BC, " "},
            {0x060C, 0x060C, " "},                            /* the Arabic comma */
            {0x0964, 0x0964, " "},                            /* the end of a Hindi sentence */
            {0x200B, 0x200F, ""},                             /* joiners, marks of direction */
            {0x2010, 0x2011, "-"},   {0x2012, 0x2015, " - "}, /* dashes */
            {0x2018, 0x2019, " "},                            /* apostrophes */
            {0x202A, 0x202E, ""},    {0x2066, 0x2069, ""},    /* marks of direction */
            {0x2212, 0x2212, "-"},                            /* minus */
            {0x3001, 0x3002, " "},                            /* the Chinese comma and full stop */
            {0x301C, 0x301C, " - "},                          /* the wave dash */
            {0xFEFF, 0xFEFF, ""},
        };
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        if (point >= SIGNS[i].first && point <= SIGNS[i].last) {
            return SIGNS[i].text;
        }
    }
    return NULL;
}

/* A text that grows; a blank waits until it is known what follows it. */
struct folding {
    struct time_text *out;
    bool blank;    /* one waits */
    bool unspaced; /* what was put last is of a script without blanks */
};

static bool put(struct folding *folding, uint32_t point)
{
    struct time_text *out = folding->out;
    bool unspaced = fold_class(point) == FOLD_UNSPACED;
    if (out->length + 6 > sizeof out->data) {
        return false;
    }
    if (folding->blank && out->length > 0 && !unspaced && !folding->unspaced) {
        out->data[out->length++] = ' ';
    }
    out->length += text_encode(point, out->data + out->length);
    folding->blank = false;
    folding->unspaced = unspaced;
    return true;
}

/* As if it had been written there: digits of a script without blanks have none around them. */
static bool put_number(struct folding *folding, int number)
{
    char digits[16];
    int length = snprintf(digits, sizeof digits, "%d", number);
    for (int i = 0; i < length; i++) {
        if (!put(folding, (uint32_t)digits[i])) {
            return false;
        }
    }
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool time_phrases_fold(const char *text, struct time_text *out)
{
    char bare[TIME_PHRASE_BYTES];
    size_t length = fold_bare(text, strlen(text), bare, sizeof bare);
    struct folding folding = {.out = out};
    out->length = 0;
    for (const char *at = bare, *end = bare + length; at < end;) {
        int number = read_chinese(&at, end);
        if (number >= 0) {
            if (!put_number(&folding, number)) {
                return false;
            }
            continue;
        }
        uint32_t point = plain_digit(text_next(&at, end));
        const char *instead = stand_in(point);
        bool within = at < end && is_digit(*at) && out->length > 0 && !folding.blank &&
                      is_digit(out->data[out->length - 1]);
        if (point == ' ' || (point == '.' && !within)) {
            folding.blank = true; /* "Sept. 2026", "3. Quartal", but 14:00:00.250 */
            continue;
        }
        if (!instead && !put(&folding, point)) {
            return false;
        }
        for (; instead && *instead; instead++) {
            folding.blank = folding.blank || *instead == ' ';
            if (*instead != ' ' && !put(&folding, (uint32_t)*instead)) {
                return false;
            }
        }
    }
    out->data[out->length] = '\0';
    return out->length > 0;
}

bool time_phrases_strip(size_t language, const struct time_text *text, struct time_text *out)
{
    out->length = 0;
    for (const char *at = text->data; *at;) {
        size_t length = strcspn(at, " ");
        if (!(words_value(LANGUAGES[language].names, at, length) & NAME_FILLER)) {
            if (out->length > 0) {
                out->data[out->length++] = ' ';
            }
            memcpy(out->data + out->length, at, length);
            out->length += length;
        }
        at += length + (at[length] == ' ');
    }
    out->data[out->length] = '\0';
    return out->length > 0;
}

/* ---- comparing ---- */

struct matcher {
    const struct word_table *names;
    const char *text, *end;
    bool within;
    enum time_says says;
    struct time_said said;
    int offers;
    time_phrases_take take;
    void *context;
};

static bool match(struct matcher *matcher, const char *phrase, const char *at);

/* The length of a name at a place of the text, or 0. */
static size_t name_length(const struct matcher *matcher, const struct word_entry *entry,
                          const char *at)
{
    size_t length = entry->length;
    bool fits = length <= (size_t)(matcher->end - at) &&
                memcmp(matcher->names->text + entry->at, at, length) == 0;
    bool unclear = (entry->value & NAME_UNCLEAR) && !matcher->within && at == matcher->text &&
                   at + length == matcher->end;
    return fits && !unclear ? length : 0;
}

/* A number of digits; -1: none. */
static int read_digits(const struct matcher *matcher, const char *at, size_t *length)
{
    int value = 0;
    *length = 0;
    while (at + *length < matcher->end && is_digit(at[*length])) {
        if (*length == MOST_DIGITS) {
            return -1;
        }
        value = value * 10 + (at[(*length)++] - '0');
    }
    return *length > 0 ? value : -1;
}

/* An open place that holds a name or a number. */
struct phrase_slot {
    const char *name;
    uint32_t kind;   /* the bits of its names, or 0 */
    uint32_t forms;  /* a name has one of these bits, or 0 */
    int lowest;      /* rank of a name */
    int rank_base;   /* taken from the rank of a name, */
    int least, most; /* of digits */
    int digit_base;  /* taken from the digits: then they are what the program counts in */
    size_t field;
};

#define FIELD(name) offsetof(struct time_said, name)

static const struct phrase_slot SLOTS[] = {
    {"count", TIME_NUMBERS, 0, 1, 1, 0, MOST_COUNT, 0, FIELD(count)},
    {"unit", TIME_UNITS, TIME_ONE, 1, 1, 0, -1, 0, FIELD(unit)},
    {"units", TIME_UNITS, TIME_ONE | TIME_MANY, 1, 1, 0, -1, 0, FIELD(unit)},
    {"period", TIME_UNITS, TIME_ONE | TIME_WHOLE, WEEK + 1, 1, 0, -1, 0, FIELD(unit)},
    {"month", TIME_MONTHS, 0, 1, 1, 0, -1, 0, FIELD(month)},
    {"number", 0, 0, 0, 0, 1, 12, 1, FIELD(month)},
    {"weekday", TIME_WEEKDAYS, 0, 1, 1, 0, -1, 0, FIELD(weekday)},
    {"day", 0, 0, 0, 0, 1, 31, 0, FIELD(day)},
    {"quarter", TIME_ORDINALS, 0, 1, 0, 1, 4, 0, FIELD(quarter)},
    {"year", TIME_YEARS, 0, 1, 0, 1000, 9999, 0, FIELD(year)},
};

static void keep(struct matcher *matcher, const struct phrase_slot *slot, int value)
{
    memcpy((char *)&matcher->said + slot->field, &value, sizeof value);
}

static bool fill(struct matcher *matcher, const struct phrase_slot *slot, const char *rest,
                 const char *at)
{
    size_t length;
    int value = read_digits(matcher, at, &length);
    if (value >= slot->least && value <= slot->most) {
        keep(matcher, slot, value - slot->digit_base);
        return match(matcher, rest, at + length);
    }
    for (size_t i = 0; slot->kind && i < matcher->names->count; i++) {
        const struct word_entry *entry = &matcher->names->entries[i];
        int rank = (int)((entry->value & slot->kind) / TIME_LOWEST(slot->kind));
        length = rank >= slot->lowest && (!slot->forms || (entry->value & slot->forms))
                     ? name_length(matcher, entry, at)
                     : 0;
        keep(matcher, slot, rank - slot->rank_base);
        if (length > 0 && match(matcher, rest, at + length)) {
            return true;
        }
    }
    return false;
}

/* "3 days", "two weeks", and words that are both, as the dual of Arabic: a number, then a unit. */
static bool fill_length(struct matcher *matcher, const char *rest, const char *at, bool counted)
{
    const struct word_table *names = matcher->names;
    size_t length;
    int count = counted ? -1 : read_digits(matcher, at, &length);
    if (count >= 0) {
        matcher->said.count = count;
        at += length;
        return count <= MOST_COUNT && fill_length(matcher, rest, at + (*at == ' '), true);
    }
    for (size_t i = 0; i < names->count; i++) {
        uint32_t value = names->entries[i].value;
        int number = (int)((value & TIME_NUMBERS) / TIME_LOWEST(TIME_NUMBERS)) - 1;
        bool unit = value & (TIME_ONE | TIME_MANY);
        if ((counted ? !unit : number < 0) ||
            (length = name_length(matcher, &names->entries[i], at)) == 0) {
            continue;
        }
        const char *next = at + length;
        matcher->said.count = counted ? matcher->said.count : number;
        matcher->said.unit = (int)(value & TIME_UNITS) - 1;
        if ((unit && match(matcher, rest, next)) ||
            (!counted && fill_length(matcher, rest, next + (*next == ' '), true))) {
            return true;
        }
    }
    return false;
}

/* Another time: any part of the text from here on. */
static bool fill_time(struct matcher *matcher, const char *rest, const char *at)
{
    size_t number = matcher->said.time_count;
    if (at == matcher->end || number == sizeof matcher->said.times / sizeof *matcher->said.times) {
        return false;
    }
    for (const char *end = *rest ? at + 1 : matcher->end; end <= matcher->end; end++) {
        matcher->said.times[number].at = (size_t)(at - matcher->text);
        matcher->said.times[number].length = (size_t)(end - at);
        matcher->said.time_count = number + 1;
        if (match(matcher, rest, end)) {
            return true;
        }
    }
    return false;
}

/* `phrase` is behind the opening brace. */
static bool match_slot(struct matcher *matcher, const char *phrase, const char *at)
{
    size_t length = strcspn(phrase, "}");
    const char *rest = phrase + length + 1;
    if (length == 4 && memcmp(phrase, "time", 4) == 0) {
        return fill_time(matcher, rest, at);
    }
    if (length == 6 && memcmp(phrase, "length", 6) == 0) {
        return fill_length(matcher, rest, at, false);
    }
    for (size_t i = 0; i < sizeof SLOTS / sizeof *SLOTS; i++) {
        if (strlen(SLOTS[i].name) == length && memcmp(SLOTS[i].name, phrase, length) == 0) {
            return fill(matcher, &SLOTS[i], rest, at);
        }
    }
    return false;
}

/* Where the next alternative of a group begins, or what is behind the group (`leave`); groups in
 * it are passed over. */
static const char *skip(const char *phrase, bool leave)
{
    for (int depth = 0; *phrase; phrase++) {
        char c = *phrase;
        if (depth == 0 && (c == ')' || c == ']' || (c == '/' && !leave))) {
            return c == '/' || leave ? phrase + 1 : phrase;
        }
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    }
    return phrase;
}

/* `phrase` is behind the opening bracket. */
static bool match_group(struct matcher *matcher, const char *phrase, const char *at, bool optional)
{
    struct time_said before = matcher->said;
    for (const char *part = phrase;;) {
        if (match(matcher, part, at)) {
            return true;
        }
        matcher->said = before;
        part = skip(part, false);
        if (*part == ')' || *part == ']' || *part == '\0') {
            return optional && match(matcher, skip(phrase, true), at);
        }
    }
}

/* The rest of a phrase against the rest of the text. */
static bool match(struct matcher *matcher, const char *phrase, const char *at)
{
    for (; *phrase; phrase++) {
        switch (*phrase) {
        case '{':
            return match_slot(matcher, phrase + 1, at);
        case '(':
        case '[':
            return match_group(matcher, phrase + 1, at, *phrase == '[');
        case '/': /* the end of an alternative that fits */
            phrase = skip(phrase + 1, true) - 1;
            break;
        case ')':
        case ']':
            break;
        default:
            if (at == matcher->end || *phrase != *at) {
                return false;
            }
            at++;
        }
    }
    return at == matcher->end && ++matcher->offers <= MOST_OFFERS &&
           matcher->take(matcher->context, matcher->says, &matcher->said);
}

bool time_phrases_find(size_t language, const struct time_text *text, bool within,
                       enum time_says first, enum time_says last, time_phrases_take take,
                       void *context)
{
    static const struct time_said NOTHING = {-1, -1, -1, -1, -1, -1, -1, {{0, 0}, {0, 0}}, 0};
    const struct word_table *phrases = LANGUAGES[language].phrases;
    struct matcher matcher = {.names = LANGUAGES[language].names,
                              .text = text->data,
                              .end = text->data + text->length,
                              .within = within,
                              .take = take,
                              .context = context};
    for (size_t i = 0; i < phrases->count; i++) {
        matcher.says = (enum time_says)phrases->entries[i].value;
        matcher.said = NOTHING;
        matcher.offers = 0;
        if (matcher.says >= first && matcher.says <= last &&
            match(&matcher, phrases->text + phrases->entries[i].at, text->data)) {
            return true;
        }
    }
    return false;
}
