/* The tables of memories, version by version, for each database. What a version made is never
 * changed: the next one makes of it what it should be. */
#include "memory/schema.h"

#include "memory/store.h"

#define COUNT_ALL "INSERT INTO {owner} (owner, bytes) " STORE_COUNTED
/* The bytes of an owner move into the table of its spaces, for which store.h has the reason. */
#define JOIN_OWNERS                                                                                \
    "INSERT INTO {space} (owner, name, bytes) SELECT owner, '', bytes FROM {owner};"               \
    "DROP TABLE {owner};"

static const char *const SQLITE_VERSIONS[] = {
    "CREATE TABLE space ("
    " id INTEGER PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL,"
    " change INTEGER NOT NULL DEFAULT 0, horizon INTEGER NOT NULL DEFAULT 0, UNIQUE (owner, name));"
    "CREATE TABLE memory ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL, change INTEGER NOT NULL,"
    " key TEXT NOT NULL, summary TEXT NOT NULL, text TEXT NOT NULL, tags TEXT, metadata TEXT,"
    " session TEXT, place INTEGER NOT NULL, role TEXT, created INTEGER NOT NULL,"
    " updated INTEGER NOT NULL, expires INTEGER NOT NULL, version INTEGER NOT NULL,"
    " digest BLOB NOT NULL, UNIQUE (space, key));"
    "CREATE UNIQUE INDEX memory_change ON memory (space, change);"
    "CREATE INDEX memory_digest ON memory (substr(digest, 1, 8));"
    "CREATE INDEX memory_created ON memory (space, created);"
    "CREATE INDEX memory_session ON memory (space, session, place) WHERE session IS NOT NULL;"
    "CREATE INDEX memory_expires ON memory (expires) WHERE expires > 0;"
    "CREATE TABLE removed ("
    " space INTEGER NOT NULL, change INTEGER NOT NULL, id INTEGER NOT NULL,"
    " PRIMARY KEY (space, change)) WITHOUT ROWID;",
    "CREATE TABLE memory_version ("
    " id INTEGER NOT NULL, version INTEGER NOT NULL, summary TEXT NOT NULL, text TEXT NOT NULL,"
    " tags TEXT, metadata TEXT, session TEXT, place INTEGER NOT NULL, role TEXT,"
    " created INTEGER NOT NULL, updated INTEGER NOT NULL, expires INTEGER NOT NULL,"
    " digest BLOB NOT NULL, PRIMARY KEY (id, version)) WITHOUT ROWID;",
    "CREATE TABLE owner (owner TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;" COUNT_ALL,
    "CREATE TABLE embedding ("
    " id INTEGER PRIMARY KEY, space INTEGER NOT NULL, model TEXT NOT NULL,"
    " seen INTEGER NOT NULL DEFAULT 0, complete INTEGER NOT NULL DEFAULT 0,"
    " holder TEXT, until INTEGER NOT NULL DEFAULT 0, UNIQUE (space, model));"
    "CREATE TABLE memory_vector ("
    " id INTEGER NOT NULL, embedding INTEGER NOT NULL, change INTEGER NOT NULL,"
    " dimensions INTEGER NOT NULL, vectors BLOB NOT NULL, PRIMARY KEY (id, embedding));"
    "CREATE UNIQUE INDEX memory_vector_change ON memory_vector (embedding, change);",
    /* Ids are given (store.h). AUTOINCREMENT could go only with a copy of every memory; at its end
     * the counter is not written any more. */
    "ALTER TABLE space ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;" JOIN_OWNERS
    "DELETE FROM sqlite_sequence WHERE name = 'memory';"
    "INSERT INTO sqlite_sequence (name, seq) VALUES ('memory', 9223372036854775807);",
    NULL,
};

/* The rows of a space and of its owner change with every memory: they get room to do so in place.
 */
static const char *const POSTGRES_VERSIONS[] = {
    "CREATE TABLE forage_space ("
    " id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " owner TEXT COLLATE \"C\" NOT NULL, name TEXT COLLATE \"C\" NOT NULL,"
    " change BIGINT NOT NULL DEFAULT 0, horizon BIGINT NOT NULL DEFAULT 0,"
    " UNIQUE (owner, name)) WITH (fillfactor = 50);"
    "CREATE TABLE forage_memory ("
    " id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, space BIGINT NOT NULL,"
    " change BIGINT NOT NULL, key TEXT COLLATE \"C\" NOT NULL, summary TEXT NOT NULL,"
    " text TEXT NOT NULL, tags JSONB, metadata TEXT, session TEXT COLLATE \"C\","
    " place BIGINT NOT NULL, role TEXT COLLATE \"C\", created BIGINT NOT NULL,"
    " updated BIGINT NOT NULL, expires BIGINT NOT NULL, version BIGINT NOT NULL,"
    " digest BYTEA NOT NULL, UNIQUE (space, key));"
    "CREATE UNIQUE INDEX forage_memory_change ON forage_memory (space, change);"
    "CREATE INDEX forage_memory_digest ON forage_memory (space, digest);"
    "CREATE INDEX forage_memory_created ON forage_memory (space, created, id);"
    "CREATE INDEX forage_memory_session ON forage_memory (space, session, place)"
    " WHERE session IS NOT NULL;"
    "CREATE INDEX forage_memory_expires ON forage_memory (expires) WHERE expires > 0;"
    "CREATE TABLE forage_removed ("
    " space BIGINT NOT NULL, change BIGINT NOT NULL, id BIGINT NOT NULL,"
    " PRIMARY KEY (space, change));",
    "CREATE TABLE forage_memory_version ("
    " id BIGINT NOT NULL, version BIGINT NOT NULL, summary TEXT NOT NULL, text TEXT NOT NULL,"
    " tags JSONB, metadata TEXT, session TEXT COLLATE \"C\", place BIGINT NOT NULL,"
    " role TEXT COLLATE \"C\", created BIGINT NOT NULL, updated BIGINT NOT NULL,"
    " expires BIGINT NOT NULL, digest BYTEA NOT NULL, PRIMARY KEY (id, version));",
    "CREATE TABLE forage_owner (owner TEXT COLLATE \"C\" PRIMARY KEY, bytes BIGINT NOT NULL)"
    " WITH (fillfactor = 50);" COUNT_ALL,
    "CREATE TABLE forage_embedding ("
    " id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, space BIGINT NOT NULL,"
    " model TEXT COLLATE \"C\" NOT NULL, seen BIGINT NOT NULL DEFAULT 0,"
    " complete BIGINT NOT NULL DEFAULT 0, holder TEXT, until BIGINT NOT NULL DEFAULT 0,"
    " UNIQUE (space, model)) WITH (fillfactor = 50);"
    "CREATE TABLE forage_memory_vector ("
    " id BIGINT NOT NULL, embedding BIGINT NOT NULL, change BIGINT NOT NULL,"
    " dimensions BIGINT NOT NULL, vectors BYTEA NOT NULL, PRIMARY KEY (id, embedding));"
    "CREATE UNIQUE INDEX forage_memory_vector_change ON forage_memory_vector (embedding, change);",
    "ALTER TABLE forage_space ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;" JOIN_OWNERS,
    /* What tells this history of the database from another one: a standby that takes over gets a
     * timeline of its own. A server that cannot say has an era without a name. */
    "ALTER TABLE forage_space ADD COLUMN era TEXT COLLATE \"C\","
    " ADD COLUMN lost_after BIGINT NOT NULL DEFAULT 0,"
    " ADD COLUMN lost_until BIGINT NOT NULL DEFAULT 0;"
    "CREATE FUNCTION forage_era() RETURNS TEXT LANGUAGE plpgsql AS $$ BEGIN"
    " RETURN (SELECT system_identifier FROM pg_control_system()) || '/'"
    " || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8);"
    " EXCEPTION WHEN OTHERS THEN RETURN ''; END $$",
    NULL,
};

const struct db_schema STORE_SCHEMA = {"memory", SQLITE_VERSIONS, POSTGRES_VERSIONS};
