/* PostgreSQL, a thin layer like db/sqlite: one way to connect, to ask and to fail.
 *
 * A connection belongs to one thread at a time. Everything that waits for the server waits in
 * call_wait() for the call that the connection works for, so that a call that ends ends its
 * statement: the connection is then closed, and the server notices. Without a call the patience is
 * TIME_POSTGRES_PATIENCE_MS.
 *
 * Several processes and machines share one database. Its tables are made and brought up to date
 * under a lock, so that any number of servers may start at once.
 *
 * Results are statuses. ERR_BUSY: the server gave this transaction up in favour of another; undo
 * it and try again. ERR_CLOSED: the server went away. ERR_IO: it refused; ERR_INVALID: a text is
 * no UTF-8. ERR_CANCELLED and ERR_DEADLINE of the call. The words are in postgres_problem(), and
 * never hold a password or data. Nothing here logs. */
#ifndef FORAGE_DB_POSTGRES_H
#define FORAGE_DB_POSTGRES_H

#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct postgres;

struct postgres_options {
    const char *url;  /* postgresql://..., which is a secret; copied */
    const char *part; /* whose tables: several parts of the program share a database */
    /* Scripts: the first makes the tables of version 1, each further one the next version of the
     * one before; a NULL ends them. */
    const char *const *versions;
};

/* Connects and brings the part's tables to the newest version. `call` may be NULL. NULL with the
 * reason in `problem`. */
struct postgres *postgres_open(const struct postgres_options *options, struct call *call,
                               char *problem, size_t size);
struct postgres *postgres_close(struct postgres *db);
/* Whether a connection that nobody uses is still of use. Does not wait. */
bool postgres_alive(struct postgres *db);

/* For whom the connection works from now on; NULL: nobody. */
void postgres_work_for(struct postgres *db, struct call *call);
/* What went wrong last, in words for an operator. */
const char *postgres_problem(const struct postgres *db);
/* Version of the part's tables. */
int postgres_version(const struct postgres *db);

/* ---- transactions ---- */

/* Every statement sees what was committed before it began. */
int postgres_begin(struct postgres *db);
/* A view of the data that stays the same until postgres_rollback(). */
int postgres_begin_reading(struct postgres *db);
/* It waits for the server whether or not the call still lasts. When it fails, everything since
 * postgres_begin() is undone, unless postgres_in_doubt(). */
int postgres_commit(struct postgres *db);
/* The server went away while it committed: nobody knows whether it did. */
bool postgres_in_doubt(const struct postgres *db);
/* Undoes; nothing when there is no transaction. */
void postgres_rollback(struct postgres *db);

/* ---- statements, one at a time ---- */

/* Starts a statement. It is prepared at its first use; `sql` must live as long as the program.
 * Outside of a transaction a statement may be repeated when the server had gone away since the
 * last one, so it must be one that can be. */
void postgres_ask(struct postgres *db, const char *sql);
/* Its parameters in their order. Text and bytes must stay until postgres_end(); NULL is NULL. */
void postgres_give_text(struct postgres *db, const char *text);
void postgres_give_bytes(struct postgres *db, const void *bytes, size_t length);
void postgres_give_int(struct postgres *db, int64_t value);
/* 1 with a row, 0 at the end, or a negative status. Rows come one at a time, however many there
 * are. */
int postgres_step(struct postgres *db);
/* Columns of the row, from 0; texts and bytes stay until the next step. */
int64_t postgres_int(const struct postgres *db, int column);      /* 0 for NULL */
const char *postgres_text(const struct postgres *db, int column); /* NULL for NULL */
const void *postgres_bytes(const struct postgres *db, int column, size_t *length);
void postgres_end(struct postgres *db);
/* Steps to the end, ends it, and returns a status. */
int postgres_finish(struct postgres *db);

/* Runs statements that have no parameters and whose rows nobody wants. A status. */
int postgres_run(struct postgres *db, const char *sql);

#endif
