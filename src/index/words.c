/* How a text becomes words: runs of letters and digits are found, split into parts where they are
 * identifiers, folded and stemmed; runs of characters without spaces are paired. */
#include "index/words.h"

#include "core/status.h"
#include "index/fold.h"
#include "tables.h"
#include "text/text.h"
#include "text/word_table.h"

#include <libstemmer.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PARTS  16             /* of an identifier */
#define GUESS_WORDS 200            /* that tell the language */
#define NO_LANGUAGE LANGUAGE_COUNT /* folded only */

/* Snowball's name of the language, and whether it writes words together. */
static const struct {
    const char *stemmer;
    bool compound;
} LANGUAGES[LANGUAGE_COUNT] = {
    [LANGUAGE_ENGLISH] = {"english", false}, [LANGUAGE_GERMAN] = {"german", true},
    [LANGUAGE_FRENCH] = {"french", false},   [LANGUAGE_SPANISH] = {"spanish", false},
    [LANGUAGE_ITALIAN] = {"italian", false}, [LANGUAGE_PORTUGUESE] = {"portuguese", false},
    [LANGUAGE_DUTCH] = {"dutch", true},      [LANGUAGE_SWEDISH] = {"swedish", true},
    [LANGUAGE_RUSSIAN] = {"russian", false}, [LANGUAGE_ARABIC] = {"arabic", false},
    [LANGUAGE_GREEK] = {"greek", false},
};

/* ---- unused stemmers ---- */

/* Snowball's library has one table with all of its stemmers, so that asking for one links each of
 * them, and every start of the program relocates their tables. These are defined here and so not
 * taken from the archive; one that Snowball adds is linked until it has a line here. Whoever asked
 * for one would be told that there is no memory. A shared library keeps its own. */
static void *no_stemmer(void)
{
    return NULL;
}

#define LEFT_OUT(stemmer)                                                                          \
    extern __typeof__(no_stemmer) stemmer##_create_env __attribute__((alias("no_stemmer")));       \
    extern __typeof__(no_stemmer) stemmer##_close_env __attribute__((alias("no_stemmer")));        \
    extern __typeof__(no_stemmer) stemmer##_stem __attribute__((alias("no_stemmer")))

LEFT_OUT(armenian_UTF_8);
LEFT_OUT(basque_UTF_8);
LEFT_OUT(catalan_UTF_8);
LEFT_OUT(czech_UTF_8);
LEFT_OUT(danish_UTF_8);
LEFT_OUT(dutch_porter_UTF_8);
LEFT_OUT(esperanto_UTF_8);
LEFT_OUT(estonian_UTF_8);
LEFT_OUT(finnish_UTF_8);
LEFT_OUT(hindi_UTF_8);
LEFT_OUT(hungarian_UTF_8);
LEFT_OUT(indonesian_UTF_8);
LEFT_OUT(irish_UTF_8);
LEFT_OUT(lithuanian_UTF_8);
LEFT_OUT(nepali_UTF_8);
LEFT_OUT(norwegian_UTF_8);
LEFT_OUT(persian_UTF_8);
LEFT_OUT(polish_UTF_8);
LEFT_OUT(porter_UTF_8);
LEFT_OUT(romanian_UTF_8);
LEFT_OUT(serbian_UTF_8);
LEFT_OUT(sesotho_UTF_8);
LEFT_OUT(tamil_UTF_8);
LEFT_OUT(turkish_UTF_8);
LEFT_OUT(yiddish_UTF_8);
LEFT_OUT(basque_ISO_8859_1);
LEFT_OUT(catalan_ISO_8859_1);
LEFT_OUT(danish_ISO_8859_1);
LEFT_OUT(dutch_ISO_8859_1);
LEFT_OUT(dutch_porter_ISO_8859_1);
LEFT_OUT(english_ISO_8859_1);
LEFT_OUT(finnish_ISO_8859_1);
LEFT_OUT(french_ISO_8859_1);
LEFT_OUT(german_ISO_8859_1);
LEFT_OUT(indonesian_ISO_8859_1);
LEFT_OUT(irish_ISO_8859_1);
LEFT_OUT(italian_ISO_8859_1);
LEFT_OUT(norwegian_ISO_8859_1);
LEFT_OUT(porter_ISO_8859_1);
LEFT_OUT(portuguese_ISO_8859_1);
LEFT_OUT(spanish_ISO_8859_1);
LEFT_OUT(swedish_ISO_8859_1);
LEFT_OUT(czech_ISO_8859_2);
LEFT_OUT(hungarian_ISO_8859_2);
LEFT_OUT(polish_ISO_8859_2);
LEFT_OUT(romanian_ISO_8859_2);
LEFT_OUT(russian_KOI8_R);

/* What became of a word that came before: most words of a text are a few thousand that come again
 * and again, and folding and stemming cost more than looking them up. */
#define CACHE_SLOTS 8192u
#define CACHE_AFTER 256u /* words: a reader of a short question never pays for it */
#define CACHE_BYTES 17u  /* of a word; longer ones are rare, and a slot is one line of memory */

struct cached_word {
    uint32_t note;  /* of the taker, on the term */
    uint16_t stops; /* languages in which it is a stop word */
    uint8_t length; /* 0: the slot is free */
    uint8_t folded_length;
    uint8_t term_length;
    uint8_t language; /* that it was stemmed in, or NO_LANGUAGE */
    char raw[CACHE_BYTES + 1];
    char folded[CACHE_BYTES + 1];
    char term[CACHE_BYTES + 1];
};

_Static_assert(sizeof(struct cached_word) == 64 && LANGUAGE_COUNT <= 16, "a slot is one line");

struct word_reader {
    struct sb_stemmer *stemmers[LANGUAGE_COUNT]; /* made at first use */
    struct cached_word *cache;                   /* NULL: not yet, or no memory for it */
    unsigned int seen;
};

/* One run over a text. */
struct word_walk {
    struct word_reader *reader;
    const char *text;
    const char *end;
    enum language language;
    int (*take)(void *context, const struct word *word);
    void *context;
    unsigned int position;
};

struct word_reader *words_new(void)
{
    return calloc(1, sizeof(struct word_reader));
}

struct word_reader *words_free(struct word_reader *reader)
{
    if (reader) {
        for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
            sb_stemmer_delete(reader->stemmers[i]);
        }
        free(reader->cache);
        free(reader);
    }
    return NULL;
}

void words_rest(struct word_reader *reader)
{
    free(reader->cache);
    reader->cache = NULL;
    reader->seen = 0;
}

bool words_compound(enum language language)
{
    return LANGUAGES[language].compound;
}

/* ---- one word ---- */

/* The stem of a word in its composed lower-case form; the word itself where there is none. */
static int stem(struct word_walk *walk, struct fold_text *word)
{
    struct sb_stemmer **stemmer = &walk->reader->stemmers[walk->language];
    if (!*stemmer) {
        *stemmer = sb_stemmer_new(LANGUAGES[walk->language].stemmer, "UTF_8");
    }
    if (!*stemmer) {
        return ERR_NOMEM;
    }
    const sb_symbol *stemmed =
        sb_stemmer_stem(*stemmer, (const sb_symbol *)word->data, (int)word->length);
    if (!stemmed) {
        return ERR_NOMEM;
    }
    size_t length = (size_t)sb_stemmer_length(*stemmer);
    if (length > 0 && length < sizeof word->data) {
        memcpy(word->data, stemmed, length);
        word->data[length] = '\0';
        word->length = length;
    }
    return OK;
}

static bool has_digit(const struct fold_text *word)
{
    for (size_t i = 0; i < word->length; i++) {
        if (word->data[i] >= '0' && word->data[i] <= '9') {
            return true;
        }
    }
    return false;
}

/* A word with everything that is known of it. */
struct made_word {
    struct fold_text term;
    struct fold_text folded;
    uint32_t stops;
};

/* Folds and stems. What holds a digit is a name or a number: never stemmed. */
static int make(struct word_walk *walk, const char *start, size_t length, enum word_kind kind,
                struct made_word *made)
{
    fold_case(&made->term, start, length);
    made->folded = made->term;
    fold_accents(&made->folded);
    made->stops =
        kind == WORD_PLAIN ? words_value(&stop_words, made->folded.data, made->folded.length) : 0;
    if (kind == WORD_PLAIN && walk->language != NO_LANGUAGE && !has_digit(&made->term)) {
        int status = stem(walk, &made->term);
        if (status != OK) {
            return status;
        }
    }
    fold_accents(&made->term);
    return OK;
}

static int hand_out(struct word_walk *walk, const char *start, const char *end, enum word_kind kind,
                    struct word *word, uint32_t stops)
{
    if (word->folded_length == 0) {
        return OK;
    }
    word->start = (size_t)(start - walk->text);
    word->end = (size_t)(end - walk->text);
    word->position = walk->position;
    word->kind = kind;
    word->stop = (stops >> walk->language & 1u) != 0;
    return walk->take(walk->context, word);
}

__attribute__((noinline)) static int emit(struct word_walk *walk, const char *start,
                                          const char *end, enum word_kind kind)
{
    struct made_word made;
    int status = make(walk, start, (size_t)(end - start), kind, &made);
    struct word word = {.term = made.term.data,
                        .length = made.term.length,
                        .folded = made.folded.data,
                        .folded_length = made.folded.length};
    return status == OK ? hand_out(walk, start, end, kind, &word, made.stops) : status;
}

/* ---- words that came before ---- */

static struct cached_word *slot_of(struct word_reader *reader, const char *start, size_t length)
{
    if (!reader->cache && reader->seen++ == CACHE_AFTER) {
        reader->cache = aligned_alloc(sizeof *reader->cache, CACHE_SLOTS * sizeof *reader->cache);
        if (reader->cache) {
            memset(reader->cache, 0, CACHE_SLOTS * sizeof *reader->cache);
        }
    }
    if (!reader->cache || length > CACHE_BYTES) {
        return NULL;
    }
    uint64_t hash = length;
    for (; length >= sizeof hash; start += sizeof hash, length -= sizeof hash) {
        uint64_t piece;
        memcpy(&piece, start, sizeof piece);
        hash = (hash ^ piece) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    for (; length > 0; start++, length--) {
        hash = (hash ^ (unsigned char)*start) * 0x100000001B3u;
    }
    return &reader->cache[(hash ^ hash >> 32) % CACHE_SLOTS];
}

/* Makes the word and puts it into its slot, which stays free where the word became too long. Apart
 * from emit_plain(), which is called for every word and has no room to spare. */
__attribute__((noinline)) static int remember(struct cached_word *slot, struct word_walk *walk,
                                              const char *start, size_t length)
{
    struct made_word made;
    slot->length = 0;
    int status = make(walk, start, length, WORD_PLAIN, &made);
    if (status != OK || made.folded.length > CACHE_BYTES || made.term.length > CACHE_BYTES) {
        return status;
    }
    slot->note = 0;
    slot->stops = (uint16_t)made.stops;
    slot->length = (uint8_t)length;
    slot->folded_length = (uint8_t)made.folded.length;
    slot->term_length = (uint8_t)made.term.length;
    slot->language = (uint8_t)walk->language;
    memcpy(slot->raw, start, length);
    memcpy(slot->folded, made.folded.data, made.folded.length + 1);
    memcpy(slot->term, made.term.data, made.term.length + 1);
    return OK;
}

/* A plain word, by the cache where it is there. Without a language only its folded form counts. */
static int emit_plain(struct word_walk *walk, const char *start, const char *end)
{
    size_t length = (size_t)(end - start);
    struct cached_word *slot = slot_of(walk->reader, start, length);
    if (!slot) {
        return emit(walk, start, end, WORD_PLAIN);
    }
    bool known = slot->length == length && memcmp(slot->raw, start, length) == 0;
    if (!known || (walk->language != NO_LANGUAGE && slot->language != walk->language)) {
        int status = remember(slot, walk, start, length);
        if (status != OK || slot->length == 0) {
            return status == OK ? emit(walk, start, end, WORD_PLAIN) : status;
        }
    }
    struct word word = {.term = slot->term,
                        .length = slot->term_length,
                        .folded = slot->folded,
                        .folded_length = slot->folded_length,
                        .note = walk->language == NO_LANGUAGE ? NULL : &slot->note};
    return hand_out(walk, start, end, WORD_PLAIN, &word, slot->stops);
}

/* ---- words of spaced scripts ---- */

struct word_part {
    const char *start;
    const char *end;
};

/* Where a new part of an identifier begins: after an underscore, between a small and a capital
 * letter, and before the last of several capitals ("HTTPServer"). */
static size_t split(const char *start, const char *end, struct word_part *parts)
{
    size_t count = 0;
    const char *from = start;
    for (const char *at = start; at < end; at++) {
        bool gap = *at == '_';
        bool upper = *at >= 'A' && *at <= 'Z' && at > start;
        bool after_lower =
            upper && ((at[-1] >= 'a' && at[-1] <= 'z') || (unsigned char)at[-1] >= 128);
        bool last_capital =
            upper && at[-1] >= 'A' && at[-1] <= 'Z' && at + 1 < end && at[1] >= 'a' && at[1] <= 'z';
        if (!gap && !after_lower && !last_capital) {
            continue;
        }
        if (at > from && count + 1 < MOST_PARTS) {
            parts[count++] = (struct word_part){from, at};
            from = at + gap;
        } else if (gap && at == from) {
            from = at + 1;
        }
    }
    if (end > from) {
        parts[count++] = (struct word_part){from, end};
    }
    return count;
}

/* An identifier as one word: its bytes without the underscores. */
static int emit_whole(struct word_walk *walk, const char *start, const char *end)
{
    char joined[FOLD_BYTES];
    size_t length = 0;
    for (const char *at = start; at < end && length + 1 < sizeof joined; at++) {
        if (*at != '_') {
            joined[length++] = *at;
        }
    }
    struct fold_text term;
    fold_case(&term, joined, length);
    fold_accents(&term);
    struct word word = {
        .term = term.data,
        .length = term.length,
        .folded = term.data,
        .folded_length = term.length,
        .start = (size_t)(start - walk->text),
        .end = (size_t)(end - walk->text),
        .position = walk->position,
        .kind = WORD_WHOLE,
    };
    return term.length > 0 ? walk->take(walk->context, &word) : OK;
}

static int emit_spaced(struct word_walk *walk, const char *start, const char *end)
{
    struct word_part parts[MOST_PARTS];
    size_t count = split(start, end, parts);
    int status = count > 1 ? emit_whole(walk, start, end) : OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        status = emit_plain(walk, parts[i].start, parts[i].end);
        walk->position++;
    }
    return status;
}

static bool is_digit(const char *at, const char *start, const char *end)
{
    return at >= start && at < end && *at >= '0' && *at <= '9';
}

/* Whether the mark at `at` (a point or comma) stands inside a number. */
static bool joins_digits(const struct word_walk *walk, const char *at)
{
    return (*at == '.' || *at == ',') && is_digit(at - 1, walk->text, walk->end) &&
           is_digit(at + 1, walk->text, walk->end);
}

static bool is_vowel(uint32_t point)
{
    static const uint32_t VOWELS[] = {'a', 'e', 0x131, 'i', 'o', 0xF6, 'u', 0xFC};
    for (size_t i = 0; i < sizeof VOWELS / sizeof *VOWELS; i++) {
        if (point == VOWELS[i]) {
            return true;
        }
    }
    return false;
}

static bool begins_large(const struct word_walk *walk, const char *start)
{
    static const uint32_t BEYOND_ASCII[] = {0xC7, 0xD6, 0xDC, 0x11E, 0x130, 0x15E};
    uint32_t point = text_next(&start, walk->end);
    bool large = point >= 'A' && point <= 'Z';
    for (size_t i = 0; i < sizeof BEYOND_ASCII / sizeof *BEYOND_ASCII; i++) {
        large |= point == BEYOND_ASCII[i];
    }
    return large;
}

/* Where the Turkish suffix ends that stands at `next`, behind the name from `start` to `at`; NULL:
 * there is none. French and Italian have the same letters behind other words ("Quelqu'un"). A
 * suffix of one letter counts only behind a consonant, so that Hawai'i stays whole. */
static const char *after_turkish_suffix(const struct word_walk *walk, const char *start,
                                        const char *at, const char *next)
{
    const char *end = next;
    const char *last = at - 1;
    for (const char *beyond = next;
         beyond < walk->end && fold_class(text_next(&beyond, walk->end)) == FOLD_WORD;) {
        end = beyond;
    }
    while (last > start && ((unsigned char)*last & 0xC0) == 0x80) {
        last--;
    }
    size_t length = (size_t)(end - next);
    if (walk->language == LANGUAGE_FRENCH || walk->language == LANGUAGE_ITALIAN ||
        !begins_large(walk, start) ||
        (text_count(next, length) == 1 && is_vowel(text_next(&last, at)))) {
        return NULL;
    }
    return words_value(&turkish_suffixes, next, length) ? end : NULL;
}

/* An apostrophe inside a word: "don't" is one word, "l'école" is two, "John's" is John and
 * "Ankara'da" is Ankara. */
static const char *after_apostrophe(const struct word_walk *walk, const char *start, const char *at,
                                    const char *next, bool *ends)
{
    const char *letter = next;
    enum fold_class class = next < walk->end ? fold_class(text_next(&letter, walk->end)) : FOLD_GAP;
    size_t before = text_count(start, (size_t)(at - start));
    *ends = class != FOLD_WORD || before <= 2;
    if (class == FOLD_WORD && (*next == 's' || *next == 'S')) {
        const char *beyond = letter;
        if (letter >= walk->end || fold_class(text_next(&beyond, walk->end)) != FOLD_WORD) {
            *ends = true;
            return letter; /* the genitive is left out */
        }
    }
    const char *beyond_suffix = *ends ? NULL : after_turkish_suffix(walk, start, at, next);
    if (beyond_suffix) {
        *ends = true;
        return beyond_suffix;
    }
    return next;
}

static bool is_small(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Whether a word of small letters, but for the first one, ends here: most words do, and there is
 * nothing in them to look at. */
static bool ends_plainly(const struct word_walk *walk, const char *start, const char *at)
{
    return at > start + 1 &&
           (at == walk->end || *at == ' ' || *at == '\n' ||
            ((*at == '.' || *at == ',') && (at + 1 == walk->end || at[1] == ' ')));
}

/* Takes the word that begins at `start`; where the next look begins. */
static int take_spaced(struct word_walk *walk, const char *start, const char **resume)
{
    const char *at = start + (*start >= 'A' && *start <= 'Z');
    while (at < walk->end && is_small(*at)) {
        at++;
    }
    if (ends_plainly(walk, start, at)) {
        int status = emit_plain(walk, start, at);
        walk->position++;
        *resume = at;
        return status;
    }
    at = start;
    while (at < walk->end) {
        const char *next = at;
        uint32_t point = text_next(&next, walk->end);
        if (fold_is_apostrophe(point) && at > start) {
            bool ends;
            const char *after = after_apostrophe(walk, start, at, next, &ends);
            if (ends) {
                *resume = after;
                return emit_spaced(walk, start, at);
            }
        } else if (fold_class(point) != FOLD_WORD && point != '_' && !joins_digits(walk, at)) {
            break;
        }
        at = next;
    }
    *resume = at;
    return emit_spaced(walk, start, at);
}

/* ---- scripts without spaces ---- */

/* Marks that change the sound of the character before them; with some characters they are one. */
static bool is_voice_mark(uint32_t point)
{
    return point == 0x3099 || point == 0x309A || point == 0xFF9E || point == 0xFF9F;
}

/* Whether there is a character of such a script at `at`, and where it ends. */
static bool take_character(const struct word_walk *walk, const char *at, const char **end)
{
    *end = at;
    if (at >= walk->end || fold_class(text_next(end, walk->end)) != FOLD_UNSPACED) {
        return false;
    }
    const char *mark = *end;
    while (mark < walk->end && is_voice_mark(text_next(&mark, walk->end))) {
        *end = mark;
    }
    return true;
}

static int take_unspaced(struct word_walk *walk, const char *start, const char **resume)
{
    const char *at = start;
    const char *before = NULL;
    int status = OK;
    const char *next;
    while (status == OK && take_character(walk, at, &next)) {
        if (before) {
            status = emit(walk, before, next, WORD_PAIR);
            walk->position++;
        }
        const char *beyond;
        bool alone = !before && !take_character(walk, next, &beyond);
        if (status == OK) {
            status = emit(walk, at, next, alone ? WORD_PAIR : WORD_SINGLE);
        }
        before = at;
        at = next;
    }
    walk->position++;
    *resume = at;
    return status;
}

int words_each(struct word_reader *reader, const char *text, size_t length, enum language language,
               int (*take)(void *context, const struct word *word), void *context)
{
    struct word_walk walk = {reader, text, text + length, language, take, context, 0};
    const char *at = text;
    int status = OK;
    while (at < walk.end && status == OK) {
        const char *next = at;
        if (*at == ' ') {
            at++;
            continue;
        }
        uint32_t point = text_next(&next, walk.end);
        switch (fold_class(point)) {
        case FOLD_WORD:
            status = take_spaced(&walk, at, &next);
            break;
        case FOLD_UNSPACED:
            status = take_unspaced(&walk, at, &next);
            break;
        case FOLD_GAP:
            if (point == '_') {
                status = take_spaced(&walk, at, &next);
            }
            break;
        }
        at = next;
    }
    return status;
}

/* ---- which language ---- */

struct guess {
    unsigned int words;
    unsigned int hits[LANGUAGE_COUNT];
};

static int count_languages(void *context, const struct word *word)
{
    struct guess *guess = context;
    uint32_t languages =
        word->kind == WORD_PLAIN ? words_value(&stop_words, word->folded, word->folded_length) : 0;
    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        guess->hits[i] += languages >> i & 1u;
    }
    return ++guess->words < GUESS_WORDS ? OK : ERR_LIMIT;
}

/* Scripts that belong to one of our languages. */
static bool script_language(uint32_t point, enum language *language)
{
    static const struct {
        uint32_t first, last;
        enum language language;
    } SCRIPTS[] = {
        {0x0370, 0x03FF, LANGUAGE_GREEK},
        {0x0400, 0x052F, LANGUAGE_RUSSIAN},
        {0x0600, 0x06FF, LANGUAGE_ARABIC},
    };
    for (size_t i = 0; i < sizeof SCRIPTS / sizeof *SCRIPTS; i++) {
        if (point >= SCRIPTS[i].first && point <= SCRIPTS[i].last) {
            *language = SCRIPTS[i].language;
            return true;
        }
    }
    return false;
}

enum language words_guess(struct word_reader *reader, const char *text, size_t length)
{
    enum language language = LANGUAGE_ENGLISH;
    size_t foreign = 0;
    size_t latin = 0;
    const char *end = text + length;
    size_t seen = 0;
    for (const char *at = text; at < end && seen < GUESS_WORDS; seen++) {
        uint32_t point = (unsigned char)*at < 128 ? (unsigned char)*at++ : text_next(&at, end);
        if (point < 128) {
            latin += (point | 32u) >= 'a' && (point | 32u) <= 'z';
            continue;
        }
        enum language other;
        foreign += script_language(point, &other);
        language = foreign == 1 && script_language(point, &other) ? other : language;
    }
    if (foreign > latin) {
        return language;
    }
    struct guess guess = {0};
    words_each(reader, text, length, NO_LANGUAGE, count_languages, &guess);
    language = LANGUAGE_ENGLISH;
    for (size_t i = 0; i < LANGUAGE_COUNT; i++) {
        /* English unless another is clearly ahead: short texts hold few such words. */
        if (guess.hits[i] > guess.hits[language] && guess.hits[i] >= 2) {
            language = (enum language)i;
        }
    }
    return language;
}
