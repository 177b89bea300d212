/* One call over REST, for the files that serve paths below /api/v1. */
#ifndef FORAGE_DOORS_REST_H
#define FORAGE_DOORS_REST_H

#include "doors/http.h"

/* It belongs to its exchange and is freed with it. */
struct rest_call {
    struct http_door *door;
    struct exchange *exchange;
    struct call *call;
    const struct entry *entry; /* the tool */
    yyjson_val *arguments;     /* NULL: none */
    void (*work)(struct rest_call *rest);
};

/* NULL after answering that there is no memory. */
struct rest_call *rest_call_new(struct http_door *door, struct exchange *exchange,
                                const struct caller *caller);
/* Reads the body as the arguments: an object, or nothing at all. False after answering. */
bool rest_read_body(struct rest_call *rest);
/* Runs the tool with its arguments and answers, here or on a thread of the pool. */
void rest_run(struct rest_call *rest);
/* Lets a thread of the pool do the work, which answers; when the client leaves the call is
 * cancelled. */
void rest_work(struct rest_call *rest, void (*work)(struct rest_call *rest));
/* Answers with the call's error. */
void rest_refuse(struct rest_call *rest);
/* Answers with a body that lives in the call's arena. */
void rest_answer(struct rest_call *rest, yyjson_mut_val *body);

#endif
