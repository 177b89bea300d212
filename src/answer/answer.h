/* Answers: a question goes to a model that searches the web, or to any model with our own search
 * behind it, and comes back as a short text with its sources. What search_web and `forage answer`
 * call. */
#ifndef FORAGE_ANSWER_ANSWER_H
#define FORAGE_ANSWER_ANSWER_H

#include "answer/citations.h"
#include "call/call.h"
#include "research/follow.h"
#include "text/json.h"

struct answer_request {
    const char *query;
    int max_results;
    int freshness_hours;         /* 0: any age */
    const char *start_date;      /* the first day of what is wanted, YYYY-MM-DD; NULL: any */
    const char *end_date;        /* and the last */
    const char *region;          /* an ISO country code; NULL: anywhere */
    bool include_answer;         /* the text too, not only its sources */
    size_t budget;               /* characters that the whole result may have */
    const struct follow *follow; /* that the question follows on; or NULL */
};

struct answer {
    struct cited_text cited;
    const char *provider;     /* "gpt-5-nano-web-search" */
    const char *responded_at; /* ISO 8601 */
    const char *incomplete;   /* why the text ends early; NULL: it does not */
    bool truncated;           /* cut to fit the budget */
    bool include_answer;
    bool has_usage;
    int64_t input_tokens, output_tokens;
    int freshness_hours;
    size_t unsupported; /* sentences of the model that no page supports, and which are left out */
    bool shortened;     /* it said more than an answer has room for */
    const char *understood_as; /* of a question that follows on another: so that it stands alone */
    const struct evidence *evidence; /* the pages that were read; NULL: the model read by itself */
};

/* The model that answers with our own search behind it, as "provider:name": FORAGE_ANSWER_MODEL
 * where it names a provider; where nothing says who answers, FORAGE_MODEL. NULL: OpenAI's model
 * answers, and searches by itself. */
const char *answer_own_model(void);
/* Whether a question can be answered; what to set if not. */
bool answer_ready(char *lacks, size_t size);

/* Appends what besides a request decides its answer: the version of forage and its settings. */
void answer_settings(struct buf *out);

/* OK; ERR_FAILED after call_fail() with CONFIG, VALIDATION, AUTH, RATE_LIMIT, PROVIDER or PARSE; a
 * status of call_wait(). Everything lives in the call's arena. Reports what it used to the call. */
MUST_CHECK int answer_ask(struct call *call, const struct answer_request *request,
                          struct answer *answer);

/* The result as JSON; NULL without memory. */
yyjson_mut_val *answer_describe(const struct answer *answer, yyjson_mut_doc *doc);

#endif
