/* The words of an OpenAI-compatible endpoint for embeddings: what is sent, and what came back,
 * checked to the last number. Pure. */
#ifndef FORAGE_MEANING_ENDPOINT_H
#define FORAGE_MEANING_ENDPOINT_H

#include "core/status.h"
#include "text/slice.h"

#include <stddef.h>
#include <stdint.h>

/* The request for the vectors of the texts, as JSON; NULL without memory. */
const char *endpoint_body(struct arena *arena, const char *model, const struct slice *texts,
                          size_t count, size_t *length);
/* Reads the vectors of `count` texts: `dimensions` numbers each, all of length 1, in the order of
 * the texts whatever the order of the answer, and the tokens that it says it cost (0: it does not).
 * OK; ERR_INVALID with words that continue "the answer
 * ..." in `problem`; ERR_NOMEM. */
MUST_CHECK int endpoint_read(struct arena *arena, const char *body, size_t length, size_t count,
                             float **numbers, size_t *dimensions, int64_t *tokens,
                             const char **problem);

#endif
