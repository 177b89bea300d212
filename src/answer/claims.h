/* What a model says in answer to a question, as claims: sentences that each lean on a quote of a
 * source, by number. Here they are read from its words, held against the pages that were read, and
 * those whose quote is there become the text of an answer with a marker behind each.
 *
 * The words are untrusted: a claim without its quote, with a number that is none, or with an
 * address that its quote does not have, is left out. Pure; everything lives in the arena. */
#ifndef FORAGE_ANSWER_CLAIMS_H
#define FORAGE_ANSWER_CLAIMS_H

#include "evidence/evidence.h"
#include "model/model.h"
#include "research/own/sources.h"

#define CLAIMS_MOST  20
#define CLAIMS_CHARS 800 /* of all sentences, their markers not counted */

struct claim {
    const char *sentence, *quote;
    int64_t source;
};

/* The claims in what a model said: {"notes": [{claim, quote, source}]} with or without prose around
 * it, lines of the plain format (research/own/plain.h), or prose with [1] behind its sentences,
 * where the words between quotation marks are the quote, or else the sentence itself. Returns how
 * many there are; `none` says that the model says so itself, with an empty list. */
size_t claims_read(struct arena *arena, const char *words, struct claim claims[CLAIMS_MOST],
                   bool *none);

struct claims_text {
    struct model_part part; /* the text, and an annotation for each marker */
    size_t kept, left_out;  /* claims */
    bool cut;               /* there was more than CLAIMS_CHARS */
};

/* Notes the claims, and writes those that hold. OK or ERR_NOMEM; `kept` may be 0, and then there is
 * no text. */
MUST_CHECK int claims_write(struct arena *arena, struct evidence *evidence,
                            const struct sources *sources, const struct claim *claims, size_t count,
                            struct claims_text *text);

#endif
