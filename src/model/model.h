/* Asking a language model, whichever it is: one request, one reply. Four dialects stand behind it
 * (OpenAI's Responses and chat completions, Anthropic's Messages, Gemini's generateContent), and
 * what each server does differently; a caller sees none of that.
 *
 * The conversation belongs to the caller, who hands all of it over with each request. A reply that
 * is handed back (MODEL_ASSISTANT) goes out as it came, the model's reasoning included, which
 * several services insist on.
 *
 *   struct model *model;
 *   if (model_choose(arena, NULL, &model, problem, sizeof problem) == OK) {
 *       status = model_ask(call, model, &request, &reply);
 *   }
 */
#ifndef FORAGE_MODEL_MODEL_H
#define FORAGE_MODEL_MODEL_H

#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct upstreams; /* guard/breaker.h */

/* A provider, a name, an address, a key, and what it was learned to refuse. Threads may share one.
 */
struct model;

/* What models share in a program: which of them rest, and what was learned of each. */
struct models;
struct models *models_new(struct upstreams *upstreams); /* NULL without memory */
struct models *models_free(struct models *models);

/* The model that "provider:name" means; a name may hold colons. NULL: the one of FORAGE_MODEL. A
 * text without a provider is a name at the provider of FORAGE_MODEL. OK; ERR_NOTFOUND: nothing is
 * configured; ERR_INVALID with words in `problem`; ERR_NOMEM. */
MUST_CHECK int model_choose(struct arena *arena, const char *text, struct model **model,
                            char *problem, size_t size);
/* OpenAI's model of that name with OpenAI's own search of the web (model_search), at
 * OPENAI_BASE_URL with OPENAI_API_KEY, whatever FORAGE_MODEL and its variables say. As
 * model_choose(). */
MUST_CHECK int model_choose_searching(struct arena *arena, const char *name, struct model **model,
                                      char *problem, size_t size);
/* A model whose provider has a key here, for where nothing names one: "openai:gpt-5-nano". NULL:
 * there is no such key. */
const char *model_of_keys(void);
/* Whether a text begins with the name of a provider and a colon. A name that holds other colons, as
 * those of models that were trained further do ("ft:gpt-5-nano:acme"), does not. */
bool model_names_provider(const char *text);
const char *model_label(const struct model *model);   /* "ollama:qwen3:8b" */
const char *model_address(const struct model *model); /* where it is asked, without a path */
/* The variable that its key came from; NULL: it has none. */
const char *model_key_variable(const struct model *model);
/* The name that its usage is reported under, and that prices know it by. */
const char *model_priced_as(const struct model *model);
/* What is worth knowing of its provider before one relies on it; NULL: nothing. */
const char *model_caution(const struct model *model);
/* How many tokens a request and its reply may have together, as FORAGE_MODEL_CONTEXT says; 0: not
 * said. */
int64_t model_context(void);

struct model_tool {
    const char *name, *description;
    const char *schema; /* of its arguments, JSON text */
};

/* A tool that the model wants used. */
struct model_use {
    const char *id, *name;
    const char *arguments; /* JSON text of an object; NULL: what came was none */
    const char *raw;       /* what came */
    bool unnamed;          /* the id is ours: the model gave none */
};

struct model_usage {
    int64_t requests;
    int64_t input_tokens; /* cached ones included */
    int64_t cached_tokens;
    int64_t stored_tokens; /* the same: written to the cache at a price of its own */
    int64_t output_tokens; /* reasoning included */
    int64_t reasoning_tokens;
    bool estimated; /* the server did not count: CHARGE_BYTES_OF_TOKEN */
};

/* A url_citation. Positions are in the unit of whoever wrote them; negative: not said. */
struct model_annotation {
    const char *url;
    const char *title; /* "" when there is none */
    int64_t start, end;
    const char *published; /* as whoever found it says; NULL: nobody does */
};

/* One of the texts that a reply consists of, as it came. */
struct model_part {
    const char *text; /* valid UTF-8 without NUL */
    size_t length;
    bool begins_message;
    struct model_annotation *annotations;
    size_t annotation_count;
};

enum model_stop {
    MODEL_ENDED,
    MODEL_USES,    /* there are uses to answer */
    MODEL_CUT,     /* at max_tokens, or at the end of the context */
    MODEL_REFUSED, /* `text` says why, or nothing */
};

struct model_reply {
    const char *text; /* valid UTF-8 without NUL; "" where there is none */
    const struct model_use *uses;
    size_t use_count;
    enum model_stop stop;
    struct model_usage usage; /* grows with every request, also of a reply that is used again */
    const char *echo;         /* the turn in its dialect, with its reasoning; JSON text */
    /* Of the text, from OpenAI's Responses only; a refusal is none. */
    const struct model_part *parts;
    size_t part_count;
    size_t searches; /* of the server's own, that were not reported as failed */
    size_t failed_searches;
};

enum model_role { MODEL_USER, MODEL_ASSISTANT, MODEL_RESULT };

struct model_message {
    enum model_role role;
    const char *text;                /* of the user, or of a tool's result */
    const struct model_reply *reply; /* of MODEL_ASSISTANT */
    const struct model_use *use;     /* of MODEL_RESULT: what it answers */
    bool failed;                     /* the same: it is an error */
};

/* The server's own search of the web, on which the model has to lean where the server can insist on
 * it. It is paid even where its answer is lost, so it is asked for again only after HTTP 429, 500,
 * 502 and 503. */
struct model_search {
    const char *country;     /* of whoever asks: two capital letters; NULL: not said */
    const char *temperature; /* of the answer, a number as JSON; NULL: the model's own */
};

struct model_request {
    const char *system; /* may be NULL */
    const struct model_message *messages;
    size_t message_count;
    const struct model_tool *tools; /* also where the messages hold uses: Anthropic insists on it */
    size_t tool_count;
    bool must_use; /* one of the tools, where the server can insist on it */
    /* The only message is a question that the model searches for; NULL: it cannot. */
    const struct model_search *search;
    const char *shape_name; /* letters, digits, hyphens, underscores */
    const char *shape;      /* a JSON schema that the answer has to have, or NULL; where the server
                               cannot hold the model to it, only the prompt can */
    int64_t max_tokens;     /* 0: FORAGE_MODEL_MAX_TOKENS. Never more than that where it is set, nor
                               than a quarter of FORAGE_MODEL_CONTEXT */
    int64_t most_in_all;    /* tokens that all tries together may take, in and out; 0: no bound. The
                               caller has admitted the first try, this admits further ones */
    int64_t until_ms;       /* of the monotonic clock: then it is over, with ERR_DEADLINE; 0: with
                               the call */
    const char *time_limit; /* the variable that says how long one try may take, which is not
                               repeated then; NULL: as long as bytes come within
                               FORAGE_MODEL_TIMEOUT */
};

/* OK; ERR_UNSUPPORTED: the server takes no tools, or has no search; ERR_LIMIT: the context is too
 * small for the request; ERR_FAILED after call_fail() with AUTH, RATE_LIMIT, PROVIDER, PARSE,
 * VALIDATION (the country) or MODEL_NOT_FOUND; a status of the call. The first two set no error:
 * the caller may ask in another way. Passing failures are tried twice more. Usage is reported to
 * the call, of tries that failed too, and added to reply->usage, which the caller clears. */
MUST_CHECK int model_ask(struct call *call, struct model *model,
                         const struct model_request *request, struct model_reply *reply);

#endif
