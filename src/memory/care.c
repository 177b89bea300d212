/* Looking after the database of the memories: removing old contents from the disk, verifying,
 * copying. */
#include "core/buf.h"
#include "core/limits.h"
#include "memory/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Old contents of pages stay in SQLite's write-ahead log until it is emptied. That has to wait for
 * those who read, so it is tried for a moment only: the next removal tries again. A server vacuums
 * by itself. */
int store_scrub(struct db *db)
{
    if (db_is_postgres(db)) {
        return OK;
    }
    struct call *call = db_call(db);
    struct call *moment = call_new(&(struct call_options){.timeout_ms = TIME_MEMORY_SCRUB_MS});
    if (!moment) {
        return ERR_NOMEM;
    }
    db_work_for(db, moment);
    int status = db_run(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    db_work_for(db, call);
    call_free(moment);
    return status;
}

/* ---- verifying ---- */

#define LAGS    "change < (SELECT max(change) FROM {memory} WHERE space = {space}.id)"
#define DAMAGED "digest <> sha256(convert_to(text, 'UTF8'))"

/* Each row is one check: a query that lists what is wrong, and the statement that repairs it (NULL
 * where nothing can). */
static const struct {
    enum { ON_BOTH, ON_SQLITE, ON_POSTGRES } where;
    const char *find;
    const char *repair;
    const char *words;
} CHECKS[] = {
    {ON_SQLITE, "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
     "REINDEX", "the file"},
    {ON_BOTH, "SELECT CAST(count(*) AS TEXT) FROM {space} WHERE " LAGS " HAVING count(*) > 0",
     "UPDATE {space} SET change = (SELECT max(change) FROM {memory} WHERE space = {space}.id) "
     "WHERE " LAGS,
     "namespaces whose change counter lags behind"},
    {ON_BOTH,
     "SELECT CAST(count(*) AS TEXT) FROM {memory} WHERE space NOT IN (SELECT id FROM {space}) "
     "HAVING count(*) > 0",
     NULL, "memories of a namespace that is gone"},
    {ON_SQLITE,
     "SELECT count(*) FROM memory WHERE tags IS NOT NULL AND NOT json_valid(tags) HAVING count(*) "
     "> 0",
     "UPDATE memory SET tags = NULL WHERE NOT json_valid(tags)", "memories with damaged tags"},
    {ON_POSTGRES, "SELECT id::text FROM {memory} WHERE " DAMAGED " ORDER BY id",
     "UPDATE {memory} SET digest = sha256(convert_to(text, 'UTF8')) WHERE " DAMAGED,
     "memory whose text is not what was stored"},
};

static int run_check(struct db *db, size_t which, bool repair, struct buf *report,
                     struct memory_check *check)
{
    struct db_rows *rows = db_query(db, CHECKS[which].find, NULL, 0);
    size_t found = 0;
    int status;
    while ((status = db_step(rows)) > 0) {
        const char *what = db_text(rows, 0);
        if (found++ < LIMIT_MEMORY_CHECK_LINES) {
            buf_printf(report, "%s: %s\n", CHECKS[which].words, what ? what : "");
        }
    }
    db_end(rows);
    check->problems += found;
    if (status == OK && found > 0 && repair && CHECKS[which].repair) {
        status = db_run(db, CHECKS[which].repair);
        check->repaired += status == OK ? found : 0;
    }
    return status;
}

/* Each text against the digest that it was stored with. A server does that itself (CHECKS), and
 * only counts here. SQLite may change a row while it walks. */
static int check_digests(struct db *db, bool repair, struct buf *report, struct memory_check *check)
{
    if (db_is_postgres(db)) {
        int counted =
            db_numbers(db_query(db, "SELECT count(*) FROM {memory}", NULL, 0), &check->memories, 1);
        return counted < 0 ? counted : OK;
    }
    struct db_rows *rows = db_query(db, "SELECT id, text, digest FROM {memory}", NULL, 0);
    int status;
    while ((status = db_step(rows)) > 0) {
        size_t length;
        const char *text = db_text(rows, 1);
        const void *stored = db_bytes(rows, 2, &length);
        unsigned char digest[SHA256_SIZE];
        store_digest(text ? text : "", digest);
        if (++check->memories % 10000 == 0) {
            call_progress(db_call(db), (double)check->memories, 0, "%lld memories checked",
                          (long long)check->memories);
        }
        if (length == sizeof digest && memcmp(stored, digest, sizeof digest) == 0) {
            continue;
        }
        check->problems++;
        buf_printf(report, "memory %lld: its text is not what was stored\n",
                   (long long)db_int(rows, 0));
        if (repair) {
            check->repaired +=
                db_do(db, "UPDATE {memory} SET digest = ?2 WHERE id = ?1", DB_INT(db_int(rows, 0)),
                      DB_BYTES(digest, sizeof digest)) == OK;
        }
    }
    db_end(rows);
    return status;
}

int store_verify(struct db *db, struct arena *arena, bool repair, struct memory_check *check)
{
    struct buf report;
    *check = (struct memory_check){0};
    buf_init(&report, LIMIT_MEMORY_REPORT_BYTES);
    int status = repair ? db_begin(db, true) : db_begin_reading(db);
    for (size_t i = 0; i < sizeof CHECKS / sizeof *CHECKS && status == OK; i++) {
        if (CHECKS[i].where == ON_BOTH || (CHECKS[i].where == ON_POSTGRES) == db_is_postgres(db)) {
            status = run_check(db, i, repair, &report, check);
        }
    }
    if (status == OK) {
        status = check_digests(db, repair, &report, check);
    }
    if (status == OK && repair) {
        status = db_commit(db);
    }
    db_rollback(db);
    check->report = report.data ? arena_strndup(arena, report.data, report.length) : "";
    buf_done(&report);
    return status == OK && !check->report ? ERR_NOMEM : status;
}

/* The copy is made for its owner only, and is on the disk when this returns OK. */
int store_backup(struct db *db, const char *path, char *problem, size_t size)
{
    if (db_is_postgres(db)) {
        return ERR_UNSUPPORTED;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        snprintf(problem, size, "%s: %s", path, strerror(errno));
        return ERR_IO;
    }
    int status = db_do(db, "VACUUM INTO ?1", DB_TEXT(path));
    snprintf(problem, size, "%s", db_problem(db));
    if (status == OK && fsync(fd) != 0) {
        snprintf(problem, size, "%s: %s", path, strerror(errno));
        status = ERR_IO;
    }
    close(fd);
    if (status != OK) {
        unlink(path);
    }
    return status;
}
