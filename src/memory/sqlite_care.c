/* Scrubbing, verifying and copying the SQLite file. */
#include "memory/sqlite_care.h"

#include "core/buf.h"
#include "core/limits.h"
#include "memory/store_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Old contents of pages stay in the write-ahead log until it is emptied. That has to wait for those
 * who read, so it is tried for a moment only: the next removal tries again. */
int sqlite_store_scrub(struct store_session *session)
{
    struct sqlite *db = sqlite_store_file(session);
    struct call *moment = call_new(&(struct call_options){.timeout_ms = TIME_MEMORY_SCRUB_MS});
    if (!moment) {
        return ERR_NOMEM;
    }
    sqlite_work_for(db, moment);
    int status = sqlite_run(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite_work_for(db, session->call);
    call_free(moment);
    return status;
}

static int told(struct store_session *session, int status)
{
    if (status < 0) {
        snprintf(session->problem, sizeof session->problem, "%s",
                 sqlite_problem(sqlite_store_file(session)));
    }
    return status;
}

/* What is asked for is what is wrong, one row each, and how it is mended. */
static const struct {
    const char *found;
    const char *mended; /* NULL: cannot be rebuilt */
    const char *words;
} CHECKS[] = {
    {"SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "REINDEX",
     "the file"},
    {"SELECT count(*) FROM space WHERE change < (SELECT max(change) FROM memory WHERE space = "
     "space.id) HAVING count(*) > 0",
     "UPDATE space SET change = (SELECT max(change) FROM memory WHERE space = space.id) WHERE "
     "change < (SELECT max(change) FROM memory WHERE space = space.id)",
     "namespaces whose change counter lags behind"},
    {"SELECT count(*) FROM memory WHERE space NOT IN (SELECT id FROM space) HAVING count(*) > 0",
     NULL, "memories of a namespace that is gone"},
    {"SELECT count(*) FROM memory WHERE tags IS NOT NULL AND NOT json_valid(tags) HAVING count(*) "
     "> 0",
     "UPDATE memory SET tags = NULL WHERE NOT json_valid(tags)", "memories with damaged tags"},
};

static int run_check(struct store_session *session, size_t which, bool repair, struct buf *report,
                     struct memory_check *check)
{
    struct sqlite *db = sqlite_store_file(session);
    struct sqlite_statement *query = sqlite_prepare(db, CHECKS[which].found);
    size_t found = 0;
    int status;
    while ((status = sqlite_step(query)) > 0) {
        const char *what = sqlite_text(query, 0);
        if (found++ < LIMIT_MEMORY_CHECK_LINES) {
            buf_printf(report, "%s: %s\n", CHECKS[which].words, what ? what : "");
        }
    }
    sqlite_end(query);
    check->problems += found;
    if (status == OK && found > 0 && repair && CHECKS[which].mended) {
        status = sqlite_run(db, CHECKS[which].mended);
        check->repaired += status == OK ? found : 0;
    }
    return told(session, status);
}

/* Each text against the digest that it was stored with. */
static int check_digests(struct store_session *session, bool repair, struct buf *report,
                         struct memory_check *check)
{
    struct sqlite *db = sqlite_store_file(session);
    struct sqlite_statement *query = sqlite_prepare(db, "SELECT id, text, digest FROM memory");
    int status;
    while ((status = sqlite_step(query)) > 0) {
        size_t length;
        const char *text = sqlite_text(query, 1);
        const void *kept = sqlite_bytes(query, 2, &length);
        unsigned char digest[SHA256_SIZE];
        store_digest(text ? text : "", digest);
        if (++check->memories % 10000 == 0) {
            call_progress(session->call, (double)check->memories, 0, "%lld memories checked",
                          (long long)check->memories);
        }
        if (length == sizeof digest && memcmp(kept, digest, sizeof digest) == 0) {
            continue;
        }
        check->problems++;
        buf_printf(report, "memory %lld: its text is not what was stored\n",
                   (long long)sqlite_int(query, 0));
        if (repair) {
            struct sqlite_statement *mend =
                sqlite_prepare(db, "UPDATE memory SET digest = ?2 WHERE id = ?1");
            sqlite_bind_int(mend, 1, sqlite_int(query, 0));
            sqlite_bind_bytes(mend, 2, digest, sizeof digest);
            check->repaired += sqlite_finish(mend) == OK;
        }
    }
    sqlite_end(query);
    return told(session, status);
}

int sqlite_store_verify(struct store_session *session, struct arena *arena, bool repair,
                        struct memory_check *check)
{
    struct sqlite *db = sqlite_store_file(session);
    struct buf report;
    *check = (struct memory_check){0};
    buf_init(&report, LIMIT_MEMORY_REPORT_BYTES);
    int status = repair ? sqlite_begin(db) : sqlite_begin_reading(db);
    for (size_t i = 0; i < sizeof CHECKS / sizeof *CHECKS && status == OK; i++) {
        status = run_check(session, i, repair, &report, check);
    }
    if (status == OK) {
        status = check_digests(session, repair, &report, check);
    }
    if (status == OK && repair) {
        status = told(session, sqlite_commit(db));
    }
    sqlite_rollback(db);
    check->report = report.data ? arena_strndup(arena, report.data, report.length) : "";
    buf_done(&report);
    return status == OK && !check->report ? ERR_NOMEM : status;
}

/* The copy is made for its owner only, and is on the disk when this returns OK. */
int sqlite_store_backup(struct store_session *session, const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        snprintf(session->problem, sizeof session->problem, "%s: %s", path, strerror(errno));
        return ERR_IO;
    }
    struct sqlite_statement *copy = sqlite_prepare(sqlite_store_file(session), "VACUUM INTO ?1");
    sqlite_bind_text(copy, 1, path);
    int status = told(session, sqlite_finish(copy));
    if (status == OK && fsync(fd) != 0) {
        snprintf(session->problem, sizeof session->problem, "%s: %s", path, strerror(errno));
        status = ERR_IO;
    }
    close(fd);
    if (status != OK) {
        unlink(path);
    }
    return status;
}
