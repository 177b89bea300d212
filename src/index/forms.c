/* Families by a short list of endings, words that stand for the same from a table, and slips by
 * trying each of them: some hundred words, whatever the size of the index. */
#include "index/forms.h"

#include "core/status.h"
#include "tables.h"
#include "text/text.h"

#include <string.h>
#include <utf8proc.h>

#define FAMILY_WEIGHT     0.5f
#define ALIKE_WEIGHT      0.4f
#define SLIP_WEIGHT       0.4f
#define FIRST_SLIP_WEIGHT 0.2f /* people rarely misspell how a word begins */
#define SHORT_SLIP_SHARE  0.7f /* of that, for words that are as likely other words */
#define TWO_SLIPS_WEIGHT  0.2f
#define FAMILY_LETTERS    5u /* that the words of a family begin with */
#define FEWEST_LETTERS    4u
#define SHORT_LETTERS     4u
#define MOST_LETTERS      24u
#define LETTERS_FOR_TWO   8u
#define LETTER_BYTES      4u

/* ---- families ---- */

/* What Snowball leaves at the end of words of one family. Those that are `loose` are so by chance
 * as often as not when another ending stands against them, and count only against none. */
static const struct word_ending {
    const char *text;
    bool loose;
} ENDINGS[] = {
    {"", false},   {"i", false},   {"e", false},  {"r", true},   {"er", false},
    {"ist", true}, {"ian", true},  {"ion", true}, {"iv", true},  {"th", true},
    {"ag", true},  {"ship", true}, {"anc", true}, {"enc", true},
};

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t size = strlen(ending);
    return length >= size && memcmp(text + length - size, ending, size) == 0;
}

int forms_family(const char *stem, form_take take, void *context)
{
    size_t length = strlen(stem);
    char form[64];
    int status = OK;
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        size_t root = length - strlen(ENDINGS[i].text);
        if (!ends_with(stem, length, ENDINGS[i].text) || root < FAMILY_LETTERS ||
            root + LETTER_BYTES >= sizeof form) {
            continue;
        }
        memcpy(form, stem, root);
        for (size_t j = 0; j < sizeof ENDINGS / sizeof *ENDINGS && status == OK; j++) {
            bool by_chance =
                (ENDINGS[i].loose && *ENDINGS[j].text) || (ENDINGS[j].loose && *ENDINGS[i].text);
            if (j != i && !by_chance) {
                size_t size = strlen(ENDINGS[j].text);
                memcpy(form + root, ENDINGS[j].text, size + 1);
                status = take(context, form, root + size, FAMILY_WEIGHT);
            }
        }
    }
    return status;
}

/* ---- words that stand for the same ---- */

struct offering {
    form_take take;
    void *context;
    const char *folded; /* the word itself, which is not offered */
    size_t letters;
};

static int offer_alike(void *context, const struct word *word)
{
    struct offering *offering = context;
    if (strcmp(word->folded, offering->folded) == 0) {
        return OK;
    }
    return offering->take(offering->context, word->term, word->length, ALIKE_WEIGHT);
}

int forms_alike(struct word_reader *reader, const char *folded, form_take take, void *context)
{
    struct offering offering = {.take = take, .context = context, .folded = folded};
    const char *words = words_text(&alike_words, folded, strlen(folded));
    return words
               ? words_each(reader, words, strlen(words), LANGUAGE_ENGLISH, offer_alike, &offering)
               : OK;
}

/* ---- slips ---- */

/* A word as its letters, each with its bytes. */
struct letters {
    char bytes[MOST_LETTERS][LETTER_BYTES + 1];
    size_t count;
};

/* Alphabets that slips are made from, by a letter of theirs. */
static const struct {
    uint32_t first, last;
} ALPHABETS[] = {{'a', 'z'}, {0x3B1, 0x3C9}, {0x430, 0x44F}};

static size_t alphabet_of(uint32_t point)
{
    size_t i = 0;
    while (i < sizeof ALPHABETS / sizeof *ALPHABETS &&
           (point < ALPHABETS[i].first || point > ALPHABETS[i].last)) {
        i++;
    }
    return i;
}

/* Takes a word apart whose letters are all of one alphabet; false: there is nothing to try. */
static bool read_letters(const char *word, struct letters *letters, size_t *alphabet)
{
    const char *end = word + strlen(word);
    letters->count = 0;
    for (const char *at = word; at < end;) {
        const char *start = at;
        size_t own = alphabet_of(text_next(&at, end));
        size_t bytes = (size_t)(at - start);
        if (own == sizeof ALPHABETS / sizeof *ALPHABETS || letters->count == MOST_LETTERS ||
            bytes > LETTER_BYTES || (letters->count > 0 && own != *alphabet)) {
            return false;
        }
        *alphabet = own;
        memcpy(letters->bytes[letters->count], start, bytes);
        letters->bytes[letters->count++][bytes] = '\0';
    }
    return letters->count >= FEWEST_LETTERS;
}

/* The words that are tried, with blanks between them. */
struct tries {
    char *text;
    size_t length;
};

static void put_text(struct tries *tries, const char *text)
{
    size_t length = strlen(text);
    memcpy(tries->text + tries->length, text, length);
    tries->length += length;
}

/* The letters before `at`, then `instead`, then those from `from` on. */
static void put_try(struct tries *tries, const struct letters *letters, size_t at,
                    const char *instead, size_t from)
{
    for (size_t i = 0; i < at; i++) {
        put_text(tries, letters->bytes[i]);
    }
    put_text(tries, instead);
    for (size_t i = from; i < letters->count; i++) {
        put_text(tries, letters->bytes[i]);
    }
    put_text(tries, " ");
}

static void write_tries(struct tries *tries, const struct letters *letters, size_t alphabet)
{
    for (size_t i = 0; i <= letters->count; i++) {
        char instead[2 * LETTER_BYTES + 1] = "";
        if (i < letters->count) {
            put_try(tries, letters, i, "", i + 1);
        }
        if (i + 1 < letters->count) {
            size_t length = strlen(letters->bytes[i + 1]);
            memcpy(instead, letters->bytes[i + 1], length + 1);
            memcpy(instead + length, letters->bytes[i], strlen(letters->bytes[i]) + 1);
            put_try(tries, letters, i, instead, i + 2);
        }
        for (uint32_t point = ALPHABETS[alphabet].first; point <= ALPHABETS[alphabet].last;
             point++) {
            size_t length =
                (size_t)utf8proc_encode_char((utf8proc_int32_t)point, (utf8proc_uint8_t *)instead);
            instead[length] = '\0';
            put_try(tries, letters, i, instead, i);
            if (i < letters->count) {
                put_try(tries, letters, i, instead, i + 1);
            }
        }
    }
}

static int offer_slip(void *context, const struct word *word)
{
    struct offering *offering = context;
    bool first = word->folded[0] != offering->folded[0];
    float share = offering->letters <= SHORT_LETTERS ? SHORT_SLIP_SHARE : 1;
    return offering->take(offering->context, word->term, word->length,
                          (first ? FIRST_SLIP_WEIGHT : SLIP_WEIGHT) * share);
}

int forms_slips(struct word_reader *reader, struct arena *arena, const char *folded,
                enum language language, form_take take, void *context)
{
    struct letters letters;
    size_t alphabet = 0;
    if (!read_letters(folded, &letters, &alphabet)) {
        return OK;
    }
    size_t points = ALPHABETS[alphabet].last - ALPHABETS[alphabet].first + 1;
    size_t tried = (letters.count + 1) * (2 * points + 2);
    struct tries tries = {arena_alloc(arena, tried * ((letters.count + 1) * LETTER_BYTES + 1)), 0};
    if (!tries.text) {
        return ERR_NOMEM;
    }
    write_tries(&tries, &letters, alphabet);
    struct offering offering = {take, context, folded, letters.count};
    return words_each(reader, tries.text, tries.length, language, offer_slip, &offering);
}

bool forms_long(const char *folded)
{
    struct letters letters;
    size_t alphabet = 0;
    return read_letters(folded, &letters, &alphabet) && letters.count >= LETTERS_FOR_TWO;
}

/* The slips between two words of bytes, where two letters in the wrong order are one; three stand
 * for more. Rows of the table are kept for the last two letters. */
static unsigned int slips_between(const char *word, size_t length, const char *term,
                                  size_t term_length)
{
    unsigned char rows[3][MOST_LETTERS * LETTER_BYTES + 1];
    for (size_t j = 0; j <= term_length; j++) {
        rows[0][j] = (unsigned char)j;
    }
    for (size_t i = 1; i <= length; i++) {
        unsigned char *row = rows[i % 3];
        const unsigned char *above = rows[(i + 2) % 3];
        const unsigned char *two_above = rows[(i + 1) % 3];
        unsigned int least = row[0] = (unsigned char)i;
        for (size_t j = 1; j <= term_length; j++) {
            unsigned int best = above[j - 1] + (word[i - 1] == term[j - 1] ? 0u : 1u);
            best = above[j] + 1u < best ? above[j] + 1u : best;
            best = row[j - 1] + 1u < best ? row[j - 1] + 1u : best;
            if (i > 1 && j > 1 && word[i - 1] == term[j - 2] && word[i - 2] == term[j - 1]) {
                best = two_above[j - 2] + 1u < best ? two_above[j - 2] + 1u : best;
            }
            row[j] = (unsigned char)best;
            least = best < least ? best : least;
        }
        if (least > 2) {
            return least;
        }
    }
    return rows[length % 3][term_length];
}

float forms_near(const char *word, size_t length, const char *term, size_t term_length)
{
    size_t apart = length > term_length ? length - term_length : term_length - length;
    bool worth = apart <= 2 && term_length + 2 >= LETTERS_FOR_TWO && *word == *term &&
                 length <= MOST_LETTERS * LETTER_BYTES &&
                 term_length <= MOST_LETTERS * LETTER_BYTES;
    return worth && slips_between(word, length, term, term_length) <= 2 ? TWO_SLIPS_WEIGHT : 0;
}
