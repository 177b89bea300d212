/* The words of a model: a text taken apart into the pieces that the model was trained on, as the
 * "uncased" models of the BERT family do. Letters are lower-cased and lose their accents; Chinese
 * characters and punctuation stand alone; a word that the vocabulary lacks becomes its longest
 * beginning that is there, and so on.
 *
 * A text cannot name the marks of the model: "[SEP]" in a text is three pieces. */
#ifndef FORAGE_MEANING_TOKENIZER_H
#define FORAGE_MEANING_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The pieces, in the order of their bytes; a token is a place in it. Those inside a word begin with
 * "##". */
struct tokenizer {
    const char *bytes;
    const uint32_t *ends; /* of each piece in `bytes` */
    size_t count;
    size_t longest; /* in bytes */
    uint32_t begin, end, unknown;
};

/* False: the marks that every text needs are not among the pieces. */
bool tokenizer_start(struct tokenizer *tokenizer, const char *bytes, const uint32_t *ends,
                     size_t count);

/* Writes the tokens of `prefix` and a text, with a mark before and behind, `most` (at least 2) of
 * them; what is beyond is left out. Returns how many. */
size_t tokenizer_read(const struct tokenizer *tokenizer, const char *prefix, const char *text,
                      size_t length, uint32_t *tokens, size_t most);

#endif
