/* A pooler between forage and a PostgreSQL server, PgBouncer or one like it. In transaction mode
 * each transaction may get another connection of the server, where a statement that was prepared
 * before is unknown, or is the one that another client prepared by this name. Newer poolers see to
 * that (PgBouncer 1.21, with max_prepared_statements); others cannot be used. */
#ifndef FORAGE_DB_POSTGRES_POOLER_H
#define FORAGE_DB_POSTGRES_POOLER_H

#include "call/call.h"
#include "db/postgres_api.h"

#include <stdbool.h>

/* Whether the connection leads to a pooler. OK, or as of the call; a server that cannot say has
 * none. */
MUST_CHECK int postgres_pooler_there(const struct postgres_api *api, PGconn *handle,
                                     struct call *call, bool *there);
/* Whether it sees to prepared statements, for `handle` at least. A status as above. */
MUST_CHECK int postgres_pooler_prepares(const struct postgres_api *api, PGconn *handle,
                                        struct call *call, bool *does);
/* Whether it gives connections to others between two transactions, told by a second one. A status
 * as above. */
MUST_CHECK int postgres_pooler_shares(const struct postgres_api *api, PGconn *handle,
                                      PGconn *second, struct call *call, bool *does);

#endif
