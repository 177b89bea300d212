/* Jobs in the database of records: the rows, their journals, and who works on which. Every
 * statement on them is here. Functions return a status; db_problem() has the words of a failure.
 *
 * A job that is not over has an owner (owner.h), the process that works on it, for as long as its
 * lease lasts; whoever finds one without an owner, with one that is gone, or with a lease that has
 * lapsed, may take it over. All that an owner writes is written only while it still is the owner.
 * Leases end by a clock that all who share the database go by and that nobody sets: the server's,
 * or for a file the time since the machine started. */
#ifndef FORAGE_JOBS_ROWS_H
#define FORAGE_JOBS_ROWS_H

#include "call/journal.h"
#include "core/id.h"
#include "core/limits.h"
#include "jobs/owner.h"
#include "ops/records.h"
#include "registry/kept.h"

/* Where a job stands; words in the database. */

struct job_row {
    const char *id;
    const char *caller;
    const char *tool;
    const char *arguments; /* JSON */
    enum job_status status;
    bool background; /* it goes on without its client */
    unsigned runs; /* how often it was begun; 0: it is no job, but a call that can be followed on */
    int64_t created_ms, updated_ms, expires_ms;
    int64_t input_tokens, output_tokens, nano_usd;
    const char *state;   /* what it has come to, JSON; NULL: it did not tell */
    const char *result;  /* JSON; NULL: it is not over */
    const char *follows; /* the job whose question it follows on; NULL: none */
    const char *tried;   /* with it (call_tried()); NULL: nothing */
};

/* A row as it is read: the texts are in the arena. */
MUST_CHECK int row_find(struct db *db, struct arena *arena, const char *caller, const char *id,
                        struct job_row *row);
/* Shows the newest jobs of a caller, without their results; the texts stay until the next one. */
MUST_CHECK int row_list(struct db *db, const char *caller, size_t most,
                        void (*take)(void *context, const struct job_row *row), void *context);
/* A job of a caller with these arguments that has, or may have, lost its client: one that is not
 * over, or that was begun again and whose result nobody was given. ERR_NOTFOUND where there is
 * none.
 */
MUST_CHECK int row_same(struct db *db, const char *caller, const char *tool, const char *arguments,
                        char id[ID_SECRET_SIZE]);
/* What comes with a job for those that follow on it; NULL: nothing is kept. */
MUST_CHECK int row_context(struct db *db, struct arena *arena, const char *caller, const char *id,
                           const char **context);
/* The newest job of a caller that another can follow on, of one of two tools. */
MUST_CHECK int row_last(struct db *db, const char *caller, const char *tool, const char *other,
                        char id[ID_SECRET_SIZE]);

/* ---- changes; each is a transaction of its own ---- */

/* Adds a job. ERR_LIMIT: its caller has `most_open` that are not over. `owner` NULL: it is over
 * already. */
MUST_CHECK int row_add(struct db *db, const struct job_row *row, const char *owner,
                       int64_t lease_ms, size_t most_open, const char *context);
/* A job that is not over, and who works on it. */
struct job_open {
    char id[ID_SECRET_SIZE];
    char caller[LIMIT_CALLER_NAME_CHARS + 1];
    char tool[64];
    char owner[OWNER_SIZE]; /* "": nobody */
    bool is_free;           /* nobody works on it: its owner is gone, or its lease has lapsed */
};
/* Those that are not over, oldest first; `id` NULL: of all. */
MUST_CHECK int row_open_jobs(struct db *db, const char *id, struct job_open *jobs, size_t most,
                             size_t *count);
/* Takes over a job from the owner that it was seen with: its row, in the arena. ERR_NOTFOUND: it
 * has another one by now, or is over. */
MUST_CHECK int row_claim(struct db *db, struct arena *arena, const struct job_open *seen,
                         const char *owner, int64_t lease_ms, struct job_row *row);
/* The journal of a job, in the arena, and what each step used. */
MUST_CHECK int row_steps(struct db *db, struct arena *arena, const char *id,
                         struct journal_step **steps, const char ***usages, size_t *count);
/* Prolongs the leases of an owner, and tells which of its jobs it still has, and whether somebody
 * wants one of them cancelled. */
MUST_CHECK int row_renew(struct db *db, const char *owner, int64_t lease_ms,
                         void (*take)(void *context, const char *id, bool cancelling),
                         void *context);
/* Adds a step to the journal. ERR_NOTFOUND: the owner does not own it any more. */
MUST_CHECK int row_add_step(struct db *db, const char *id, const char *owner, size_t number,
                            const struct journal_step *step, const char *usage);
MUST_CHECK int row_tell(struct db *db, const char *id, const char *owner, const char *state);
/* Lets a job go that is not over, for others to take up. */
MUST_CHECK int row_release(struct db *db, const char *id, const char *owner);
/* The end of a job, with its record, which gets what all of it cost, and what is kept of it for
 * those that follow on. ERR_NOTFOUND as above. */
MUST_CHECK int row_finish(struct db *db, const struct job_row *row, const char *owner,
                          const char *context, struct record *record);
/* Somebody wants it cancelled: at once where nobody works on it. */
MUST_CHECK int row_cancel(struct db *db, const char *caller, const char *id);
/* Removes a job that its owner never began. */
MUST_CHECK int row_drop(struct db *db, const char *id, const char *owner);
/* A job that goes on without its client from now on. */
MUST_CHECK int row_let_go_on(struct db *db, const char *id);
/* Removes a job that is over. */
MUST_CHECK int row_remove(struct db *db, const char *caller, const char *id);
/* Removes what has expired, and of each caller the oldest beyond so many. */
MUST_CHECK int row_tidy(struct db *db, int64_t now_ms, size_t most_kept);

#endif
