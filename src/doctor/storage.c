/* The check of the database, whichever it is. */
#include "config/config.h"
#include "config/places.h"
#include "core/limits.h"
#include "db/db.h"
#include "db/postgres_api.h"
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
    struct db_options options = {.path = path};
    struct db *db = db_open(&options, look->call, problem, sizeof problem);
    if (!db) {
        say(look, FINDING_BROKEN, "%s", problem);
        mend(look, "mv %s %s.broken", path, path);
        return false;
    }
    db_work_for(db, look->call);
    struct db_rows *check = db_query(db, "PRAGMA quick_check(1)", NULL, 0);
    int status = db_step(check);
    const char *found = status > 0 ? db_text(check, 0) : NULL;
    bool whole = found && strcmp(found, "ok") == 0;
    snprintf(problem, sizeof problem, "%s: %s", path, found ? found : db_problem(db));
    db_end(check);
    if (whole && db_begin(db, true) != OK) {
        whole = false;
        snprintf(problem, sizeof problem, "%s: %s", path, db_problem(db));
    }
    db_close(db);
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

static void say_tables(struct look *look, struct db *db)
{
    char words[200] = "";
    int64_t there = 0;
    if (db_numbers(db_query(db, "SELECT to_regclass('forage_schema') IS NOT NULL", NULL, 0), &there,
                   1) > 0 &&
        there) {
        struct db_rows *rows =
            db_query(db, "SELECT part, version FROM forage_schema ORDER BY part", NULL, 0);
        while (db_step(rows) > 0) {
            size_t length = strlen(words);
            snprintf(words + length, sizeof words - length, "%s%s %lld", length ? ", " : "",
                     db_text(rows, 0), (long long)db_int(rows, 1));
        }
        db_end(rows);
    }
    if (*words) {
        say(look, FINDING_OK, "PostgreSQL answers; versions of its tables: %s", words);
    } else {
        say(look, FINDING_OK, "PostgreSQL answers; its tables are made at first use");
    }
}

static void look_at_postgres(struct look *look, const char *url)
{
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
    struct db_options options = {.url = url};
    struct db *db = db_open(&options, look->call, problem, sizeof problem);
    if (!db) {
        say(look, FINDING_BROKEN, "PostgreSQL cannot be used: %s", problem);
        mend(look, "psql \"$FORAGE_DATABASE_URL\"");
        return;
    }
    db_work_for(db, look->call);
    say_tables(look, db);
    db_close(db);
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
