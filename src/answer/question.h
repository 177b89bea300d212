/* What is asked: guardrails that refuse some questions, and the prompt that goes with the others.
 */
#ifndef FORAGE_ANSWER_QUESTION_H
#define FORAGE_ANSWER_QUESTION_H

#include "core/arena.h"
#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- guardrails ---- */

/* An agent that has a special server for something should ask that one. A query that looks like it
 * is refused, with the name of the server.
 *
 * Rules are data (data/guardrails-*.json, or a file of the operator's own in the same form):
 *
 *   {"rules": [{
 *     "name": "prediction-markets",       what the rule is called in errors
 *     "server": "polymarket",             the server to use instead
 *     "about": "odds of markets",         what it is for
 *     "match": "words",                   whole words (the default); "text": any part of the query
 *     "any": ["prediction market*"],      one of these is there,
 *     "with": ["odds", "price*"],         and, where given, one of these beside it,
 *     "unless": ["history", "what is"]    and none of these
 *   }]}
 *
 * A phrase is one or more words in a row; a * at the end of a word stands for any ending. Letters
 * are compared without their case. "comment" may stand anywhere.
 *
 * A set is not changed once it was read, and may be shared between threads. */
struct guardrails;

/* What refused a query; the texts belong to the set. */
struct guardrail_refusal {
    const char *rule, *server, *about; /* `about` may be NULL */
    const char *phrase, *beside;       /* that matched; `beside` may be NULL */
};

/* `setting` is "balanced", "strict", "off", or the path of a file. NULL with the reason in
 * `problem`. */
struct guardrails *guardrails_new(const char *setting, char *problem, size_t size);
/* Reads the rules that are built in, which most programs are never asked about. Before
 * guardrails_refuse(); from any thread. OK or ERR_NOMEM. */
MUST_CHECK int guardrails_read(struct guardrails *guardrails);
/* A set from text. */
struct guardrails *guardrails_parse(const char *json, size_t length, char *problem, size_t size);
struct guardrails *guardrails_free(struct guardrails *guardrails);

/* Whether a query is refused; `refusal` then says why. */
bool guardrails_refuse(const struct guardrails *guardrails, const char *query,
                       struct guardrail_refusal *refusal);

/* ---- the prompt ---- */

/* prompts/answer.md with its blanks filled in. The same wishes at the same time give the same
 * words. */
struct prompt_wishes {
    int max_results;
    int freshness_hours;         /* 0: any age */
    const char *start_date;      /* the first day of what is wanted; NULL: any */
    const char *end_date;        /* and the last */
    const char *country;         /* its name; NULL: anywhere */
    int64_t now;                 /* seconds since 1970 */
    const struct follow *follow; /* what the question follows on; or NULL */
};

/* NULL without memory. */
const char *prompt_write(struct arena *arena, const struct prompt_wishes *wishes);
/* The same of prompts/answer-sources.md, for a model that is shown what was found, between tags; or
 * of prompts/answer-plain.md, which asks for lines instead of JSON. */
const char *prompt_write_sources(struct arena *arena, const struct prompt_wishes *wishes,
                                 const char *tag, bool plain);

#endif
