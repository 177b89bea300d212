/* Looking after the database of the memories: copying it. */
#include "memory/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
