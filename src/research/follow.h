/* Questions that follow on earlier ones. What an answer leaves for the next question is one JSON
 * text: the question so that it stands alone, the answer, the notes, the pages that were read, and
 * the questions before that. Whoever answers the next question gets it as a `struct follow`.
 *
 * Everything in it is made of pages of strangers and a model's words: material, between tags. */
#ifndef FORAGE_RESEARCH_FOLLOW_H
#define FORAGE_RESEARCH_FOLLOW_H

#include "core/buf.h"
#include "evidence/evidence.h"
#include "model/model.h"
#include "research/own/sources.h"

#define FOLLOW_TURNS 4 /* questions before the last one that are brought along */

struct follow_turn {
    const char *question, *answer;
};

struct follow {
    struct follow_turn turns[FOLLOW_TURNS + 1]; /* the last is what the question follows on */
    size_t turn_count;
    size_t depth;      /* how many questions there were before, in all */
    yyjson_val *notes; /* [{claim, quote, url}] */
    yyjson_val *pages; /* [{url, title, read_ms, text}] */
};

/* Reads what an earlier answer left; it lives in the arena. OK, ERR_INVALID or ERR_NOMEM. */
MUST_CHECK int follow_read(struct arena *arena, const char *text, struct follow *follow);
/* Writes what an answer leaves, in the arena: `before` is what it followed on itself, or NULL;
 * `evidence` may be NULL. NULL without memory. */
const char *follow_write(struct arena *arena, const struct follow *before, const char *question,
                         const char *answer, const struct evidence *evidence);

/* What was said before, for a model: questions and answers, and with `notes` what was noted. */
void follow_put(struct buf *out, const struct follow *follow, bool notes);

/* The request that makes a question stand alone; the messages live in the arena. OK or ERR_NOMEM.
 */
MUST_CHECK int follow_request(struct arena *arena, const struct follow *follow, const char *words,
                              const char *tag, struct model_request *request);
/* The question that a model made of it; where it made none, the words with the earlier question
 * behind them. NULL without memory. */
const char *follow_question(struct arena *arena, const struct follow *follow, const char *words,
                            const struct model_reply *reply);

/* Takes the pages that are fresh, as they were read, into the evidence: those of sources that are
 * known, and others while there are fewer than `most` sources. `now_ms` since 1970 is when the
 * question was asked. OK or ERR_NOMEM. */
MUST_CHECK int follow_take_pages(struct arena *arena, const struct follow *follow, int64_t now_ms,
                                 struct evidence *evidence, struct sources *sources, size_t most);

#endif
