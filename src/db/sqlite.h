/* SQLite, a thin layer: files that several processes and threads use at once, with one way to open
 * them, to write and to fail.
 *
 * A connection belongs to one thread at a time; open one for each thread that needs it, they are
 * cheap. Every file is in WAL mode, and a commit is on the disk when it returns OK (unless the
 * options say otherwise). Writing happens between sqlite_begin(), which takes the lock at once, and
 * sqlite_commit(), so that a transaction never has to be repeated because another process was
 * faster. Waiting for a lock is done here: for as long as the call that the connection works for
 * lasts, and is over when that call is cancelled; or, without a call, for the connection's
 * patience. A long statement ends with its call, too.
 *
 * Results are statuses: ERR_IO for a full disk, a damaged file and the like, with the words in
 * sqlite_problem(); ERR_BUSY when the patience ran out; ERR_CANCELLED and ERR_DEADLINE of the
 * call. Nothing here logs. */
#ifndef FORAGE_DB_SQLITE_H
#define FORAGE_DB_SQLITE_H

#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite;
struct sqlite_statement;

struct sqlite_options {
    const char *path; /* its folder must be there; the file is made, for its owner only */
    /* Scripts: the first makes the tables of version 1, each further one the next version of the
     * one before; a NULL ends them. */
    const char *const *versions;
    bool only_look;      /* at a file that is there; its tables are left as they are */
    bool unsynced;       /* a commit does not wait for the disk: a power failure may lose it */
    int64_t patience_ms; /* for locks, without a call; 0: TIME_SQLITE_PATIENCE_MS */
    int cache_kib;       /* of pages in memory; 0: LIMIT_SQLITE_CACHE_KIB */
    /* How long the write-ahead log grows before it is brought into the file; 0:
     * LIMIT_SQLITE_LOG_KIB. */
    int log_kib;
};

/* Opens the file and brings its tables to the newest version. `call` may be NULL. NULL with the
 * reason in `problem`. */
struct sqlite *sqlite_open(const struct sqlite_options *options, struct call *call, char *problem,
                           size_t size);
struct sqlite *sqlite_close(struct sqlite *db);

/* For whom the connection works from now on; NULL: nobody. */
void sqlite_work_for(struct sqlite *db, struct call *call);
/* What went wrong last, in words for an operator; never holds data. */
const char *sqlite_problem(const struct sqlite *db);

/* ---- transactions ---- */

/* Takes the lock for writing. */
int sqlite_begin(struct sqlite *db);
/* A view of the data that stays the same until sqlite_rollback(), for several reads that belong
 * together. */
int sqlite_begin_reading(struct sqlite *db);
/* When it fails, everything since sqlite_begin() is undone. */
int sqlite_commit(struct sqlite *db);
/* Undoes; nothing when there is no transaction. */
void sqlite_rollback(struct sqlite *db);
/* Whether commits wait for the disk from now on; not inside a transaction. */
int sqlite_set_synced(struct sqlite *db, bool synced);

/* ---- statements ---- */

/* A statement, made at its first use and kept with the connection. It must be ended with
 * sqlite_end() before it is asked for again. NULL when there is no memory: every function below
 * accepts that, and sqlite_step() then says so. */
struct sqlite_statement *sqlite_prepare(struct sqlite *db, const char *sql);
/* Parameters count from 1. Text and bytes must stay until sqlite_end(); NULL is NULL. */
void sqlite_bind_text(struct sqlite_statement *statement, int index, const char *text);
void sqlite_bind_bytes(struct sqlite_statement *statement, int index, const void *bytes,
                       size_t length);
void sqlite_bind_int(struct sqlite_statement *statement, int index, int64_t value);
void sqlite_bind_real(struct sqlite_statement *statement, int index, double value);
/* 1 with a row, 0 at the end, or a negative status. */
int sqlite_step(struct sqlite_statement *statement);
/* Columns of the row, from 0; texts and bytes stay until the next step. */
int64_t sqlite_int(struct sqlite_statement *statement, int column);
double sqlite_real(struct sqlite_statement *statement, int column);
const char *sqlite_text(struct sqlite_statement *statement, int column); /* NULL for NULL */
const void *sqlite_bytes(struct sqlite_statement *statement, int column, size_t *length);
void sqlite_end(struct sqlite_statement *statement);
/* Steps to the end, ends it, and returns a status. */
int sqlite_finish(struct sqlite_statement *statement);

/* Runs statements that have no parameters. A status. */
int sqlite_run(struct sqlite *db, const char *sql);
/* Rows that the last statement changed, and the id of the row that was added last. */
int64_t sqlite_changes(const struct sqlite *db);
int64_t sqlite_last_id(const struct sqlite *db);
/* SQLite's own handle, for what only one module needs (functions, FTS5): a struct sqlite3. */
void *sqlite_handle(struct sqlite *db);

#endif
