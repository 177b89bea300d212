/* The statements on trials, for both databases. */
#include "ops/trials.h"

#include "core/limits.h"

#define DAY_MS INT64_C(86400000)

#define COLUMNS                                                                                    \
    "experiment, version, arm, unit, tool, at_ms, took_us, nano_usd, failed, claims, verified, "   \
    "nothing_found, pages, reformulates"

int trials_add(struct db *db, const struct trial *trial)
{
    return db_do(db,
                 "INSERT INTO {trials} (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
                 "?10, ?11, ?12, ?13, ?14)",
                 DB_TEXT(trial->experiment), DB_TEXT(trial->version), DB_TEXT(trial->arm),
                 DB_TEXT(trial->unit), DB_TEXT(trial->tool), DB_INT(trial->at_ms),
                 DB_INT(trial->took_us), DB_INT(trial->nano_usd), DB_INT(trial->failed),
                 DB_INT(trial->claims), DB_INT(trial->verified), DB_INT(trial->nothing_found),
                 DB_INT(trial->pages), DB_INT(trial->reformulates));
}

int trials_read(struct db *db, const char *experiment, const char *version,
                bool (*take)(void *context, const struct trial *trial), void *context)
{
    struct db_rows *rows =
        db_at_most(db_ask(db,
                          "SELECT " COLUMNS " FROM {trials} WHERE experiment = "
                          "?1 AND version = ?2 ORDER BY id LIMIT ?3",
                          DB_TEXT(experiment), DB_TEXT(version), DB_INT(LIMIT_TRIALS)),
                   LIMIT_TRIALS);
    int found;
    bool more = true;
    while (more && (found = db_step(rows)) > 0) {
        more = take(context, &(struct trial){
                                 .experiment = db_words(rows, 0),
                                 .version = db_words(rows, 1),
                                 .arm = db_words(rows, 2),
                                 .unit = db_words(rows, 3),
                                 .tool = db_words(rows, 4),
                                 .at_ms = db_int(rows, 5),
                                 .took_us = db_int(rows, 6),
                                 .nano_usd = db_int(rows, 7),
                                 .failed = db_int(rows, 8),
                                 .claims = db_int(rows, 9),
                                 .verified = db_int(rows, 10),
                                 .nothing_found = db_int(rows, 11),
                                 .pages = db_int(rows, 12),
                                 .reformulates = db_int(rows, 13),
                             });
    }
    db_end(rows);
    return more ? found : OK;
}

int trials_of_others(struct db *db, const char *experiment, const char *version, int64_t *count)
{
    int found = db_numbers(
        db_ask(db, "SELECT count(*) FROM {trials} WHERE experiment = ?1 AND version <> ?2",
               DB_TEXT(experiment), DB_TEXT(version)),
        count, 1);
    return found < 0 ? found : OK;
}

int trials_tidy(struct db *db, int64_t now_ms)
{
    int status = db_do(db, "DELETE FROM {trials} WHERE at_ms < ?1",
                       DB_INT(now_ms - LIMIT_TRIAL_DAYS * DAY_MS));
    return status == OK ? db_do(db,
                                "DELETE FROM {trials} WHERE id <= (SELECT max(id) FROM {trials}) "
                                "- ?1",
                                DB_INT(LIMIT_TRIALS))
                        : status;
}
