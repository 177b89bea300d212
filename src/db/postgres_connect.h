/* From the URL of a database to a connection, for db/postgres.c. */
#ifndef FORAGE_DB_POSTGRES_CONNECT_H
#define FORAGE_DB_POSTGRES_CONNECT_H

#include "call/call.h"
#include "db/postgres_api.h"

/* Connects. A server that is just starting is waited for, a moment. OK; ERR_IO with the reason in
 * `problem`; or as of the call. `pooled`: through a pooler, which gives statements names of its
 * own. One that loses prepared statements is refused. */
MUST_CHECK int postgres_connect(const struct postgres_api *api, const char *url, struct call *call,
                                PGconn **handle, bool *pooled, char *problem, size_t size);
#define POSTGRES_POOLER_WORDS                                                                      \
    "a pooler stands before the database, gives each transaction another connection, and loses "   \
    "prepared statements: use PgBouncer 1.21 or newer with max_prepared_statements, or its "       \
    "pool_mode=session, or connect to the database itself"
/* The first line of what libpq said: what follows is advice for people at a terminal. */
void postgres_words(const char *message, char *problem, size_t size);

#endif
