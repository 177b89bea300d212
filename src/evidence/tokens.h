/* A text as the tokens that two spellings of one sentence have in common: words and numbers in one
 * case and one width, without what only a layout or Markdown adds. Quotation marks, dashes and the
 * like are tokens too, which whoever compares may pass over. */
#ifndef FORAGE_EVIDENCE_TOKENS_H
#define FORAGE_EVIDENCE_TOKENS_H

#include "core/arena.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_flag {
    TOKEN_MARK = 1,    /* punctuation, and numbers of footnotes */
    TOKEN_NUMBER = 2,  /* holds a digit */
    TOKEN_CAPITAL = 4, /* holds a capital letter */
    TOKEN_BARE = 8,    /* of a script without capitals, where a name looks like any word */
    TOKEN_SYMBOL = 16, /* %, $, +, <: part of what a number says */
    TOKEN_BEGINS = 32, /* the first of a sentence, an item or a row */
    TOKEN_BREAK = 64,  /* the first of a cell, a paragraph or an item, or behind a stop */
    TOKEN_PAUSE = 128, /* behind a comma */
};

struct token {
    uint64_t hash;  /* of its folded points */
    uint32_t start; /* in bytes */
    uint32_t length : 24, flags : 8;
};

#define TOKEN_SEAM 0x1E /* the character of EVIDENCE_SEAM */

struct tokens {
    struct token *items;
    size_t count;
};

/* The tokens of a text in an arena. A seam is one that is no other text's. A quote is what somebody
 * says that a page says: of it only what carries no words is passed over, so that "was [^not]
 * guilty" is not "was guilty". OK, ERR_NOMEM, or ERR_LIMIT: it is too long. */
MUST_CHECK int tokens_read(struct arena *arena, const char *text, size_t length, bool is_quote,
                           struct tokens *tokens);
/* Takes out what is a mark, in place. */
void tokens_drop_marks(struct tokens *tokens);

/* What an exchange of a word does to a claim (data/claim-words.txt); bits. */
enum claim_change {
    CLAIM_NEGATION = 1, /* not, never, without */
    CLAIM_TURN = 2,     /* more, before, only: another one says something else */
    CLAIM_LIGHT = 4,    /* the, of: with or without it, it is the same */
};

/* The classes of a token's word, 0 for most; `text` is the one that it was read from. */
unsigned token_claims(const char *text, const struct token *token);
/* Whether the token names something: a capital that does not come from its place. */
bool token_names(const char *text, const struct token *token);
/* Whether it is a word that stands in any sentence: the, about. */
bool token_is_common(const char *text, const struct token *token);

#endif
