/* libpq, PostgreSQL's client library, opened at first use: linked in the usual way it would cost
 * every start, and most never speak to a PostgreSQL server. One table holds the functions that
 * forage uses. */
#ifndef FORAGE_DB_POSTGRES_API_H
#define FORAGE_DB_POSTGRES_API_H

#include <libpq-fe.h>

/* The functions of the same names with "PQ" before them. */
struct postgres_api {
    PQconninfoOption *(*conninfoParse)(const char *text, char **problem);
    void (*conninfoFree)(PQconninfoOption *options);
    void (*freemem)(void *memory);
    PGconn *(*connectStartParams)(const char *const *names, const char *const *values, int expand);
    PostgresPollingStatusType (*connectPoll)(PGconn *connection);
    ConnStatusType (*status)(const PGconn *connection);
    int (*setnonblocking)(PGconn *connection, int wanted);
    int (*socket)(const PGconn *connection);
    int (*backendPID)(const PGconn *connection);
    char *(*errorMessage)(const PGconn *connection);
    const char *(*parameterStatus)(const PGconn *connection, const char *name);
    PQnoticeProcessor (*setNoticeProcessor)(PGconn *connection, PQnoticeProcessor take,
                                            void *context);
    void (*finish)(PGconn *connection);
    int (*sendQuery)(PGconn *connection, const char *sql);
    int (*sendPrepare)(PGconn *connection, const char *name, const char *sql, int count,
                       const Oid *types);
    int (*sendQueryPrepared)(PGconn *connection, const char *name, int count,
                             const char *const *values, const int *lengths, const int *formats,
                             int result_format);
    int (*setSingleRowMode)(PGconn *connection);
    int (*flush)(PGconn *connection);
    int (*consumeInput)(PGconn *connection);
    int (*isBusy)(PGconn *connection);
    PGresult *(*getResult)(PGconn *connection);
    ExecStatusType (*resultStatus)(const PGresult *result);
    char *(*resultErrorField)(const PGresult *result, int field);
    char *(*cmdStatus)(PGresult *result);
    int (*ntuples)(const PGresult *result);
    int (*getisnull)(const PGresult *result, int row, int column);
    int (*getlength)(const PGresult *result, int row, int column);
    char *(*getvalue)(const PGresult *result, int row, int column);
    void (*clear)(PGresult *result);
};

/* The table, for the rest of the program's life; NULL with `problem` set (never freed) when there
 * is no libpq. Safe in every thread. */
const struct postgres_api *postgres_api_open(const char **problem);

#endif
