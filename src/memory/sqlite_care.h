/* Looking after the SQLite file of the memories: see store_backend. */
#ifndef FORAGE_MEMORY_SQLITE_CARE_H
#define FORAGE_MEMORY_SQLITE_CARE_H

#include "db/sqlite.h"
#include "memory/store.h"

/* The file that a session works on. */
struct sqlite *sqlite_store_file(struct store_session *session);

int sqlite_store_scrub(struct store_session *session);
int sqlite_store_verify(struct store_session *session, struct arena *arena, bool repair,
                        struct memory_check *check);
int sqlite_store_backup(struct store_session *session, const char *path);

#endif
