/* A connection to a database, an SQLite file or a PostgreSQL server, behind one set of functions.
 * Whoever has tables writes each statement once, and neither sees nor asks which of the two it is:
 *
 *     struct db_rows *rows = db_ask(db, "SELECT used FROM {windows} WHERE key = ?1", DB_TEXT(key));
 *     while ((status = db_step(rows)) > 0) { ... db_int(rows, 0) ... }
 *     db_end(rows);
 *
 * In a statement `?1`, `?2`, ... are its parameters, `{windows}` is the table of that name (parts
 * of the program share one server, where it is called forage_windows), and `{this|that}` is `this`
 * for SQLite and `that` for PostgreSQL, for what the two do not say alike.
 *
 * A connection belongs to one thread at a time, and works for one call (db_work_for): everything
 * that waits ends with that call. Without a call a lock or an answer is waited for as long as the
 * connection's patience. A commit that returned OK is on the disk, unless the transaction was begun
 * as one that need not be.
 *
 * Results are statuses. ERR_BUSY: somebody else's lock or transaction came first; undo, and try
 * again. ERR_CLOSED: the server went away. ERR_IO: a full disk, a damaged file, a refusal.
 * ERR_INVALID: a text that is not UTF-8 (PostgreSQL). ERR_CANCELLED and ERR_DEADLINE of the call.
 * db_problem() has the words for an operator, which never hold data or a password. Nothing here
 * logs. */
#ifndef FORAGE_DB_DB_H
#define FORAGE_DB_DB_H

#include "call/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DB_PROBLEM_SIZE 512

struct buf;
struct db;
struct db_rows; /* a statement that runs, and the row that it stands at */

/* The tables of one part of the program. Of each list the first script makes the tables of version
 * 1, and each further one makes the next version of the one before; a NULL ends it. Data of an
 * older version is brought up to date when it is opened, data of a newer one is refused. Scripts
 * may use `{windows}` and `{this|that}` like statements. */
struct db_schema {
    const char *part; /* whose tables they are, where parts share a database */
    const char *const *sqlite;
    const char *const *postgres;
};

struct db_options {
    const char *url;  /* postgresql://..., which is a secret; NULL or "": the file at `path` */
    const char *path; /* its folder must be there; the file is made, for its owner only */
    const struct db_schema *schema; /* NULL: only to look at what is there */
    bool only_looks; /* nothing is changed, not even to bring old tables up to date; the file must
                        be there */
    bool alone;      /* SQLite, with only_looks: nobody else has the file open, nor has it a log */
    bool unsynced;   /* no commit waits for the disk: a power failure may lose it */
    bool erases;     /* SQLite: what is deleted is overwritten */
    int64_t patience_ms; /* SQLite: for locks, without a call; 0: TIME_SQLITE_PATIENCE_MS */
    int cache_kib;       /* SQLite: pages in memory; 0: LIMIT_SQLITE_CACHE_KIB */
    int log_kib; /* SQLite: the length of the log before a checkpoint; 0: LIMIT_SQLITE_LOG_KIB */
};

/* Opens the database and brings the tables of the schema up to date. `call` may be NULL. NULL with
 * the reason in `problem`. The strings of the options are not needed afterwards. */
struct db *db_open(const struct db_options *options, struct call *call, char *problem, size_t size);
struct db *db_close(struct db *db);
/* Appends what tells the database of a URL from others: where it is, its name, and whose tables are
 * meant. The password is no part of it, nor is how to connect. OK; ERR_IO where nothing can be
 * read from it. */
MUST_CHECK int db_name_of(const char *url, struct buf *name);
/* Whether a connection that nobody uses is still of use. Does not wait. */
bool db_alive(struct db *db);
/* Whether the file is no longer where it was opened: its folder was moved or deleted, or another
 * file has its name. Then db_problem() says so, db_begin() and db_begin_reading() fail, and
 * db_commit() reports a commit that went there as one that is in doubt. */
bool db_moved(struct db *db);
/* For whom the connection works from now on; NULL: nobody. */
void db_work_for(struct db *db, struct call *call);
struct call *db_call(const struct db *db);
/* What went wrong last. */
const char *db_problem(const struct db *db);

bool db_is_postgres(const struct db *db);
const char *db_engine_name(const struct db *db); /* "sqlite" or "postgresql" */
/* Of the schema; 0: there are no tables, which only those who only look meet. */
MUST_CHECK int db_version(const struct db *db);

/* ---- transactions ---- */

/* Starts to write. SQLite takes the lock of the file at once; on PostgreSQL every statement sees
 * what was committed before it. `durable` false: the commit need not wait for the disk. */
MUST_CHECK int db_begin(struct db *db, bool durable);
/* A view of the data that stays the same until db_rollback(). */
MUST_CHECK int db_begin_reading(struct db *db);
/* It goes on whether or not the call still lasts. When it fails, everything since db_begin() is
 * undone, unless db_in_doubt(). */
MUST_CHECK int db_commit(struct db *db);
/* The server went away while it committed, or the file was moved: nobody knows whether what was
 * committed will be found. */
bool db_in_doubt(const struct db *db);
/* Undoes; nothing when there is no transaction. */
void db_rollback(struct db *db);
/* One mark inside a transaction, which can be gone back to. */
MUST_CHECK int db_mark(struct db *db);
MUST_CHECK int db_back_to_mark(struct db *db);
MUST_CHECK int db_drop_mark(struct db *db);

/* Empties the write-ahead log of a file without waiting for anybody: contents that were deleted
 * have left the disk then. Outside of transactions. OK; ERR_BUSY while somebody writes, or reads an
 * older state: `held_at` tells one such state from another. Where there is no log, there is nothing
 * to do. */
MUST_CHECK int db_empty_log(struct db *db, int64_t *held_at);

/* How much of a file the connection keeps in memory from now on; 0: what it was opened with. */
MUST_CHECK int db_keep(struct db *db, int cache_kib);

/* ---- statements ---- */

struct db_value {
    enum { DB_VALUE_INT, DB_VALUE_TEXT, DB_VALUE_BYTES } kind;
    int64_t number;
    const void *data; /* NULL: the value NULL */
    size_t length;
};
#define DB_INT(VALUE)                                                                              \
    (struct db_value)                                                                              \
    {                                                                                              \
        .kind = DB_VALUE_INT, .number = (VALUE)                                                    \
    }
#define DB_TEXT(TEXT)                                                                              \
    (struct db_value)                                                                              \
    {                                                                                              \
        .kind = DB_VALUE_TEXT, .data = (TEXT)                                                      \
    }
#define DB_BYTES(BYTES, LENGTH)                                                                    \
    (struct db_value)                                                                              \
    {                                                                                              \
        .kind = DB_VALUE_BYTES, .data = (BYTES), .length = (LENGTH)                                \
    }
#define DB_VALUES(...)                                                                             \
    (const struct db_value[]){__VA_ARGS__},                                                        \
        sizeof((const struct db_value[]){__VA_ARGS__}) / sizeof(struct db_value)

/* Starts a statement with its parameters, whose texts and bytes must stay until db_end(). It is
 * prepared at its first use and stays so. One at a time runs on a connection (PostgreSQL). Outside
 * of a transaction it may be repeated when the server had gone away since the last one. NULL when
 * there is no memory, which every function below accepts and db_step() reports. */
struct db_rows *db_query(struct db *db, const char *sql, const struct db_value *values,
                         size_t count);
#define db_ask(DB, SQL, ...) db_query(DB, SQL, DB_VALUES(__VA_ARGS__))
/* The same rows, of which a further one than that many is an error: whoever has room for as many as
 * its LIMIT says must not take a server's word that there are no more. */
struct db_rows *db_at_most(struct db_rows *rows, size_t most);
/* For whoever walks on from the last row that it read, when a row is not behind that one: ERR_IO. A
 * server that sends the same rows again would be read for ever. */
MUST_CHECK int db_goes_back(struct db_rows *rows);
/* 1 with a row, 0 at the end, or a negative status. */
MUST_CHECK int db_step(struct db_rows *rows);
/* Columns of the row, from 0; texts and bytes stay until the next step. */
int64_t db_int(const struct db_rows *rows, int column);      /* 0 for NULL */
const char *db_text(const struct db_rows *rows, int column); /* NULL for NULL */
const void *db_bytes(const struct db_rows *rows, int column, size_t *length);
/* A text that is never NULL, as the tables say; "" where a server says otherwise. */
const char *db_words(const struct db_rows *rows, int column);
void db_end(struct db_rows *rows);

/* Steps to the end, ends it, and returns a status. */
MUST_CHECK int db_finish(struct db_rows *rows);
#define db_do(DB, SQL, ...) db_finish(db_ask(DB, SQL, __VA_ARGS__))
/* Copies the numbers of the first row and ends the statement: 1 with a row, 0 without one (the
 * numbers are 0 then), or a negative status. */
MUST_CHECK int db_numbers(struct db_rows *rows, int64_t *numbers, int count);
/* Runs statements that have no parameters and whose rows nobody wants. */
MUST_CHECK int db_run(struct db *db, const char *sql);

#endif
