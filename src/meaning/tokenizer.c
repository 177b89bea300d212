/* The rules of the tokenizer, by the Unicode tables of utf8proc. */
#include "meaning/tokenizer.h"

#include "text/text.h"

#include <string.h>
#include <utf8proc.h>

#define MOST_POINTS 100u /* of a word; a longer one is unknown */
#define MOST_BYTES  (4 * MOST_POINTS)
#define INSIDE      "##"
#define INSIDE_SIZE 2u

/* A text on its way: the word that is being read, and the tokens so far. */
struct token_reading {
    const struct tokenizer *tokenizer;
    uint32_t *tokens;
    size_t count, most;
    size_t points, length; /* of the word */
    char word[INSIDE_SIZE + MOST_BYTES + 4];
};

static const struct chinese_range {
    uint32_t first, last;
} CHINESE[] = {
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
    {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F},
};

static bool is_chinese(uint32_t point)
{
    for (size_t i = 0; point >= CHINESE[0].first && i < sizeof CHINESE / sizeof *CHINESE; i++) {
        if (point >= CHINESE[i].first && point <= CHINESE[i].last) {
            return true;
        }
    }
    return false;
}

static bool is_space(uint32_t point)
{
    utf8proc_category_t category;
    if (point < 128) {
        return point == ' ' || point == '\t' || point == '\n' || point == '\r';
    }
    category = utf8proc_category((utf8proc_int32_t)point);
    return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
           category == UTF8PROC_CATEGORY_ZP;
}

/* What a reader does not see, and the model never saw. */
static bool is_left_out(uint32_t point)
{
    if (point < 128) {
        return (point < ' ' && !is_space(point)) || point == 127;
    }
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)point);
    return point == TEXT_REPLACEMENT || category == UTF8PROC_CATEGORY_CC ||
           category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_CO;
}

static bool is_punctuation(uint32_t point)
{
    if (point < 128) {
        return (point >= '!' && point <= '/') || (point >= ':' && point <= '@') ||
               (point >= '[' && point <= '`') || (point >= '{' && point <= '~');
    }
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)point);
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

/* ---- pieces ---- */

static size_t piece_start(const struct tokenizer *tokenizer, size_t index)
{
    return index ? tokenizer->ends[index - 1] : 0;
}

static bool find(const struct tokenizer *tokenizer, const char *key, size_t length, uint32_t *token)
{
    size_t low = 0;
    size_t high = tokenizer->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        size_t start = piece_start(tokenizer, middle);
        size_t size = tokenizer->ends[middle] - start;
        int order = memcmp(tokenizer->bytes + start, key, size < length ? size : length);
        if (order == 0 && size == length) {
            *token = (uint32_t)middle;
            return true;
        }
        if (order < 0 || (order == 0 && size < length)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

/* The longest piece that a key begins with, of more than `least` bytes; returns its length, 0:
 * there is none. */
static size_t find_longest(const struct tokenizer *tokenizer, const char *key, size_t length,
                           size_t least, uint32_t *token)
{
    length = length < tokenizer->longest ? length : tokenizer->longest;
    while (length > least && !find(tokenizer, key, length, token)) {
        do {
            length--;
        } while (length > least && ((unsigned char)key[length] & 0xC0) == 0x80);
    }
    return length > least ? length : 0;
}

static void put(struct token_reading *reading, uint32_t token)
{
    if (reading->count < reading->most) {
        reading->tokens[reading->count++] = token;
    }
}

/* Ends the word. All of it is pieces, or it is unknown. */
static void end_word(struct token_reading *reading)
{
    const struct tokenizer *tokenizer = reading->tokenizer;
    char *key = reading->word + INSIDE_SIZE; /* what is left of the word */
    size_t left = reading->length;
    size_t before = reading->count;
    size_t least = 0;
    bool known = reading->points <= MOST_POINTS;
    while (known && left > 0) {
        uint32_t token = 0;
        size_t length = find_longest(tokenizer, key, left + least, least, &token);
        known = length > 0;
        if (known) {
            put(reading, token);
            left -= length - least;
            key += length;
            key -= INSIDE_SIZE; /* a mark before what is left, over what is done */
            memcpy(key, INSIDE, INSIDE_SIZE);
            least = INSIDE_SIZE;
        }
    }
    if (!known) {
        reading->count = before;
        put(reading, tokenizer->unknown);
    }
    reading->points = reading->length = 0;
}

static void add_to_word(struct token_reading *reading, uint32_t point)
{
    if (reading->points < MOST_POINTS) {
        reading->length += text_encode(point, reading->word + INSIDE_SIZE + reading->length);
    }
    reading->points += reading->points <= MOST_POINTS;
}

static void add_point(struct token_reading *reading, uint32_t point)
{
    if (is_space(point)) {
        end_word(reading);
    } else if (is_punctuation(point)) {
        end_word(reading);
        add_to_word(reading, point);
        end_word(reading);
    } else {
        add_to_word(reading, point);
    }
}

/* A character without its marks, in lower case: one or more code points. */
static void add_bare(struct token_reading *reading, uint32_t point)
{
    utf8proc_int32_t parts[32];
    int boundary = UTF8PROC_BOUNDCLASS_START;
    utf8proc_ssize_t count =
        utf8proc_decompose_char((utf8proc_int32_t)point, parts, sizeof parts / sizeof *parts,
                                UTF8PROC_DECOMPOSE, &boundary);
    for (utf8proc_ssize_t i = 0; i < count && i < 32; i++) {
        if (utf8proc_category(parts[i]) != UTF8PROC_CATEGORY_MN) {
            add_point(reading, (uint32_t)utf8proc_tolower(parts[i]));
        }
    }
}

static void add_text(struct token_reading *reading, const char *at, size_t length)
{
    const char *end = at + length;
    while (at < end && reading->count < reading->most) {
        uint32_t point = text_next(&at, end);
        if (is_left_out(point)) {
            continue;
        }
        if (point < 128) {
            add_point(reading, point >= 'A' && point <= 'Z' ? point | 32 : point);
        } else if (is_chinese(point)) {
            end_word(reading);
            add_bare(reading, point);
            end_word(reading);
        } else {
            add_bare(reading, point);
        }
    }
}

bool tokenizer_start(struct tokenizer *tokenizer, const char *bytes, const uint32_t *ends,
                     size_t count)
{
    *tokenizer = (struct tokenizer){.bytes = bytes, .ends = ends, .count = count};
    for (size_t i = 0; i < count; i++) {
        size_t length = ends[i] - piece_start(tokenizer, i);
        tokenizer->longest = length > tokenizer->longest ? length : tokenizer->longest;
    }
    return find(tokenizer, "[CLS]", 5, &tokenizer->begin) &&
           find(tokenizer, "[SEP]", 5, &tokenizer->end) &&
           find(tokenizer, "[UNK]", 5, &tokenizer->unknown);
}

size_t tokenizer_read(const struct tokenizer *tokenizer, const char *prefix, const char *text,
                      size_t length, uint32_t *tokens, size_t most)
{
    struct token_reading reading = {.tokenizer = tokenizer, .tokens = tokens, .most = most - 1};
    put(&reading, tokenizer->begin);
    add_text(&reading, prefix, strlen(prefix));
    add_text(&reading, text, length);
    end_word(&reading);
    reading.most = most;
    put(&reading, tokenizer->end);
    return reading.count;
}
