/* Connections that stay open between calls, a few of them, and are lent to whoever needs one. Where
 * there may be only so many at once, calls wait for their turn in the order in which they came. */
#ifndef FORAGE_DB_POOL_H
#define FORAGE_DB_POOL_H

#include "db/db.h"

struct db_pool;

struct db_pool_options {
    /* Opens a connection; NULL with the reason in `problem`. */
    struct db *(*open)(void *context, struct call *call, char *problem, size_t size);
    void *context;
    const char *name; /* what a call waits for that has to: a constant */
    size_t most;      /* in use at once; 0: any number */
    size_t idle;      /* that stay open while nobody uses them */
};

struct db_pool *db_pool_new(const struct db_pool_options *options);
/* Closes every connection; all must have been given back. */
struct db_pool *db_pool_free(struct db_pool *pool);

/* Closes all idle connections where there are more than `kept`: as long as a connection to a file
 * is open, SQLite cannot close the descriptors of others. */
void db_pool_rest(struct db_pool *pool, size_t kept);

/* A connection that works for the call. OK with one; ERR_IO with the reason in `problem` when the
 * database cannot be opened; as of the call. */
MUST_CHECK int db_pool_borrow(struct db_pool *pool, struct call *call, struct db **db,
                              char *problem, size_t size);
/* Gives it back; a transaction that is still open is undone. NULL is accepted. */
void db_pool_return(struct db_pool *pool, struct db *db);

#endif
