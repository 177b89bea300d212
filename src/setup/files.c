/* Reading and replacing files. */
#include "setup/files.h"

#include "core/files.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int explain(const char *path, char *problem, size_t size)
{
    snprintf(problem, size, "%s: %s", path, strerror(errno));
    return ERR_IO;
}

/* ---- reading ---- */

static int read_all(int fd, struct buf *text)
{
    char piece[KIB(16)];
    for (;;) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got == 0) {
            return buf_error(text);
        }
        if (got > 0) {
            buf_append(text, piece, (size_t)got);
        } else if (errno != EINTR) {
            return ERR_IO;
        }
        if (buf_error(text) != OK) {
            return buf_error(text);
        }
    }
}

int files_read(const char *path, struct buf *text, char *problem, size_t size)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        if (lstat(path, &about) != 0) {
            return ERR_NOTFOUND;
        }
        snprintf(problem, size, "%s is a link to a file that is not there", path);
        return ERR_IO;
    }
    if (fd < 0 || fstat(fd, &about) != 0) {
        explain(path, problem, size);
        if (fd >= 0) {
            close(fd);
        }
        return ERR_IO;
    }
    int status = OK;
    if (!S_ISREG(about.st_mode)) {
        snprintf(problem, size, "%s is no file", path);
        status = ERR_IO;
    } else {
        status = read_all(fd, text);
        if (status == ERR_LIMIT) {
            snprintf(problem, size, "%s is larger than %zu MiB", path,
                     LIMIT_SETUP_FILE_BYTES / MIB(1));
        } else if (status != OK) {
            explain(path, problem, size);
        }
    }
    close(fd);
    return status;
}

/* ---- keys ---- */

/* Whether a folder above the file, or one that it will be made in, is a Git repository. */
static bool is_in_repository(const char *path)
{
    char place[PATH_MAX];
    snprintf(place, sizeof place, "%s", path);
    for (char *slash = strrchr(place, '/'); slash; slash = strrchr(place, '/')) {
        char sign[PATH_MAX + 8];
        *slash = '\0';
        snprintf(sign, sizeof sign, "%s/.git", place);
        if (access(sign, F_OK) == 0) {
            return true;
        }
    }
    return false;
}

int files_check_for_keys(const char *path, char *problem, size_t size)
{
    char real[PATH_MAX];
    struct stat about;
    if (!realpath(path, real)) {
        snprintf(real, sizeof real, "%s", path);
    } else if (stat(real, &about) == 0 && about.st_uid != geteuid()) {
        snprintf(problem, size,
                 "%s belongs to another user, who could read the keys; nothing was written. Leave "
                 "--with-keys out, or run this as that user",
                 real);
        return ERR_INVALID;
    }
    if (is_in_repository(real)) {
        snprintf(problem, size,
                 "%s is in a Git repository, where others would get the keys; nothing was written. "
                 "Leave --with-keys out and put them into ~/.config/forage/forage.env",
                 real);
        return ERR_INVALID;
    }
    return OK;
}

int files_make_private(const char *path, char *problem, size_t size)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool done = fd >= 0 && fstat(fd, &about) == 0 &&
                ((about.st_mode & 077) == 0 || fchmod(fd, about.st_mode & 0700) == 0);
    int status = done ? OK : explain(path, problem, size);
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

/* ---- replacing ---- */

/* Whether the file is still as it was read. */
static int check_unchanged(const char *path, const struct buf *before, char *problem, size_t size)
{
    struct buf now;
    buf_init(&now, LIMIT_SETUP_FILE_BYTES);
    int status = files_read(path, &now, problem, size);
    bool same = before ? status == OK && now.length == before->length &&
                             (now.length == 0 || memcmp(now.data, before->data, now.length) == 0)
                       : status == ERR_NOTFOUND;
    buf_done(&now);
    if (same) {
        return OK;
    }
    if (status == OK || status == ERR_NOTFOUND) {
        snprintf(problem, size, "%s was changed meanwhile; nothing was written, try again", path);
        status = ERR_BUSY;
    }
    return status;
}

/* The new file, beside the old one, which it will be like. */
static int make_beside(const char *beside, const struct buf *text, const struct stat *like)
{
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return ERR_IO;
    }
    bool good = write_all(fd, text->data, text->length) == OK && fsync(fd) == 0 &&
                fchmod(fd, like->st_mode & 07777) == 0;
    /* Only root can give a file away; whoever may write to the file of another may not. */
    if (good && like->st_uid != (uid_t)-1 && fchown(fd, like->st_uid, like->st_gid) != 0) {
        good = errno == EPERM;
    }
    int error = errno;
    close(fd);
    if (!good) {
        unlink(beside);
    }
    errno = error;
    return good ? OK : ERR_IO;
}

/* Whoever may read a file of this mode may look into its folder. */
static mode_t folder_mode(mode_t mode)
{
    return mode | ((mode & 0444) >> 2);
}

/* Makes the folder of a file, and those above it. */
static int make_folder_of(const char *path, mode_t mode)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, folder_mode(mode)) != 0 && errno != EEXIST && access(folder, X_OK) != 0) {
            return ERR_IO;
        }
        *slash = '/';
    }
    return OK;
}

int files_write(const char *path, const struct buf *text, const struct buf *before, mode_t mode,
                char *problem, size_t size)
{
    char real[PATH_MAX];
    char beside[PATH_MAX + ID_SIZE + 16];
    char id[ID_SIZE];
    struct stat like = {.st_mode = mode, .st_uid = (uid_t)-1};
    if (!before) {
        if (make_folder_of(path, mode) != OK) {
            return explain(path, problem, size);
        }
        snprintf(real, sizeof real, "%s", path);
    } else if (!realpath(path, real) || stat(real, &like) != 0) {
        return explain(path, problem, size);
    }
    id_make(id);
    snprintf(beside, sizeof beside, "%s.forage-%s", real, id);
    if (make_beside(beside, text, &like) != OK) {
        return explain(beside, problem, size);
    }
    int status = check_unchanged(real, before, problem, size);
    if (status == OK && rename(beside, real) != 0) {
        status = explain(real, problem, size);
    }
    if (status != OK) {
        unlink(beside);
        return status;
    }
    sync_folder_of(real);
    return OK;
}

int files_remove(const char *path, const struct buf *before, char *problem, size_t size)
{
    int status = check_unchanged(path, before, problem, size);
    if (status == OK && unlink(path) != 0) {
        status = explain(path, problem, size);
    }
    return status;
}

void files_missing_folder(const char *path, char *missing, size_t size)
{
    snprintf(missing, size, "%s", path);
    for (char *slash = strchr(missing + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (access(missing, F_OK) != 0 && errno == ENOENT) {
            return;
        }
        *slash = '/';
    }
    *missing = '\0';
}

void files_remove_folders(const char *path, const char *made, char *removed, size_t size)
{
    char folder[PATH_MAX];
    size_t least = strlen(made);
    *removed = '\0';
    snprintf(folder, sizeof folder, "%s", path);
    for (;;) {
        char *slash = strrchr(folder, '/');
        if (!slash || least == 0) {
            return;
        }
        *slash = '\0';
        bool inside =
            strncmp(folder, made, least) == 0 && (folder[least] == '\0' || folder[least] == '/');
        if (!inside || rmdir(folder) != 0) {
            return;
        }
        snprintf(removed, size, "%s", folder);
    }
}
