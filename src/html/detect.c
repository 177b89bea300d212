/* Telling encodings apart by what their letters cost. Costs are in quarters of a bit. */
#include "html/detect.h"

#include "html/encodings.h"
#include "tables.h"
#include "text/text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utf8proc.h>

#define BITS(COUNT) ((COUNT)*4)

#define MOST_READ      (1024 * 1024) /* bytes of a page that are looked at */
#define LEAST_FORM     512           /* bytes that show whether others are worth a look */
#define MOST_FORM      4096          /* of them, to see what form they have */
#define MOST_TEXT      3000          /* bytes of its text that are priced */
#define LESS_TEXT      1500          /* the same, where there is a declaration to check */
#define UNKNOWN_COST   ((long)1 << 40)
#define MOST_ENCODINGS 64
#define MOST_LETTERS   128 /* of an alphabet */
#define KEPT_ASCII     64  /* bytes that stay at both ends of a longer stretch of ASCII */
#define FOREIGN        255 /* a letter that is not of the alphabet */
#define FOREIGN_COST   BITS(17)
#define LEAVING_COST   BITS(5)  /* what follows such a letter */
#define CASE_COST      BITS(6)  /* a capital after a small letter */
#define ABSENT_COST    BITS(20) /* a language of other letters than Latin ones, without one */
#define LATIN_COST     BITS(4)  /* which Latin letter, where all count as one */
#define SYMBOL_COST    BITS(5)
#define ODD_COST       BITS(13) /* a symbol that texts hardly have */
#define MIXED_COST     BITS(8)  /* a Latin letter beside one of another script */
#define BESIDE_COST    BITS(4)  /* such a symbol right before or after a letter */
#define WRONG_COST     BITS(26) /* a byte that means nothing */
#define LANGUAGE_GAIN  BITS(10) /* for what the page or the server says */
#define DOMAIN_GAIN    BITS(6)
#define RARITY_COST    10       /* for each encoding that a language is found in more often */
#define OTHER_COST     BITS(2)  /* for all languages but the first */
#define DOUBT          BITS(6)  /* another reading is so much cheaper: what is declared is odd */
#define OVERRULED      BITS(40) /* and when it is not believed any more */

/* ---- encodings that show in their form ---- */

/* Whether a unit of UTF-16 is what texts have, by itself. */
static bool is_usual(uint32_t unit)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)unit);
    return unit == '\n' || unit == '\r' || unit == '\t' ||
           (category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_CN &&
            category != UTF8PROC_CATEGORY_CO && category != UTF8PROC_CATEGORY_CS);
}

/* How alike the units are: how often one is of the same 128 characters as the one before, or ASCII
 * or an ideograph. Read in the wrong order of bytes they scatter. */
static size_t count_alike(const unsigned char *bytes, size_t length, size_t high)
{
    size_t alike = 0;
    uint32_t before = 0; /* the last that was not ASCII; the first has none to be unlike */
    for (size_t i = 0; i + 1 < length; i += 2) {
        uint32_t unit = (uint32_t)bytes[i + high] << 8 | bytes[i + 1 - high];
        bool near = !before || unit >> 7 == before >> 7 || unit < 0x80 ||
                    (unit >= 0x3000 && unit < 0x3100) || (unit >= 0x4E00 && unit < 0xA000) ||
                    (unit >= 0xAC00 && unit < 0xD7A4) || (unit >= 0xFF00 && unit < 0xFF60);
        alike += near && is_usual(unit);
        before = unit < 0x80 ? before : unit;
    }
    return alike;
}

static const char *wide_form(const unsigned char *bytes, size_t length)
{
    size_t count[4] = {0};
    size_t quads = length / 4;
    for (size_t i = 0; i < quads * 4; i++) {
        count[i % 4] += bytes[i] == 0;
    }
    if (quads && count[0] == quads && count[1] > quads / 2) {
        return "utf-32be";
    }
    if (quads && count[3] == quads && count[2] > quads / 2) {
        return "utf-32le";
    }
    size_t units = length / 2;
    size_t big = count_alike(bytes, units * 2, 0);
    size_t little = count_alike(bytes, units * 2, 1);
    if (units < 4 || (big > little ? big : little) * 10 < units * 9) {
        return NULL;
    }
    return big > little ? "utf-16be" : "utf-16le";
}

/* The next tilde that `second` follows: tildes are rare, and memmem() is slow for two bytes. */
static const char *find_tilde(const char *from, const char *end, char second)
{
    const char *at = memchr(from, '~', (size_t)(end - from));
    while (at && at + 1 < end && at[1] != second) {
        at = memchr(at + 1, '~', (size_t)(end - at - 1));
    }
    return at && at + 1 < end ? at : NULL;
}

/* Whether there are pairs of a seven-bit Chinese text: nearly all of a text's are in the rows of
 * GB 2312 that have its common characters, where pairs of small Latin letters never are. */
static bool has_hz(const char *bytes, size_t length)
{
    const char *end = bytes + length;
    const char *open = find_tilde(bytes, end, '{');
    size_t pairs = 0;
    size_t common = 0;
    while (open) {
        const char *close = find_tilde(open, end, '}');
        if (!close || (close - open) % 2 != 0) {
            return false;
        }
        for (const char *at = open + 2; at < close; at += 2, pairs++) {
            if (at[0] < 0x21 || at[0] > 0x77 || at[1] < 0x21 || at[1] > 0x7E) {
                return false;
            }
            common += at[0] < 0x58;
        }
        open = find_tilde(close, end, '{');
    }
    return pairs >= 4 && common * 10 >= pairs * 9;
}

const char *detect_wide(const char *bytes, size_t length)
{
    size_t read = length < MOST_FORM ? length : MOST_FORM;
    size_t controls = 0;
    for (size_t i = 0; i < (read < LEAST_FORM ? read : LEAST_FORM); i++) {
        unsigned char byte = (unsigned char)bytes[i];
        controls += byte < 0x09 || (byte > 0x0D && byte < 0x20 && byte != 0x1B);
    }
    return controls * 40 > (read < LEAST_FORM ? read : LEAST_FORM)
               ? wide_form((const unsigned char *)bytes, read)
               : NULL;
}

const char *detect_form(const char *bytes, size_t length)
{
    static const struct {
        const char *escape, *name;
    } ESCAPES[] = {{"\x1B$)C", "iso-2022-kr"},
                   {"\x1B$B", "iso-2022-jp"},
                   {"\x1B$@", "iso-2022-jp"},
                   {"\x1B(J", "iso-2022-jp"}};
    const char *wide = detect_wide(bytes, length);
    if (wide) {
        return wide;
    }
    size_t read = length < MOST_READ ? length : MOST_READ;
    const char *escape = memchr(bytes, 0x1B, read);
    for (size_t i = 0; escape && i < sizeof ESCAPES / sizeof *ESCAPES; i++) {
        if (memmem(escape, read - (size_t)(escape - bytes), ESCAPES[i].escape,
                   strlen(ESCAPES[i].escape))) {
            return ESCAPES[i].name;
        }
    }
    return has_hz(bytes, read) ? "hz-gb-2312" : NULL;
}

/* ---- the text of a page ---- */

/* What a page says, without its markup, and with long stretches of ASCII cut to their ends. */
struct sample {
    unsigned char text[MOST_TEXT + 1];
    size_t length;
    size_t ascii; /* bytes since the last that was none */
    size_t high;
};

static void put_byte(struct sample *sample, unsigned char byte)
{
    bool space = isspace(byte) || byte == 0;
    if (space && (!sample->length || sample->text[sample->length - 1] == ' ')) {
        return;
    }
    if (sample->ascii == 3 * KEPT_ASCII) {
        unsigned char *end = sample->text + sample->length;
        memmove(end - 2 * KEPT_ASCII, end - KEPT_ASCII, KEPT_ASCII);
        sample->length -= KEPT_ASCII;
        sample->ascii -= KEPT_ASCII;
        sample->text[sample->length - KEPT_ASCII] = ' ';
    }
    sample->text[sample->length++] = space ? ' ' : byte;
    sample->ascii = byte & 0x80 ? 0 : sample->ascii + 1;
    sample->high += byte >> 7;
}

/* The end of an element that holds no text, or of a comment. */
static const char *skip_raw(const char *at, const char *end)
{
    static const struct {
        const char *open, *close;
    } RAW[] = {{"<script", "</script"}, {"<style", "</style"}, {"<!--", "-->"}};
    for (size_t i = 0; i < sizeof RAW / sizeof *RAW; i++) {
        size_t length = strlen(RAW[i].open);
        if ((size_t)(end - at) <= length || strncasecmp(at, RAW[i].open, length) != 0) {
            continue;
        }
        size_t close = strlen(RAW[i].close);
        for (at += length; (size_t)(end - at) >= close; at++) {
            if (*at == *RAW[i].close && strncasecmp(at, RAW[i].close, close) == 0) {
                return at;
            }
        }
        return end;
    }
    return at;
}

/* No encoding of several bytes has the marks of markup inside a character. */
static void take_text(struct sample *sample, const char *bytes, size_t length, size_t most,
                      bool markup)
{
    const char *end = bytes + (length < MOST_READ ? length : MOST_READ);
    sample->length = sample->ascii = sample->high = 0;
    for (const char *at = bytes; at < end && sample->length < most; at++) {
        unsigned char next = at + 1 < end ? (unsigned char)at[1] : 0;
        if (!markup || *at != '<' || !(isalpha(next) || next == '/' || next == '!')) {
            put_byte(sample, (unsigned char)*at);
            continue;
        }
        const char *inner = skip_raw(at, end);
        const char *close = inner < end ? memchr(inner, '>', (size_t)(end - inner)) : NULL;
        put_byte(sample, ' ');
        if (!close) {
            break;
        }
        at = close;
    }
    sample->text[sample->length] = ' ';
}

/* ---- one byte a letter ---- */

enum byte_kind { KIND_WRONG, KIND_ODD, KIND_SYMBOL, KIND_LETTER, KIND_SMALL, KIND_CAPITAL };

/* What each byte is in an encoding. */
struct bytes_of {
    const char *name;
    uint32_t small[256]; /* letters, in small ones */
    uint8_t kind[256];
    bool latin[256]; /* letters */
    long besides;    /* what the text costs in this encoding, in whichever language */
};

/* A language, as data/letter-costs.txt has it. */
struct language_costs {
    const char *name;
    const char *encodings;    /* with commas between them, the commonest first */
    const char *const *costs; /* a row for each place, from 0: what is no letter */
    uint32_t letters[MOST_LETTERS];
    size_t count;
    bool latin; /* its alphabet has each Latin letter; else one place stands for all */
};

static enum byte_kind kind_of(uint32_t point)
{
    static const uint16_t COMMON[] = {
        0xA0,   0xA3,   0xA7,   0xA9,   0xAB,   0xAD,   0xAE,   0xB0,   0xB7,   0xBB,
        0x60C,  0x61B,  0x61F,  0x200C, 0x200E, 0x200F, 0x2013, 0x2014, 0x2018, 0x2019,
        0x201A, 0x201C, 0x201D, 0x201E, 0x2022, 0x2026, 0x20AC, 0x2116, 0x2122};
    if (!point) {
        return KIND_WRONG;
    }
    for (size_t i = 0; i < sizeof COMMON / sizeof *COMMON; i++) {
        if (COMMON[i] == point) {
            return KIND_SYMBOL;
        }
    }
    switch (utf8proc_category((utf8proc_int32_t)point)) {
    case UTF8PROC_CATEGORY_LL:
        return KIND_SMALL;
    case UTF8PROC_CATEGORY_LU:
        return KIND_CAPITAL;
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
        /* The raised letters of Spanish numbers. */
        return point == 0xAA || point == 0xBA ? KIND_ODD : KIND_LETTER;
    default:
        return KIND_ODD;
    }
}

/* The place of a letter in an alphabet, or FOREIGN. */
static uint8_t place_of(const struct language_costs *language, uint32_t small)
{
    if (small < 0x80) {
        return (uint8_t)(language->latin ? small - 'a' + 1 : 1);
    }
    size_t low = language->latin ? 26 : 1;
    size_t high = language->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (language->letters[middle] == small) {
            return (uint8_t)(middle + 1);
        }
        low = language->letters[middle] < small ? middle + 1 : low;
        high = language->letters[middle] < small ? high : middle;
    }
    return FOREIGN;
}

/* The pairs of bytes of a sample: those with a byte above ASCII, and how often which letters of
 * ASCII follow each other. */
struct pairs {
    struct {
        unsigned char one, two;
        uint16_t count;
    } of[MOST_TEXT + 1];
    size_t count;
    size_t latin; /* those that end in a letter of ASCII */
    uint16_t ascii[27][27];
    uint16_t seen[256][256]; /* the place in `of`, from 1 */
    bool paired[256];        /* bytes that are in `of` */
};

static size_t ascii_place(unsigned char byte)
{
    return isalpha(byte) ? (size_t)(tolower(byte) - 'a' + 1) : 0;
}

static void take_pairs(const struct sample *sample, struct pairs *pairs)
{
    memset(pairs, 0, sizeof *pairs);
    unsigned char before = ' ';
    for (size_t i = 0; i <= sample->length; i++) {
        unsigned char byte = sample->text[i];
        if ((before | byte) & 0x80) {
            uint16_t *place = &pairs->seen[before][byte];
            if (!*place) {
                pairs->of[pairs->count].one = before;
                pairs->of[pairs->count].two = byte;
                pairs->paired[before] = pairs->paired[byte] = true;
                *place = (uint16_t)++pairs->count;
            }
            pairs->of[*place - 1].count++;
            pairs->latin += isalpha(byte) && byte < 0x80;
        } else {
            pairs->ascii[ascii_place(before)][ascii_place(byte)]++;
        }
        before = byte;
    }
}

static unsigned cost_at(const struct language_costs *language, size_t from, size_t to)
{
    return (unsigned)(language->costs[from][to] - '0');
}

/* What the ASCII of a text costs in a language. It counts for a quarter: there may be English in
 * every page. */
static long price_ascii(const struct language_costs *language, const struct pairs *pairs)
{
    long cost = 0;
    for (size_t i = 0; i < 27; i++) {
        for (size_t j = 0; j < 27; j++) {
            cost += (long)(pairs->ascii[i][j] * cost_at(language, i, j));
        }
    }
    return cost / 4;
}

/* Only of those that occur in pairs, since nobody asks about others. */
static void describe_bytes(const uint32_t letters[128], const struct pairs *pairs,
                           struct bytes_of *bytes)
{
    for (unsigned i = 0; i < 256; i++) {
        if (!pairs->paired[i]) {
            continue;
        }
        uint32_t point = i < 0x80 ? i : letters[i - 0x80];
        bytes->kind[i] = (uint8_t)(i < 0x80 && !isalpha((int)i) ? KIND_SYMBOL : kind_of(point));
        bytes->latin[i] = point < 0x370 || (point >= 0x1E00 && point < 0x1F00);
        uint32_t small = (uint32_t)utf8proc_tolower((utf8proc_int32_t)point);
        /* Romanian letters with a comma, which most encodings have with a cedilla. */
        bytes->small[i] = small == 0x219 ? 0x15F : small == 0x21B ? 0x163 : small;
    }
}

/* What neighbours cost besides what they are: a symbol inside a word, a word of two scripts, a
 * capital after a small letter. */
static int price_neighbours(const struct bytes_of *bytes, unsigned char one, unsigned char two)
{
    uint8_t first = bytes->kind[one];
    uint8_t second = bytes->kind[two];
    if (first < KIND_LETTER || second < KIND_LETTER) {
        bool beside = (first == KIND_ODD && second >= KIND_LETTER) ||
                      (second == KIND_ODD && first >= KIND_LETTER);
        return beside ? BESIDE_COST : 0;
    }
    int cost = first == KIND_SMALL && second == KIND_CAPITAL ? CASE_COST : 0;
    return bytes->latin[one] != bytes->latin[two] ? cost + MIXED_COST : cost;
}

/* Letters cost what their language says; this is the rest. May end early, as below. */
static long price_besides(const struct bytes_of *bytes, const struct pairs *pairs, long limit)
{
    static const uint8_t SYMBOLS[] = {
        [KIND_WRONG] = WRONG_COST, [KIND_ODD] = ODD_COST, [KIND_SYMBOL] = SYMBOL_COST};
    long cost = 0;
    for (size_t i = 0; i < pairs->count && cost < limit; i++) {
        unsigned char two = pairs->of[i].two;
        bool symbol = two >= 0x80 && bytes->kind[two] < KIND_LETTER;
        cost += (price_neighbours(bytes, pairs->of[i].one, two) +
                 (symbol ? SYMBOLS[bytes->kind[two]] : 0)) *
                (long)pairs->of[i].count;
    }
    return cost;
}

/* May end early with any cost from the limit on. */
static long price_letters(const struct language_costs *language, const struct bytes_of *bytes,
                          const struct pairs *pairs, long limit)
{
    uint8_t place[256];
    for (unsigned i = 0; i < 256; i++) {
        bool letter = pairs->paired[i] && bytes->kind[i] >= KIND_LETTER;
        place[i] = letter ? place_of(language, bytes->small[i]) : 0;
    }
    long cost = bytes->besides + (language->latin ? 0 : LATIN_COST * (long)pairs->latin);
    bool own = language->latin;
    for (size_t i = 0; i < pairs->count && cost < limit; i++) {
        uint8_t one = place[pairs->of[i].one];
        uint8_t two = place[pairs->of[i].two];
        long price = two == FOREIGN   ? FOREIGN_COST
                     : one == FOREIGN ? LEAVING_COST
                                      : (long)cost_at(language, one, two);
        cost += price * pairs->of[i].count;
        own = own || (two > 1 && two != FOREIGN);
    }
    return own ? cost : cost + ABSENT_COST;
}

/* ---- several bytes a character ---- */

static const struct {
    const char *encoding;
    const char *language;
    const struct word_table *costs;
} SEVERAL[] = {
    {"gbk", "zh_hans", &character_costs_zh_hans}, {"shift_jis", "ja", &character_costs_ja},
    {"euc-kr", "ko", &character_costs_ko},        {"big5", "zh_hant", &character_costs_zh_hant},
    {"euc-jp", "ja", &character_costs_ja},
};

/* Of a character that is not among the common ones. */
static long price_rare(uint32_t point)
{
    static const struct {
        uint32_t first, last;
        int bits;
    } BLOCKS[] = {
        {0x80, 0x2000, 15},   {0x2000, 0x2BFF, 12}, {0x3000, 0x303F, 9},  {0x3040, 0x30FF, 15},
        {0x4E00, 0x9FFF, 16}, {0xAC00, 0xD7A3, 15}, {0xE000, 0xF8FF, 26}, {0xFF01, 0xFF5E, 9},
    };
    for (size_t i = 0; i < sizeof BLOCKS / sizeof *BLOCKS; i++) {
        if (point >= BLOCKS[i].first && point <= BLOCKS[i].last) {
            return BITS(BLOCKS[i].bits);
        }
    }
    return point == TEXT_REPLACEMENT ? WRONG_COST : BITS(19);
}

static long price_characters(const struct word_table *costs, const char *text, size_t length,
                             long limit)
{
    const char *end = text + length;
    bool after_letter = false;
    long cost = 0;
    while (text < end && cost < limit) {
        const char *from = text;
        uint32_t point = text_next(&text, end);
        if (point >= 0x80) {
            const char *halves = words_text(costs, from, (size_t)(text - from));
            cost += halves ? strtol(halves, NULL, 10) * 2 : price_rare(point);
            cost += after_letter ? BITS(3) : 0;
        }
        after_letter = point < 0x80 && isalpha((int)point);
    }
    return cost;
}

/* ---- choosing ---- */

struct encoding_search {
    const char *hinted;   /* the language of the hint, by our name */
    const char *domain;   /* that of the domain */
    const char *declared; /* encoding; gb18030 is priced as what it extends */
    const char *best;     /* encoding */
    long best_cost;       /* with what speaks for it besides its letters */
    long best_raw;        /* without */
    long declared_raw;    /* of the declared encoding; UNKNOWN_COST when it was not priced */
    struct {
        const struct encoding *encoding;
        struct bytes_of *bytes;
    } described[MOST_ENCODINGS];
    size_t described_count;
};

static void offer(struct encoding_search *search, const char *encoding, const char *language,
                  long raw, long handicap)
{
    const char *declared = search->declared;
    size_t length = strcspn(language, "-:");
    long cost = raw + handicap;
    if (search->hinted && strncmp(search->hinted, language, length) == 0) {
        cost -= LANGUAGE_GAIN;
    }
    if (search->domain && strncmp(search->domain, language, length) == 0) {
        cost -= DOMAIN_GAIN;
    }
    if (cost < search->best_cost) {
        search->best = encoding;
        search->best_cost = cost;
        search->best_raw = raw;
    }
    if (declared && raw < search->declared_raw && strcmp(encoding, declared) == 0) {
        search->declared_raw = raw;
    }
}

/* From which cost of its letters on a reading cannot win any more. */
static long limit_of(const struct encoding_search *search, long ascii)
{
    return search->best_cost - ascii + LANGUAGE_GAIN + DOMAIN_GAIN;
}

/* Reads the next language of the table; NULL at its end. */
static const char *const *next_language(const char *const *row, struct language_costs *language)
{
    if (!*row) {
        return NULL;
    }
    const char *at = strchr(row[1], ':') + 1;
    const char *end = at + strlen(at);
    language->name = row[0];
    language->encodings = strchr(row[0], ':') + 1;
    language->count = 0;
    while (at < end && language->count < MOST_LETTERS) {
        language->letters[language->count++] = text_next(&at, end);
    }
    language->latin = language->count > 1 && language->letters[1] == 'b';
    language->costs = row + 2;
    return row + 3 + language->count;
}

/* What the bytes are in an encoding, by its name; NULL for what has no letters, or no memory. */
static const struct bytes_of *bytes_of(struct arena *arena, struct encoding_search *search,
                                       const struct pairs *pairs, long limit, const char *name,
                                       size_t length)
{
    char wanted[32] = "";
    uint32_t letters[128];
    memcpy(wanted, name, length < sizeof wanted ? length : 0);
    const struct encoding *encoding = encoding_find(wanted);
    for (size_t i = 0; i < search->described_count; i++) {
        if (search->described[i].encoding == encoding) {
            return search->described[i].bytes;
        }
    }
    if (!encoding || search->described_count == MOST_ENCODINGS ||
        !encoding_letters(encoding, letters)) {
        return NULL;
    }
    struct bytes_of *bytes = arena_alloc(arena, sizeof *bytes);
    if (bytes) {
        bytes->name = encoding_name(encoding);
        describe_bytes(letters, pairs, bytes);
        bytes->besides = price_besides(bytes, pairs, limit);
        search->described[search->described_count].encoding = encoding;
        search->described[search->described_count++].bytes = bytes;
    }
    return bytes;
}

/* The languages in all their encodings, and in the one that was declared. The first is English. */
static void price_languages(struct arena *arena, struct encoding_search *search,
                            const struct pairs *pairs, long english)
{
    struct language_costs language;
    const char *name = search->declared;
    const struct bytes_of *declared =
        name ? bytes_of(arena, search, pairs, UNKNOWN_COST, name, strlen(name)) : NULL;
    for (const char *const *row = letter_costs; (row = next_language(row, &language));) {
        long ascii = language.latin ? price_ascii(&language, pairs) : english;
        long handicap = language.costs == letter_costs + 2 ? 0 : OTHER_COST;
        for (const char *at = language.encodings; *at; at += *at == ',') {
            size_t length = strcspn(at, ",");
            const struct bytes_of *bytes =
                bytes_of(arena, search, pairs, limit_of(search, 0), at, length);
            if (bytes && bytes != declared) {
                long limit = limit_of(search, ascii);
                offer(search, bytes->name, language.name,
                      ascii + price_letters(&language, bytes, pairs, limit), handicap);
            }
            handicap += RARITY_COST;
            at += length;
        }
        if (declared) {
            offer(search, declared->name, language.name,
                  ascii + price_letters(&language, declared, pairs, UNKNOWN_COST), handicap);
        }
    }
}

static int price_all(struct arena *arena, const struct sample *sample,
                     struct encoding_search *search)
{
    struct pairs *pairs = arena_alloc(arena, sizeof *pairs);
    if (!pairs) {
        return ERR_NOMEM;
    }
    struct language_costs english;
    take_pairs(sample, pairs);
    next_language(letter_costs, &english);
    long ascii = price_ascii(&english, pairs);
    for (size_t i = 0; i < sizeof SEVERAL / sizeof *SEVERAL; i++) {
        struct encoded_text text;
        const struct encoding *encoding = encoding_find(SEVERAL[i].encoding);
        /* Where the sample was cut is not where a character ends. */
        int status = encoding ? encoding_decode(arena, encoding, (const char *)sample->text,
                                                sample->length, &text)
                              : ERR_NOTFOUND;
        if (status != OK) {
            return status;
        }
        bool declared = search->declared && strcmp(search->declared, SEVERAL[i].encoding) == 0;
        long limit = declared ? UNKNOWN_COST : limit_of(search, ascii);
        long cost = ascii + price_characters(SEVERAL[i].costs, text.bytes, text.length, limit);
        offer(search, SEVERAL[i].encoding, SEVERAL[i].language, cost, OTHER_COST);
    }
    price_languages(arena, search, pairs, ascii);
    return OK;
}

/* A language by our name: Chinese is written in two ways. */
static const char *our_language(const char *code)
{
    if (!code || strncasecmp(code, "zh", 2) != 0) {
        return code;
    }
    bool traditional = strcasestr(code, "tw") || strcasestr(code, "hk") || strcasestr(code, "hant");
    return traditional ? "zh_hant" : "zh_hans";
}

int detect_encoding(struct arena *arena, const char *bytes, size_t length,
                    const struct detect_hints *hints, struct detect_verdict *verdict)
{
    struct encoding_search search = {.hinted = our_language(hints->language),
                                     .best = "windows-1252",
                                     .best_cost = UNKNOWN_COST,
                                     .declared_raw = UNKNOWN_COST};
    search.declared =
        hints->declared && strcmp(hints->declared, "gb18030") == 0 ? "gbk" : hints->declared;
    if (hints->domain) {
        search.domain = words_text(&domain_languages, hints->domain, strlen(hints->domain));
    }
    struct sample *sample = arena_alloc(arena, sizeof *sample);
    if (!sample) {
        return ERR_NOMEM;
    }
    size_t most = hints->declared ? LESS_TEXT : MOST_TEXT;
    take_text(sample, bytes, length, most, true);
    if (!sample->high) {
        take_text(sample, bytes, length, most, false);
    }
    int status = price_all(arena, sample, &search);
    *verdict = (struct detect_verdict){.name = search.best};
    if (hints->declared) {
        long priced = search.declared_raw < UNKNOWN_COST ? search.declared_raw : search.best_raw;
        long worse = priced - search.best_raw;
        verdict->doubtful = worse > DOUBT;
        verdict->name = worse > OVERRULED ? search.best : hints->declared;
    }
    return status;
}
