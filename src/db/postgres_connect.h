/* From the URL of a database to a connection, for db/postgres.c. */
#ifndef FORAGE_DB_POSTGRES_CONNECT_H
#define FORAGE_DB_POSTGRES_CONNECT_H

#include "call/call.h"
#include "db/postgres_api.h"

/* Connects. A server that is just starting is waited for, a moment. OK; ERR_IO with the reason in
 * `problem`; or as of the call. */
MUST_CHECK int postgres_connect(const struct postgres_api *api, const char *url, struct call *call,
                                PGconn **handle, char *problem, size_t size);
/* The first line of what libpq said: what follows is advice for people at a terminal. */
void postgres_words(const char *message, char *problem, size_t size);

#endif
