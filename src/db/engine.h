/* What is behind db/db.h: the parts of a connection and a statement that both engines share, and
 * the functions that each of them (db/sqlite.c, db/postgres.c) brings. */
#ifndef FORAGE_DB_ENGINE_H
#define FORAGE_DB_ENGINE_H

#include "core/limits.h"
#include "db/db.h"

struct db_rows {
    struct db *db;
    char *sql;   /* as it was asked for */
    char *words; /* in the words of the engine */
    size_t place;
    bool used;  /* between db_query() and db_end() */
    bool began; /* a row or the end has come: it cannot simply be repeated */
    uint64_t last_use;
    int error;   /* of a parameter, or while it was prepared: a status, 0: none */
    size_t left; /* rows that may still come */
    size_t count;
    struct db_value values[LIMIT_DB_VALUES];
    void *handle;        /* SQLite's statement */
    uint64_t connection; /* PostgreSQL: the connection that knows it */
};

struct db {
    const struct db_engine *engine;
    const struct db_schema *schema; /* or NULL */
    struct call *call;
    const char *name; /* what a call that uses it waits for; a constant, or NULL */
    int version;
    bool only_looks;
    bool unsynced;
    bool in_doubt;
    bool looked;    /* the pool has just seen that the file was not moved; until a statement runs */
    bool told;      /* a transaction failed because the file was moved */
    bool untouched; /* the transaction has just begun */
    bool mark_is_begin;
    uint64_t uses;
    size_t statement_count;
    struct db_rows *statements[LIMIT_DB_STATEMENTS];
    /* The pool's: the next one that nobody uses, and the turn of whoever uses it. */
    struct db *next_idle;
    struct place *place;
    char problem[DB_PROBLEM_SIZE];
};

struct db_engine {
    const char *name;
    bool is_postgres;
    void (*close)(struct db *db);
    bool (*alive)(struct db *db);
    bool (*moved)(struct db *db); /* NULL: it cannot */
    int (*begin)(struct db *db, bool durable);
    int (*begin_reading)(struct db *db);
    int (*commit)(struct db *db);
    void (*rollback)(struct db *db);
    int (*run)(struct db *db, const char *sql);
    int (*empty_log)(struct db *db, int64_t *held_at); /* NULL: there is none */
    int (*keep)(struct db *db, int cache_kib);         /* NULL: it keeps nothing */
    /* The version of the schema's tables, 0: there are none; and the other way round. Between the
     * two the tables are locked, in a transaction. */
    int (*read_version)(struct db *db, int *version);
    int (*lock_tables)(struct db *db);
    int (*write_version)(struct db *db, int version);
    /* Of a statement: prepares it and hands its values over; the rest as in db.h. */
    int (*start)(struct db_rows *rows);
    int (*step)(struct db_rows *rows);
    int64_t (*integer)(const struct db_rows *rows, int column);
    const char *(*text)(const struct db_rows *rows, int column);
    const void *(*bytes)(const struct db_rows *rows, int column, size_t *length);
    void (*end)(struct db_rows *rows);
    void (*forget)(struct db_rows *rows); /* before it is freed */
};

/* Makes a connection. On failure the reason is in the problem of the connection, which is there
 * all the same and must be closed; NULL without memory. */
struct db *sqlite_open(const struct db_options *options, struct call *call, int *status);
struct db *postgres_open(const struct db_options *options, struct call *call, int *status);

/* Brings the tables of db->schema up to date; for a connection that has just been made. */
MUST_CHECK int db_migrate(struct db *db);

#endif
