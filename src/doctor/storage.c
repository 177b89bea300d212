/* The check of the database, whichever it is. */
#include "config/config.h"
#include "config/places.h"
#include "core/limits.h"
#include "db/postgres.h"
#include "db/postgres_api.h"
#include "db/sqlite.h"
#include "doctor/check.h"
#include "memory/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- SQLite ---- */

static const char *const FILES[] = {PLACES_RECORDS, PLACES_MEMORIES};

/* Whether the file is whole, and can be written to. */
static bool is_sound(struct look *look, const char *path)
{
    char problem[512];
    struct sqlite_options options = {.path = path, .only_look = true};
    struct sqlite *db = sqlite_open(&options, look->call, problem, sizeof problem);
    if (!db) {
        say(look, FINDING_BROKEN, "%s", problem);
        mend(look, "mv %s %s.broken", path, path);
        return false;
    }
    sqlite_work_for(db, look->call);
    struct sqlite_statement *check = sqlite_prepare(db, "PRAGMA quick_check(1)");
    int status = sqlite_step(check);
    const char *found = status > 0 ? sqlite_text(check, 0) : NULL;
    bool whole = found && strcmp(found, "ok") == 0;
    snprintf(problem, sizeof problem, "%s: %s", path, found ? found : sqlite_problem(db));
    sqlite_end(check);
    if (whole && sqlite_begin(db) != OK) {
        whole = false;
        snprintf(problem, sizeof problem, "%s: %s", path, sqlite_problem(db));
    }
    sqlite_close(db);
    if (!whole) {
        bool memories = strstr(path, PLACES_MEMORIES) != NULL; /* which has a repair of its own */
        say(look, FINDING_BROKEN, "%s", problem);
        if (memories) {
            mend(look, "forage memory check");
        } else {
            mend(look, "mv %s %s.broken", path, path);
        }
    }
    return whole;
}

static void look_at_sqlite(struct look *look)
{
    int made;
    size_t there = 0;
    bool sound = true;
    char *folder = places_data_name(&made);
    if (!folder) {
        say(look, FINDING_UNUSED, "not without a data folder");
        return;
    }
    for (size_t i = 0; sound && i < sizeof FILES / sizeof *FILES; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", folder, FILES[i]) < 0) {
            break;
        }
        if (access(path, F_OK) == 0) {
            there++;
            sound = is_sound(look, path);
        }
        free(path);
    }
    if (sound) {
        say(look, FINDING_OK, there ? "SQLite, whole and writable" : "SQLite, made at first use");
    }
    free(folder);
}

/* ---- PostgreSQL ---- */

static void say_tables(struct look *look, struct postgres *db)
{
    char words[200] = "";
    postgres_ask(db, "SELECT to_regclass('forage_schema') IS NOT NULL");
    bool there = postgres_step(db) > 0 && postgres_int(db, 0) != 0;
    postgres_end(db);
    if (there) {
        postgres_ask(db, "SELECT part, version FROM forage_schema ORDER BY part");
        while (postgres_step(db) > 0) {
            size_t length = strlen(words);
            snprintf(words + length, sizeof words - length, "%s%s %lld", length ? ", " : "",
                     postgres_text(db, 0), (long long)postgres_int(db, 1));
        }
        postgres_end(db);
    }
    if (*words) {
        say(look, FINDING_OK, "PostgreSQL answers; versions of its tables: %s", words);
    } else {
        say(look, FINDING_OK, "PostgreSQL answers; its tables are made at first use");
    }
}

static void look_at_postgres(struct look *look, const char *url)
{
    static const char *const NO_TABLES[] = {NULL};
    const char *missing = NULL;
    char problem[512];
    if (!postgres_api_open(&missing)) {
        say(look, FINDING_BROKEN, "%s", missing);
        mend(look, "apt-get install libpq5");
        return;
    }
    if (!memory_ready(problem, sizeof problem)) {
        say(look, FINDING_BROKEN, "%s", problem);
        mend(look, "export FORAGE_DATABASE_URL=postgresql://USER:PASSWORD@HOST/DATABASE");
        return;
    }
    struct postgres_options options = {.url = url, .part = "doctor", .versions = NO_TABLES};
    struct postgres *db = postgres_open(&options, look->call, problem, sizeof problem);
    if (!db) {
        say(look, FINDING_BROKEN, "PostgreSQL cannot be used: %s", problem);
        mend(look, "psql \"$FORAGE_DATABASE_URL\"");
        return;
    }
    postgres_work_for(db, look->call);
    say_tables(look, db);
    postgres_close(db);
}

void look_at_database(struct look *look)
{
    const char *url = config_text("FORAGE_DATABASE_URL");
    if (url && *url) {
        look_at_postgres(look, url);
    } else {
        look_at_sqlite(look);
    }
}
