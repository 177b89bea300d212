/* Looking after the database of the memories: copying it. */
#include "core/files.h"
#include "memory/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The copy is made for its owner only, and is on the disk when this returns OK. */
int store_backup(struct db *db, const char *path, char *problem, size_t size)
{
    if (db_is_postgres(db)) {
        return ERR_UNSUPPORTED;
    }
    int fd = new_file(path);
    int copied = fd >= 0 ? db_do(db, "VACUUM INTO ?1", DB_TEXT(path)) : ERR_IO;
    int status = fd >= 0 ? new_file_end(fd, path, copied) : copied;
    if (fd >= 0 && copied != OK) {
        snprintf(problem, size, "%s", db_problem(db));
    } else {
        snprintf(problem, size, "%s: %s", path, strerror(errno));
    }
    return status;
}
