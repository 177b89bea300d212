/* Answers by any model, with our own search behind it: one search, the passages of a few pages, one
 * question to the model, and each of its sentences held against what was read. What comes is a
 * response as the Responses API gives one, so that citations are made of both by the same code. */
#ifndef FORAGE_ANSWER_SEARCHED_H
#define FORAGE_ANSWER_SEARCHED_H

#include "answer/question.h"
#include "answer/response.h"
#include "call/call.h"
#include "model/model.h"

struct searched_question {
    const char *text;
    const char *country; /* two capital letters; NULL: not said */
    struct prompt_wishes wishes;
    int64_t max_tokens;
};

/* How the answer came to be, besides the response. */
struct searched_account {
    size_t left_out; /* sentences that no page supports */
    bool shortened;  /* there were more than fit */
    bool has_usage;  /* the model's server counted */
    int64_t input_tokens, output_tokens;
    const struct evidence *evidence; /* the pages that were read */
};

/* OK with a response that has a text and an annotation for each of its sentences at least;
 * ERR_FAILED after call_fail() with the codes of answer_ask(), also those of the search; a status
 * of the call.
 */
MUST_CHECK int searched_ask(struct call *call, struct model *model,
                            const struct searched_question *question, struct response *response,
                            struct searched_account *account);

#endif
