/* What the Responses API sends, understood: the texts of its messages with their annotations as
 * they came, the searches behind them, what it cost, and why there is nothing when there is
 * nothing. Accepted are the object of the API, a bare array of output items, and the object as SDKs
 * hand it on, with `output_text`. Items that are not known are passed over.
 *
 * Pure; everything lives in the arena. */
#ifndef FORAGE_ANSWER_RESPONSE_H
#define FORAGE_ANSWER_RESPONSE_H

#include "core/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A url_citation. Positions are in the unit of whoever wrote them; negative: not said. */
struct annotation {
    const char *url;
    const char *title; /* "" when there is none */
    int64_t start, end;
    const char *published; /* as whoever found it says; NULL: nobody does */
};

/* One output_text. */
struct response_part {
    const char *text; /* valid UTF-8 without NUL */
    size_t length;
    bool begins_message;
    struct annotation *annotations;
    size_t annotation_count;
};

enum response_state { RESPONSE_COMPLETED, RESPONSE_INCOMPLETE, RESPONSE_FAILED, RESPONSE_OTHER };

struct response {
    enum response_state state;
    const char *reason;     /* of RESPONSE_INCOMPLETE, or the state's own word; may be NULL */
    const char *error_code; /* of RESPONSE_FAILED; may be NULL */
    const char *error_message;
    const char *refusal; /* what a model says that will not answer; NULL: nothing */
    struct response_part *parts;
    size_t part_count;
    size_t text_length;     /* of all parts */
    size_t annotation_room; /* for how many more there is room */
    size_t searches;        /* that were not reported as failed */
    size_t failed_searches;
    int64_t cached_tokens; /* of the input */
    bool has_usage;
    int64_t input_tokens, output_tokens;
};

/* OK; ERR_INVALID with `problem` set to words that continue "the answer ..."; ERR_NOMEM. */
int response_parse(struct arena *arena, const char *body, size_t length, struct response *response,
                   const char **problem);

/* What an error of the API says of itself; members are NULL when it does not. */
struct response_error {
    const char *code, *type, *param, *message;
};

/* Any body will do. */
void response_parse_error(struct arena *arena, const char *body, size_t length,
                          struct response_error *error);

#endif
