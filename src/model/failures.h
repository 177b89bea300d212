/* What a service says when it does not answer, in the forms of all dialects, and what that means:
 * to ask again, to ask otherwise, or to give up. Pure. */
#ifndef FORAGE_MODEL_FAILURES_H
#define FORAGE_MODEL_FAILURES_H

#include "core/arena.h"
#include "text/json.h"

#include <stdbool.h>
#include <stdint.h>

/* What an error says of itself; texts are NULL when it does not. */
struct model_error {
    const char *code; /* a number as text, where it is one */
    const char *type, *param, *message;
    const char *generation; /* what the model wrote, where the service could not read it */
    int64_t retry_ms;       /* negative: not said */
    bool of_day;            /* a quota that only another day fills */
    int status;             /* of HTTP, said inside; 0: none */
};

/* Any body will do. */
void error_read(struct arena *arena, const char *body, size_t length, struct model_error *error);
/* The same of a value: the error itself, or what holds it. */
void error_read_value(struct arena *arena, yyjson_val *root, struct model_error *error);

enum failure {
    FAILURE_OTHER,    /* final */
    FAILURE_PASSING,  /* may work in a while */
    FAILURE_LIMITED,  /* the same: too many requests */
    FAILURE_LOADING,  /* the server reads the model into memory */
    FAILURE_QUOTA,    /* final: nothing is left on the account, or of the day */
    FAILURE_AUTH,     /* the key */
    FAILURE_MODEL,    /* no such model */
    FAILURE_CONTEXT,  /* the request is too long */
    FAILURE_NO_TOOLS, /* the server takes none */
    FAILURE_REFUSED,  /* a parameter; see failure_choice() */
    FAILURE_GARBLED,  /* the model wrote a use that the service could not read */
    FAILURE_ADDRESS,  /* no such path there */
};

/* `status` is that of HTTP (0: inside of an answer); `should_retry` is the header of that name, or
 * NULL. */
enum failure failure_judge(const struct model_error *error, int status, const char *should_retry,
                           bool has_tools);
/* The choice that a refusal is about, among `choices`; 0: none. */
unsigned failure_choice(const struct model_error *error, unsigned choices);
/* A smaller limit of tokens that a refusal names, 0 where it names none. */
int64_t failure_most_tokens(const struct model_error *error, int64_t asked);

#endif
