/* What tokens.c and words.c share: a text as it is read, and what characters are. */
#ifndef FORAGE_EVIDENCE_READING_H
#define FORAGE_EVIDENCE_READING_H

#include "evidence/tokens.h"
#include "index/fold.h"
#include "text/text.h"

#include <utf8proc.h>

#define SOFT_HYPHEN 0x00ADu
#define LOWERED     0x2080u /* the lowered zero, which the other digits follow */

struct token_reader {
    struct arena *arena;
    const char *text;
    size_t length;
    size_t at;
    size_t no_target_before; /* here a target was looked for in vain */
    size_t capacity;
    size_t depth; /* of quotation, as this line's ">" say */
    struct tokens *out;
    bool is_quote;  /* this is what somebody says that a page says */
    bool open[2];   /* quotation marks, single and double ones, that nothing has closed yet */
    bool begins;    /* the next token begins an item, a row or a paragraph */
    bool after_end; /* or a sentence, if it looks like one */
    bool heading;   /* this line is one: the next begins a paragraph */
    unsigned apart; /* what parts the next token from the one before: TOKEN_BREAK, TOKEN_PAUSE */
    int status;
};

static inline uint32_t point_at(const struct token_reader *reader, size_t at, size_t *after)
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

static inline char byte_at(const struct token_reader *reader, size_t at)
{
    return at < reader->length ? reader->text[at] : '\0';
}

static inline bool is_digit(uint32_t point)
{
    if (point < 128) {
        return point >= '0' && point <= '9';
    }
    return utf8proc_category((utf8proc_int32_t)point) == UTF8PROC_CATEGORY_ND;
}

/* Digits that stand higher than others, and fractions: they begin a token of their own, so that ten
 * to the sixth is not a hundred and six. */
static inline bool is_raised(uint32_t point)
{
    return point == 0xB2 || point == 0xB3 || point == 0xB9 || (point >= 0x2070 && point <= 0x207F);
}

/* Those that stand lower are part of the word before them, but not of a number: "101₂". */
static inline bool is_lowered(uint32_t point)
{
    return point >= LOWERED && point <= 0x209C;
}

static inline bool is_fraction(uint32_t point)
{
    return (point >= 0xBC && point <= 0xBE) || (point >= 0x2150 && point <= 0x215F) ||
           point == 0x2189;
}

/* What no reader sees: joiners, marks of direction, selectors of variants, the line that stretches
 * an Arabic word. */
static inline bool is_unseen(uint32_t point)
{
    return point == SOFT_HYPHEN || point == 0x034F || point == 0x0640 || point == 0x061C ||
           (point >= 0x200B && point <= 0x200F) || (point >= 0x202A && point <= 0x202E) ||
           (point >= 0x2060 && point <= 0x206F) || (point >= 0xFE00 && point <= 0xFE0F) ||
           point == 0xFEFF || (point >= 0xE0000 && point <= 0xE0FFF);
}

static inline bool is_word(uint32_t point)
{
    return fold_class(point) == FOLD_WORD && !is_raised(point) && !is_lowered(point) &&
           !is_fraction(point) && !fold_is_apostrophe(point);
}

static inline bool is_blank(uint32_t point)
{
    return point <= ' ' || point == 0x7F || point == 0x85 || point == 0xA0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 ||
           point == 0x202F || point == 0x205F || point == 0x3000;
}

/* Those that may stand inside a word. */
static inline bool is_hyphen(uint32_t point)
{
    return point == '-' || (point >= 0x2010 && point <= 0x2013);
}

static inline uint64_t hash_point(uint64_t hash, uint32_t point)
{
    hash = (hash ^ point) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* Adds the token from `start` to where the reader is. */
void reading_put(struct token_reader *reader, uint64_t hash, size_t start, unsigned flags);

/* Reads a word or a number, which begins where the reader is; `sign`: it is a number below zero
 * from `start` on, and its sign is taken. */
void reading_word(struct token_reader *reader, size_t start, bool sign);
/* A character of a script that does not separate words, with its marks. */
void reading_single(struct token_reader *reader, uint32_t point, size_t after);
/* A raised digit is "^" and the digit, a lowered one that is of no word "_" and the digit; a
 * fraction is its two numbers and a stroke. */
void reading_raised(struct token_reader *reader, uint32_t point, size_t after);
/* "<sup>3</sup>" where no exponent can stand, or "<sup>[3]</sup>": behind it; else 0. */
size_t reading_raised_note(const struct token_reader *reader);

#endif
