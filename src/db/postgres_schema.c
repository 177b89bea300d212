/* The tables of a part of the program, and their versions. forage_schema says which version each
 * part is at. A version is made in one transaction under a lock: whoever comes second finds it
 * made, and an interrupted one never was. */
#include "db/postgres_connect.h"

#include <stdio.h>

/* One lock for the tables of all parts; the number is "forage". */
#define LOCK_TABLES "SELECT pg_advisory_xact_lock(112628846389093)"

/* 0: there are none. */
static int read_version(struct postgres *db, const char *part, int *version)
{
    *version = 0;
    postgres_ask(db, "SELECT to_regclass('forage_schema') IS NOT NULL");
    int status = postgres_step(db);
    bool there = status > 0 && postgres_int(db, 0) != 0;
    postgres_end(db);
    if (status < 0 || !there) {
        return status < 0 ? status : OK;
    }
    postgres_ask(db, "SELECT version FROM forage_schema WHERE part = $1");
    postgres_give_text(db, part);
    status = postgres_step(db);
    *version = status > 0 ? (int)postgres_int(db, 0) : 0;
    postgres_end(db);
    return status < 0 ? status : OK;
}

static int write_version(struct postgres *db, const char *part, int version)
{
    postgres_ask(db, "INSERT INTO forage_schema (part, version) VALUES ($1, $2) ON CONFLICT (part) "
                     "DO UPDATE SET version = excluded.version");
    postgres_give_text(db, part);
    postgres_give_int(db, version);
    return postgres_finish(db);
}

static int upgrade(struct postgres *db, const char *part, const char *const *versions, int newest,
                   int *version)
{
    int status = postgres_begin(db);
    if (status == OK) {
        status = postgres_run(db, LOCK_TABLES);
    }
    if (status == OK) {
        status = postgres_run(db, "CREATE TABLE IF NOT EXISTS forage_schema (part TEXT PRIMARY "
                                  "KEY, version INTEGER NOT NULL)");
    }
    if (status == OK) {
        status = read_version(db, part, version);
    }
    bool behind = *version < newest; /* nobody was faster */
    for (; status == OK && *version < newest; (*version)++) {
        status = postgres_run(db, versions[*version]);
    }
    if (status == OK && behind) {
        status = write_version(db, part, *version);
    }
    if (status == OK && behind) {
        status = postgres_commit(db);
    }
    postgres_rollback(db);
    return status;
}

int postgres_migrate(struct postgres *db, const char *part, const char *const *versions,
                     int *version, char *problem, size_t size)
{
    int newest = 0;
    while (versions[newest]) {
        newest++;
    }
    int status = read_version(db, part, version);
    if (status == OK && *version < newest) {
        status = upgrade(db, part, versions, newest, version);
    }
    if (status == OK && *version > newest) {
        snprintf(problem, size,
                 "the database's tables (%s) are of version %d, made by a newer forage; this one "
                 "knows version %d: use the newer one",
                 part, *version, newest);
        return ERR_IO;
    }
    if (status != OK) {
        snprintf(problem, size, "%s", postgres_problem(db));
    }
    return status;
}
