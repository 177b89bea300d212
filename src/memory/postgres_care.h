/* Looking after the memories in PostgreSQL: see store_backend. */
#ifndef FORAGE_MEMORY_POSTGRES_CARE_H
#define FORAGE_MEMORY_POSTGRES_CARE_H

#include "db/postgres.h"
#include "memory/store.h"

/* The connection that a session works on. */
struct postgres *postgres_store_database(struct store_session *session);

int postgres_store_scrub(struct store_session *session);
int postgres_store_verify(struct store_session *session, struct arena *arena, bool repair,
                          struct memory_check *check);
int postgres_store_backup(struct store_session *session, const char *path);

#endif
