/* The writer: changes that come at the same time share one transaction, and so one wait for the
 * disk. Each job keeps an outcome of its own. A job is handed over in one of two ways:
 *
 * - writer_run() is for a call that needs its change done: the first to come leads, and writes for
 *   all that wait meanwhile; whoever waits can be cancelled until a leader has taken its job. Large
 *   jobs and groups of small ones take turns: a small one waits for one large one at most.
 * - writer_post() is for a change that must happen even when the call that it comes from ends. A
 *   thread of the writer's writes it, at once or, where the job says so, some time later, so that
 *   one job can carry what comes meanwhile. While the database fails, jobs that stay are held in
 *   memory and tried again every `retry_ms`, and once more at the end of the writer.
 *
 * What was reported as OK is on the disk (where a job of the group is durable). PostgreSQL may ask
 * for another try: then the jobs are applied again. */
#ifndef FORAGE_DB_WRITER_H
#define FORAGE_DB_WRITER_H

#include "db/db.h"

struct db_writer;

/* The first member of what a user hands over. */
struct writer_job {
    bool durable;
    bool stays;
    bool large; /* for writer_run(): it has a transaction of its own, in turns with what is small */
    int64_t due_ms; /* of the monotonic clock: it is not written before, but at the end; 0: now */
    /* the writer's own */
    struct writer_job *next;
    int stage;
    int event;
    int status;
    bool reported;
    _Atomic uint64_t number; /* of the jobs that writer_run() was given */
    bool among_others;       /* of writer_run(): others were given to it at the same time */
};

/* What a user of the writer brings; `context` is theirs. NULL: there is nothing to do. */
struct writer_hooks {
    /* A connection for one transaction, and back again. `call` is the one that bounds it. */
    int (*borrow)(void *context, struct call *call, struct db **db);
    void (*give_back)(void *context, struct db *db);
    int (*begin)(void *context, struct db *db, bool durable); /* NULL: db_begin() */
    int (*commit)(void *context, struct db *db);              /* NULL: db_commit() */
    /* Does a job inside of the transaction. */
    int (*apply)(void *context, struct db *db, struct writer_job *job);
    /* After a try to write a group: `db` is NULL when there was no connection. */
    void (*wrote)(void *context, struct db *db, struct writer_job *jobs, int status);
    /* Reports to whoever waits for the job; its status is what writer_run() returns. */
    int (*report)(void *context, struct db *db, struct call *writing, struct writer_job *job,
                  int status);
    /* The writer needs the job no longer (one that was posted). */
    void (*drop)(void *context, struct writer_job *job);
    /* The thread has had nothing to do for `idle_ms`, or ends. Jobs that come meanwhile wait. */
    void (*rest)(void *context);
    /* At the end: that many jobs that should have stayed were lost. */
    void (*lost)(void *context, size_t count);
};

struct writer_options {
    const struct writer_hooks *hooks;
    void *context;
    /* ERR_FAILED, ERR_NOMEM and ERR_NOTFOUND are the failure of one job, which is undone by itself;
     * everything else is everybody's. */
    bool undoes_one;
    size_t most_jobs; /* in one transaction; 0: any number */
    size_t most_late; /* jobs that stay, held at once: the oldest are lost */
    int64_t time_ms;  /* for one transaction, which gets a call of its own; 0: without a call */
    int64_t retry_ms; /* after a failure nothing is tried for so long; 0: always tried */
    int64_t idle_ms;
};

struct db_writer *writer_new(const struct writer_options *options);
/* Writes what is left and ends the thread, within whole seconds of `time_ms`. False when it does
 * not end: then the writer must stay, and the program can only leave it behind. */
MUST_CHECK bool writer_stop(struct db_writer *writer, int64_t time_ms);
/* The same, however long it takes. */
struct db_writer *writer_free(struct db_writer *writer);

/* OK, or as `report` says; ERR_CANCELLED or ERR_DEADLINE when it was not begun. `alone`: in a
 * transaction of its own, at once, where the database groups commits by itself. */
MUST_CHECK int writer_run(struct db_writer *writer, struct call *call, struct writer_job *job,
                          bool alone);
/* OK, or ERR_IO when the writer cannot take it; then `drop` was called. */
MUST_CHECK int writer_post(struct db_writer *writer, struct writer_job *job);
/* The jobs that wait for the database to work again, oldest first; for `report`. */
const struct writer_job *writer_late(const struct db_writer *writer);

#endif
