/* What a word does to a claim: whether it turns one around, names something, or stands in any
 * sentence. The words are in data/claim-words.txt. */
#include "evidence/tokens.h"
#include "index/fold.h"
#include "tables.h"
#include "text/word_table.h"

#include <string.h>

#define MOST_WORD 192 /* bytes of a word that is looked up in a table */

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
