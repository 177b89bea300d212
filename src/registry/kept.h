/* Calls that are kept: a tool whose definition says "job" runs as a job, which has an id, is stored
 * from its first moment on, and may outlive the client that asked for it and the process that works
 * on it. The registry and the protocol know this much of it; jobs/ does it. */
#ifndef FORAGE_REGISTRY_KEPT_H
#define FORAGE_REGISTRY_KEPT_H

#include "call/call.h"
#include "core/status.h"
#include "text/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct entry;
struct reply;

/* Where a job stands. */
enum job_status {
    JOB_WAITING, /* nobody works on it now */
    JOB_RUNNING,
    JOB_ASKING, /* the same, and it waits for its client to answer */
    JOB_DONE,
    JOB_FAILED, /* its tool failed; the result says why */
    JOB_BROKEN, /* it could not be run to its end, which is no result of its tool */
    JOB_CANCELLED,
    JOB_STATUSES
};

/* What somebody who asks for a job sees of it, in the arena of the call that asks. */
struct job_view {
    const char *id;
    const struct entry *entry; /* its tool; NULL: it is not offered here any more */
    const char *tool;
    enum job_status status;
    bool background;
    const char *message; /* what it does, in words; "" where it does not say */
    yyjson_val *arguments;
    yyjson_val *state; /* what it has come to, or NULL */
    unsigned runs;     /* how often it was begun */
    int64_t created_ms, updated_ms, expires_ms;
    int64_t input_tokens, output_tokens, nano_usd;
    const char *asks; /* of JOB_ASKING: what, as a JSON object of requests by their keys; or NULL */
    const char *trouble; /* of JOB_BROKEN: why */
    const char *unkept;  /* why it is not stored and ends with this process; NULL: it is */
};

/* Who keeps calls, behind the registry. Every function returns OK, ERR_FAILED after call_fail()
 * (NOT_FOUND for a job of somebody else as for one that never was), or a status of the call. */
struct job_host {
    void *context;
    /* Runs a tool as a job, whose arguments passed its schema and the gate. Waits as long as the
     * client does (call_patience_ms()): `reply` has the result, or only the job. */
    int (*run)(void *context, struct call *call, const struct entry *entry, yyjson_val *arguments,
               struct reply *reply);
    /* The result of a job, or where it stands, after at most so long. */
    int (*look)(void *context, struct call *call, const char *id, int64_t wait_ms,
                struct reply *reply);
    /* Cancels it; one that is over stays as it is. */
    int (*cancel)(void *context, struct call *call, const char *id);
    /* Answers what it asks, by keys; others are passed over. */
    int (*answer)(void *context, struct call *call, const char *id, yyjson_val *answers);
    /* Shows the jobs of the caller, newest first, without their results. */
    int (*list)(void *context, struct call *call, size_t most,
                void (*take)(void *taker, const struct job_view *view), void *taker);
};

/* A status in a word, as it is stored and told: "waiting". */
const char *job_status_word(enum job_status status);
/* By its word; JOB_STATUSES: there is no such word. */
enum job_status job_status_of(const char *word);
bool job_is_over(enum job_status status);
/* What a client is told of a job that is not over: {success, job, status, rounds, message}. */
yyjson_mut_val *job_handle(yyjson_mut_doc *doc, const struct job_view *view);

#endif
