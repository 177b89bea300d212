/* The tables of memories, and of what belongs to them: versions, removals, vectors. */
#ifndef FORAGE_MEMORY_SCHEMA_H
#define FORAGE_MEMORY_SCHEMA_H

#include "db/db.h"

extern const struct db_schema STORE_SCHEMA;

#endif
