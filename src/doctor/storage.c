/* Checks of what forage keeps: its folders, the database, whichever it is, and what finds memories.
 */
#include "config/config.h"
#include "config/places.h"
#include "core/files.h"
#include "core/limits.h"
#include "db/db.h"
#include "db/postgres_api.h"
#include "doctor/check.h"
#include "meaning/model.h"
#include "memory/memory.h"
#include "source/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LITTLE_ROOM_MB   64
#define DATABASE_EXAMPLE "postgresql://USER:PASSWORD@HOST/DATABASE"

/* Whether a file can be made in it: permissions do not tell of file systems that are read-only. */
static bool can_write(const char *folder)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/.doctor-XXXXXX", folder) >= (int)sizeof path) {
        return false;
    }
    int fd = mkstemp(path);
    if (fd >= 0) {
        unlink(path);
        close(fd);
    }
    return fd >= 0;
}

static void cannot(struct look *look, const struct folder *folder, const char *why)
{
    report(look, FINDING_BROKEN, "%s %s", folder->path, why);
    suggest_setting(look, folder->variable, "/a/folder/that/can/be/written/to");
}

/* The folder is not there: one above it must be, and let it be made. */
static void look_at_absent(struct look *look, const struct folder *folder)
{
    char above[4096];
    struct stat about;
    snprintf(above, sizeof above, "%s", folder->path);
    for (int i = 0; i < folder->made; i++) {
        char *slash = strrchr(above, '/');
        if (!slash) {
            break;
        }
        slash[slash == above] = '\0';
        if (stat(above, &about) == 0) {
            break;
        }
    }
    if (stat(above, &about) != 0 || !S_ISDIR(about.st_mode) || access(above, W_OK | X_OK) != 0) {
        cannot(look, folder, "is not there and cannot be made");
    } else {
        report(look, FINDING_OK, "%s, made at first use", folder->path);
    }
}

void look_at_folder(struct look *look, const struct folder *folder)
{
    const char *path = folder->path;
    struct stat about;
    struct statvfs room;
    if (stat(path, &about) != 0 && errno == ENOENT) {
        look_at_absent(look, folder);
        return;
    }
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        cannot(look, folder, "is no folder");
        return;
    }
    if (!can_write(path)) {
        cannot(look, folder, "cannot be written to");
        return;
    }
    report(look, FINDING_OK, "%s", path);
    if (folder->private && (about.st_mode & 077)) {
        report(look, FINDING_WARNING, "%s is open to others (mode %04o)", path,
               (unsigned)about.st_mode & 07777);
        suggest_on(look, "chmod 700", path);
    }
    unsigned long long free_mb = statvfs(path, &room) == 0
                                     ? (unsigned long long)room.f_bavail * room.f_frsize >> 20
                                     : LITTLE_ROOM_MB;
    if (free_mb < LITTLE_ROOM_MB) {
        report(look, FINDING_WARNING, "%s has only %llu MB left", path, free_mb);
        suggest_on(look, "df -h", path);
    }
}

void look_at_data(struct look *look)
{
    const char *url = config_text("FORAGE_DATABASE_URL");
    if (url && *url) {
        report(look, FINDING_UNUSED, "everything is kept in the database of FORAGE_DATABASE_URL");
        return;
    }
    int made = 0;
    char *path = places_data_name(&made);
    if (path) {
        look_at_folder(look, &(struct folder){path, made, "FORAGE_DATA_DIR", true});
    } else {
        report(look, FINDING_BROKEN, "there is no home folder");
        suggest_setting(look, "FORAGE_DATA_DIR", "/var/lib/forage");
    }
    free(path);
}

void look_at_cache(struct look *look)
{
    if (config_duration_ms("FORAGE_CACHE_TTL") == 0) {
        report(look, FINDING_UNUSED, "FORAGE_CACHE_TTL is 0: pages are not kept");
        return;
    }
    char *path = source_cache_folder();
    if (path) {
        look_at_folder(look, &(struct folder){path, 2, "FORAGE_CACHE_DIR", true});
    } else {
        report(look, FINDING_MISSING, "there is no home folder: pages are not kept");
        suggest_setting(look, "FORAGE_CACHE_DIR", "/var/cache/forage");
    }
    free(path);
}

/* ---- SQLite ---- */

static const char *const FILES[] = {PLACES_RECORDS, PLACES_MEMORIES};

/* Whether the file is whole, and can be written to. */
static bool is_sound(struct look *look, const char *path)
{
    char problem[512];
    struct db_options options = {.path = path};
    struct db *db = db_open(&options, look->call, problem, sizeof problem);
    if (!db) {
        report(look, FINDING_BROKEN, "%s", problem);
        suggest(look, "mv %s %s.broken", path, path);
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
        report(look, FINDING_BROKEN, "%s", problem);
        if (memories) {
            suggest(look, "forage memory check");
        } else {
            suggest(look, "mv %s %s.broken", path, path);
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
        report(look, FINDING_UNUSED, "not without a data folder");
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
        report(look, FINDING_OK,
               there ? "SQLite, whole and writable" : "SQLite, made at first use");
    }
    free(folder);
}

/* ---- PostgreSQL ---- */

static void report_tables(struct look *look, struct db *db)
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
                     db_words(rows, 0), (long long)db_int(rows, 1));
        }
        db_end(rows);
    }
    if (*words) {
        report(look, FINDING_OK, "PostgreSQL answers; versions of its tables: %s", words);
    } else {
        report(look, FINDING_OK, "PostgreSQL answers; its tables are made at first use");
    }
}

static void look_at_postgres(struct look *look, const char *url)
{
    const char *missing = NULL;
    char problem[512];
    if (!postgres_api_open(&missing)) {
        report(look, FINDING_BROKEN, "%s", missing);
        suggest(look, "apt-get install libpq5");
        return;
    }
    if (!memory_ready(problem, sizeof problem)) {
        report(look, FINDING_BROKEN, "%s", problem);
        suggest_setting(look, "FORAGE_DATABASE_URL", DATABASE_EXAMPLE);
        return;
    }
    struct db_options options = {.url = url};
    struct db *db = db_open(&options, look->call, problem, sizeof problem);
    if (!db) {
        report(look, FINDING_BROKEN, "PostgreSQL cannot be used: %s", problem);
        if (strcmp(config_origin("FORAGE_DATABASE_URL"), "environment") == 0) {
            suggest(look, "psql \"$FORAGE_DATABASE_URL\"");
        } else {
            suggest_setting(look, "FORAGE_DATABASE_URL", DATABASE_EXAMPLE);
        }
        return;
    }
    db_work_for(db, look->call);
    report_tables(look, db);
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

/* ---- the model of meanings ---- */

#define MODEL_EXAMPLE "/usr/share/forage/models/" MODEL_FILE

/* Whether it gives a vector: processors differ, so that it is tried. */
static int try_model(const struct embedding_model *model)
{
    static const char TEXT[] = "a text";
    float vector[MODEL_DIMENSIONS];
    struct model_work *work = model_work_new();
    int status =
        work ? model_embed(model, work, MODEL_QUERY, TEXT, sizeof TEXT - 1, vector) : ERR_NOMEM;
    model_work_free(work);
    return status;
}

void look_at_model(struct look *look)
{
    char path[OWN_PATH_SIZE];
    char problem[512];
    struct embedding_model *model = NULL;
    const char *endpoint = config_text("FORAGE_EMBEDDINGS_URL");
    if (endpoint && *endpoint) {
        report(look, FINDING_OK, "%s, by the endpoint that FORAGE_EMBEDDINGS_URL names",
               config_text("FORAGE_EMBEDDINGS_MODEL"));
        return;
    }
    if (!model_find(path, sizeof path)) {
        report(look, FINDING_MISSING, "no model: memories are found by their words alone");
        suggest(look, "%s", model_install());
        return;
    }
    if (model_open(path, &model, problem, sizeof problem) != OK) {
        report(look, FINDING_BROKEN, "%s", problem);
        suggest_setting(look, "FORAGE_EMBEDDINGS_FILE", MODEL_EXAMPLE);
    } else if (try_model(model) != OK) {
        report(look, FINDING_BROKEN, "%s gives no vector", path);
        suggest_setting(look, "FORAGE_EMBEDDINGS_FILE", MODEL_EXAMPLE);
    } else {
        report(look, FINDING_OK, "%s (%s), computed with %s", model_name(model), path,
               model_kernels());
    }
    model_free(model);
}
