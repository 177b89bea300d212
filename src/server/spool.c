/* The file is made in the data folder, whose disk has the room that memories need anyway: the
 * folder for temporary files is often memory. */
#include "server/spool.h"

#include "call/call.h"
#include "call/errors.h"
#include "call/parts.h"
#include "config/places.h"
#include "core/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_IN_MEMORY KIB(128)

void spool_init(struct spool *spool, struct call *call, struct stock *stock)
{
    *spool = (struct spool){.call = call, .stock = stock, .file = -1};
    buf_init(&spool->memory, MOST_IN_MEMORY);
}

void spool_done(struct spool *spool)
{
    if (spool->file >= 0) {
        close(spool->file);
    }
    buf_done(&spool->memory);
    stock_give_all(&spool->bytes);
}

/* ---- room ---- */

int spool_expect(struct spool *spool, size_t bytes)
{
    if (bytes <= MOST_IN_MEMORY || bytes <= spool->bytes.units) {
        return OK;
    }
    int status = stock_take(spool->stock, call_owner(spool->call), false,
                            bytes - spool->bytes.units, &spool->bytes);
    if (status != OK) {
        call_fail_retry_after(spool->call, 1);
        call_fail(
            spool->call, CODE_BUSY, "%s",
            status == ERR_LIMIT
                ? "you are importing as many bytes at once as one caller may while others can "
                  "come; wait until an import of yours has ended"
                : "imports of as many bytes as there may be at once are under way; try again "
                  "in a moment");
    }
    return status == OK ? OK : ERR_FAILED;
}

/* ---- the file ---- */

/* A file without a name in that folder; negative with errno. */
static int open_in(const char *folder)
{
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) {
        return file;
    }
    char name[4096];
    if (snprintf(name, sizeof name, "%s/.import-XXXXXX", folder) >= (int)sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file = mkostemp(name, O_CLOEXEC);
    if (file >= 0) {
        unlink(name);
    }
    return file;
}

static int open_file(const struct call *call)
{
    char problem[256];
    char *data = places_data(call_parts(call)->places, problem, sizeof problem);
    int file = data ? open_in(data) : -1;
    free(data);
    return file >= 0 ? file : open_in("/var/tmp"); /* memories may be on a server */
}

/* The words name no place of this machine: the caller may be anybody. */
static int fail(struct spool *spool, const char *what)
{
    return call_fail(spool->call, CODE_CONFIG,
                     "the import cannot be %s while it is checked: %s; it is the disk of the data "
                     "folder",
                     what, strerror(errno));
}

static int write_all(struct spool *spool, struct slice piece)
{
    while (piece.length) {
        ssize_t written = write(spool->file, piece.data, piece.length);
        if (written < 0 && errno != EINTR) {
            return fail(spool, "stored");
        }
        if (written > 0) {
            piece.data += written;
            piece.length -= (size_t)written;
        }
    }
    return OK;
}

int spool_add(struct spool *spool, struct slice piece)
{
    int status = spool_expect(spool, spool->length + piece.length);
    if (status != OK) {
        return status;
    }
    spool->length += piece.length;
    if (spool->file < 0 && spool->length <= MOST_IN_MEMORY) {
        return piece.length ? buf_append(&spool->memory, piece.data, piece.length) : OK;
    }
    if (spool->file < 0) {
        spool->file = open_file(spool->call);
        status = spool->file < 0
                     ? fail(spool, "stored")
                     : write_all(spool, (struct slice){spool->memory.data, spool->memory.length});
        buf_done(&spool->memory);
    }
    return status == OK ? write_all(spool, piece) : status;
}

int spool_read(struct spool *spool, size_t at, char *memory, size_t size, struct slice *piece)
{
    size_t left = spool->length - at;
    size = left < size ? left : size;
    if (spool->file < 0) {
        *piece = (struct slice){spool->memory.data ? spool->memory.data + at : "", size};
        return OK;
    }
    ssize_t got;
    do {
        got = pread(spool->file, memory, size, (off_t)at);
    } while (got < 0 && errno == EINTR);
    if (got == 0 && size > 0) {
        errno = EIO;
    }
    *piece = (struct slice){memory, got > 0 ? (size_t)got : 0};
    return got < 0 || (got == 0 && size > 0) ? fail(spool, "read") : OK;
}
