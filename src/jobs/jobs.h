/* Jobs: calls that are kept. A tool whose definition says "job" runs here, on a thread of its own,
 * whoever asked for it and however long that client waits. A job is stored from its first moment on
 * (rows.h), with a journal of what it did (call/journal.h); when the process that works on it is
 * killed, another one goes on with it. It has one owner at a time, belongs to its caller, and
 * expires.
 *
 * Where the records cannot be written, a job runs all the same: it then ends with the process, and
 * whoever asks for it is told so. */
#ifndef FORAGE_JOBS_JOBS_H
#define FORAGE_JOBS_JOBS_H

#include "core/id.h"
#include "guard/callers.h"
#include "ops/ledger.h"
#include "registry/kept.h"
#include "registry/registry.h"

struct jobs;

struct jobs_options {
    struct registry *registry;
    struct ledger *ledger;
    const struct callers *callers;
    const struct parts *parts; /* for its calls */
};

/* NULL without memory. Everything in the options outlives it; nothing is opened yet. It stands
 * behind the registry's tools from now on. */
struct jobs *jobs_new(const struct jobs_options *options);
/* No call may run any more. */
struct jobs *jobs_free(struct jobs *jobs);
/* For a server that stays: takes up the jobs that other processes left, now and from then on. */
MUST_CHECK int jobs_serve(struct jobs *jobs);
/* The program ends: no job is begun any more, and those that run are put down for others to take
 * up. Where the clients have left, as those of standard input have, what they wait for is cancelled
 * instead. */
void jobs_put_down(struct jobs *jobs, bool clients_left);
/* Works on every job that nobody works on, until there is none left or the call ends. How many. */
size_t jobs_work_off(struct jobs *jobs, struct call *call);
/* For a program that ends without jobs_free(), as of pool_leave(). */
void jobs_leave(struct jobs *jobs);
/* Jobs that are worked on now. */
size_t jobs_running(struct jobs *jobs);
/* Whether jobs that go on without a client are, or were put down, here. */
bool jobs_have_background(struct jobs *jobs);

/* The same as the functions of the registry's host, for whoever is not behind a protocol. */
MUST_CHECK int jobs_look(struct call *call, const char *id, int64_t wait_ms, struct reply *reply);
/* Cancels a job, or removes one that is over. */
MUST_CHECK int jobs_end(struct call *call, const char *id, bool *removed);
MUST_CHECK int jobs_list(struct call *call, size_t most,
                         void (*take)(void *taker, const struct job_view *view), void *taker);
/* ---- for calls that follow on others ---- */

/* What the call of that id left. OK, or ERR_FAILED after call_fail(), or a status of the call. */
MUST_CHECK int jobs_context(struct call *call, const char *id, const char **context);
/* Keeps what a call of a tool that is no job leaves; its id, in the arena. NULL: it could not be
 * stored, which the log tells. */
const char *jobs_keep(struct call *call, const char *tool, yyjson_val *arguments,
                      const char *context);
/* The id of the caller's newest call of one of two tools that can be followed on. The same. */
MUST_CHECK int jobs_last(struct call *call, const char *tool, const char *other,
                         char id[ID_SECRET_SIZE]);

/* A job as JSON: {job, tool, question, status, ...}, without its result. */
yyjson_mut_val *jobs_describe(yyjson_mut_doc *doc, const struct job_view *view);
/* The caller's, newest first, as {jobs: [...]} of the call's arena. As of jobs_list(). */
MUST_CHECK int jobs_describe_all(struct call *call, size_t most, yyjson_mut_val **body);

#endif
