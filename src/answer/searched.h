/* Answers by any model, with our own search behind it: one search, the passages of a few pages, one
 * question to the model, and each of its sentences held against what was read. What comes is a
 * reply in parts with annotations, as of a model that searches by itself, so that citations are
 * made of both by the same code. */
#ifndef FORAGE_ANSWER_SEARCHED_H
#define FORAGE_ANSWER_SEARCHED_H

#include "answer/question.h"
#include "call/call.h"
#include "model/model.h"

struct searched_question {
    const char *text;
    const char *country; /* two capital letters; NULL: not said */
    struct prompt_wishes wishes;
    int64_t max_tokens;
};

/* How the answer came to be, besides the reply. */
struct searched_account {
    size_t left_out;                 /* sentences that no page supports */
    bool shortened;                  /* there were more than fit */
    const struct evidence *evidence; /* the pages that were read */
};

/* OK with a reply that has one part and an annotation for each of its sentences at least, or none
 * where the model refused; its usage is that of all requests; ERR_FAILED after call_fail() with the
 * codes of answer_ask(), also those of the search; a status of the call.
 */
MUST_CHECK int searched_ask(struct call *call, struct model *model,
                            const struct searched_question *question, struct model_reply *reply,
                            struct searched_account *account);

#endif
