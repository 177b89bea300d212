/* What the calls of a program share about models: a provider that failed several times in a row
 * rests, and what a server was seen to refuse is not tried again by the next call. */
#ifndef FORAGE_MODEL_SHARED_H
#define FORAGE_MODEL_SHARED_H

#include "guard/breaker.h"
#include "model/dialect.h"

/* `models` may be NULL for all of these: then nothing is shared. */

/* Tells the model what was learned of it before, within TIME_REPLY_LESSON_MS: a server may be
 * replaced by one that takes more. */
void models_recall(struct models *models, struct model *model, int64_t now_ms);
/* Keeps what a server was seen to refuse, and the most tokens of a reply (0: not known). */
void models_learn(struct models *models, const struct model *model, unsigned refused,
                  int64_t most_tokens, int64_t now_ms);
/* OK, then models_report() must follow; ERR_BUSY: it rests for so long. */
MUST_CHECK int models_admit(struct models *models, const struct model *model, int64_t *wait_ms);
/* `trouble`: what went wrong, in words; NULL: nothing. */
void models_report(struct models *models, const struct model *model, enum breaker_result result,
                   const char *trouble);

#endif
