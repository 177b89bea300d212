/* The folder of a browser. It belongs to a user whom we do not trust once it shows pages. */
#include "page/browser/profile.h"

#include "core/id.h"
#include "core/remove_folder.h"
#include "core/status.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX       "forage-browser-"
#define LOCK_SUFFIX  ".lock"
#define REMOVE_TRIES 20 /* the last of a browser's processes may still be writing while it dies */

/* Whether any user may pass through the folder and all that it lies in. */
static bool is_open(const char *path)
{
    char part[PROFILE_PATH_SIZE];
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

/* Where the folder is made: $TMPDIR, unless the browser's user could not reach it there. */
static const char *parent_folder(uid_t user)
{
    const char *named = getenv("TMPDIR");
    bool fits = named && *named == '/' && strlen(named) < PROFILE_PATH_SIZE / 2 &&
                (user == geteuid() || is_open(named));
    return fits ? named : "/tmp";
}

/* ---- making ---- */

static void lock_path(const struct profile *profile, char out[PROFILE_PATH_SIZE + 8])
{
    snprintf(out, PROFILE_PATH_SIZE + 8, "%s%s", profile->path, LOCK_SUFFIX);
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

int profile_make(struct profile *profile, uid_t user, gid_t group)
{
    char id[ID_SECRET_SIZE];
    char lock[PROFILE_PATH_SIZE + 8];
    *profile = (struct profile){.lock = -1};
    if (id_make_secret(id) != OK) {
        return ERR_IO;
    }
    snprintf(profile->path, sizeof profile->path, "%s/%s%s", parent_folder(user), PREFIX, id);
    lock_path(profile, lock);
    profile->lock = take_lock(lock, O_CREAT | O_EXCL);
    if (profile->lock < 0) {
        profile->path[0] = '\0';
        return ERR_IO;
    }
    bool made = mkdir(profile->path, 0700) == 0 &&
                (user == geteuid() || chown(profile->path, user, group) == 0);
    if (!made) {
        profile_remove(profile);
        return ERR_IO;
    }
    return OK;
}

void profile_remove(struct profile *profile)
{
    char lock[PROFILE_PATH_SIZE + 8];
    if (!profile->path[0]) {
        return;
    }
    remove_folder(profile->path, REMOVE_TRIES);
    lock_path(profile, lock);
    unlink(lock);
    close(profile->lock);
    *profile = (struct profile){.lock = -1};
}

/* ---- what others left ---- */

/* A lock file of ours that can be locked belongs to a process that is gone. */
static void remove_if_stale(const char *parent, const char *lock_name)
{
    struct profile left;
    char path[PROFILE_PATH_SIZE];
    struct stat found;
    size_t length = strlen(lock_name) - (sizeof LOCK_SUFFIX - 1);
    int written = snprintf(path, sizeof path, "%s/%s", parent, lock_name);
    if (written < 0 || (size_t)written >= sizeof path) {
        return;
    }
    left.lock = take_lock(path, 0);
    if (left.lock < 0) {
        return;
    }
    bool ours = fstat(left.lock, &found) == 0 && found.st_uid == geteuid() && found.st_nlink == 1;
    snprintf(left.path, sizeof left.path, "%s/%.*s", parent, (int)length, lock_name);
    if (ours) {
        profile_remove(&left);
    } else {
        close(left.lock);
    }
}

void profile_remove_stale(uid_t user)
{
    const char *parent = parent_folder(user);
    DIR *listing = opendir(parent);
    if (!listing) {
        return;
    }
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        const char *name = entry->d_name;
        size_t length = strlen(name);
        bool is_lock = length == sizeof PREFIX - 1 + ID_SECRET_SIZE - 1 + sizeof LOCK_SUFFIX - 1 &&
                       strncmp(name, PREFIX, sizeof PREFIX - 1) == 0 &&
                       strcmp(name + length - (sizeof LOCK_SUFFIX - 1), LOCK_SUFFIX) == 0;
        if (is_lock) {
            remove_if_stale(parent, name);
        }
    }
    closedir(listing);
}
