/* Looking after the database of the memories: removing old contents from the disk, copying. */
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
