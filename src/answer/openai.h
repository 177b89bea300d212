/* The client of OpenAI's Responses API: one question, answered by a model that searches the web.
 *
 * A try has its own time limit. HTTP 429, 500, 502 and 503 are tried twice more, after a pause with
 * some chance in it or after the one that the API asks for; an exhausted quota is not. A 400 that
 * names a parameter which we sent by choice is tried once more without it. An answer that ended
 * before there was any text is asked for once more with twice the tokens. Nothing else is tried
 * again. */
#ifndef FORAGE_ANSWER_OPENAI_H
#define FORAGE_ANSWER_OPENAI_H

#include "answer/response.h"
#include "call/call.h"

struct openai_settings {
    const char *base_url; /* https://api.openai.com/v1 */
    const char *key;      /* NULL: none is sent */
    const char *model;
    const char *temperature; /* a number as JSON; NULL: the model's own */
    int64_t timeout_ms;      /* of one try */
    int64_t max_tokens;      /* of the answer, the model's thinking included */
};

struct openai_question {
    const char *instructions;
    const char *input;
    const char *country; /* two capital letters; NULL: not said */
};

/* What is known however it ended. */
struct openai_account {
    int tries;
    int64_t input_tokens, output_tokens; /* over all tries; 0: nothing was reported */
    bool unavailable; /* it failed in a way that passes: 5xx, 429, network, time, garbage */
};

/* OK with a response that has a text and a search behind it; ERR_BUSY where the budget has nothing
 * left for it, as charge_open() says; ERR_FAILED after call_fail() with
 * AUTH, RATE_LIMIT, PROVIDER, PARSE or VALIDATION; a status of call_wait(). `account` is always
 * filled. */
MUST_CHECK int openai_ask(struct call *call, const struct openai_settings *settings,
                          const struct openai_question *question, struct response *response,
                          struct openai_account *account);

/* ---- the request (openai_request.c) ---- */

/* Parameters that an answer can do without. */
enum openai_choice {
    OPENAI_TEMPERATURE = 1,
    OPENAI_REASONING = 2,
    OPENAI_INCLUDE = 4,
    OPENAI_STORE = 8,
    OPENAI_TOOL_CHOICE = 16,
    OPENAI_MAX_TOKENS = 32,
    OPENAI_LOCATION = 64,
    OPENAI_ALL = 127,
};

/* The request as JSON text, with those of the `choices`; NULL without memory. */
const char *openai_body(struct arena *arena, const struct openai_settings *settings,
                        const struct openai_question *question, unsigned choices,
                        int64_t max_tokens, size_t *length);
/* The choice that an error names: "temperature", "reasoning.effort", "tools[0].user_location"; 0
 * for none. */
unsigned openai_choice(const char *param);
/* The pause before a retry, the first of which is 0: between half and all of a time that doubles,
 * by chance, so that many callers do not come back at once. */
int64_t openai_backoff_ms(int retry);

#endif
