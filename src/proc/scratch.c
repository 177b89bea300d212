/* Temporary folders, their locks, and sweeping those that were left behind. The user who gets one
 * is not trusted with more than its contents: links in it are removed, not followed. */
#include "proc/scratch.h"

#include "core/files.h"
#include "core/id.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX         "forage-"
#define LOCK_PATH_SIZE (PROC_SCRATCH_SIZE + sizeof PROC_LOCK_SUFFIX)
#define MAKE_TRIES     3 /* somebody who sweeps may hold a new lock for a moment */

/* Whether any user may pass through the folder and all that it lies in. */
static bool is_open(const char *path)
{
    char part[PROC_SCRATCH_SIZE];
    struct stat found;
    for (size_t length = 1; length <= strlen(path); length++) {
        if (path[length] && path[length] != '/') {
            continue;
        }
        snprintf(part, sizeof part, "%.*s", (int)length, path);
        if (stat(part, &found) != 0 || !(found.st_mode & S_IXOTH)) {
            return false;
        }
    }
    return true;
}

/* Where folders are made: $TMPDIR, unless their user could not reach them there. */
static const char *parent_folder(uid_t user)
{
    const char *named = getenv("TMPDIR");
    bool fits = named && *named == '/' && strlen(named) < PROC_SCRATCH_SIZE / 2 &&
                (user == geteuid() || is_open(named));
    return fits ? named : "/tmp";
}

static int take_lock(const char *path, int flags)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void lock_path(char out[LOCK_PATH_SIZE], const char *folder)
{
    snprintf(out, LOCK_PATH_SIZE, "%s" PROC_LOCK_SUFFIX, folder);
}

void scratch_remove(struct proc_scratch *scratch)
{
    char lock[LOCK_PATH_SIZE];
    if (scratch->lock >= 0) {
        remove_folder(scratch->path, 1);
        lock_path(lock, scratch->path);
        unlink(lock);
        close(scratch->lock);
        scratch->lock = -1;
    }
}

/* A lock file of ours that can be locked belongs to a process that is gone. */
static void remove_if_stale(const char *parent, const char *lock_name)
{
    struct proc_scratch left;
    char lock[LOCK_PATH_SIZE];
    struct stat found;
    int length = (int)(strlen(lock_name) - strlen(PROC_LOCK_SUFFIX));
    snprintf(left.path, sizeof left.path, "%s/%.*s", parent, length, lock_name);
    lock_path(lock, left.path);
    left.lock = take_lock(lock, 0);
    if (left.lock < 0) {
        return;
    }
    if (fstat(left.lock, &found) == 0 && found.st_uid == geteuid() && found.st_nlink == 1) {
        scratch_remove(&left);
    } else {
        close(left.lock);
    }
}

/* Whether it is the name of a lock as scratch_make() writes it. */
static bool is_lock(const char *name)
{
    size_t length = strlen(name);
    size_t end = strlen(PROC_LOCK_SUFFIX) + ID_SECRET_SIZE - 1;
    return length > strlen(PREFIX) + end && length < NAME_MAX &&
           strncmp(name, PREFIX, strlen(PREFIX)) == 0 && name[length - end - 1] == '-' &&
           strcmp(name + length - strlen(PROC_LOCK_SUFFIX), PROC_LOCK_SUFFIX) == 0;
}

static void sweep(const char *parent)
{
    DIR *listing = opendir(parent);
    if (!listing) {
        return;
    }
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (is_lock(entry->d_name)) {
            remove_if_stale(parent, entry->d_name);
        }
    }
    closedir(listing);
}

static int try_to_make(struct proc_scratch *scratch, const char *parent, const char *kind)
{
    char id[ID_SECRET_SIZE];
    char lock[LOCK_PATH_SIZE];
    if (id_make_secret(id) != OK) {
        return ERR_IO;
    }
    int length =
        snprintf(scratch->path, sizeof scratch->path, "%s/" PREFIX "%s-%s", parent, kind, id);
    if (length < 0 || (size_t)length >= sizeof scratch->path) {
        return ERR_IO;
    }
    lock_path(lock, scratch->path);
    scratch->lock = take_lock(lock, O_CREAT | O_EXCL);
    return scratch->lock >= 0 ? OK : ERR_IO;
}

int scratch_make(struct proc_scratch *scratch, const char *parent, const char *kind, uid_t user,
                 gid_t group)
{
    parent = parent ? parent : parent_folder(user);
    int status = ERR_IO;
    scratch->lock = -1;
    sweep(parent);
    for (int i = 0; i < MAKE_TRIES && status != OK; i++) {
        status = try_to_make(scratch, parent, kind);
    }
    if (status == OK && (mkdir(scratch->path, 0700) != 0 ||
                         (user != geteuid() && chown(scratch->path, user, group) != 0))) {
        scratch_remove(scratch);
        status = ERR_IO;
    }
    return status;
}
