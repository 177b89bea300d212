/* Opening and making what is the user's own, by descriptors. */
#include "core/private.h"

#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_ours(const struct stat *about)
{
    return about->st_uid == geteuid() || geteuid() == 0;
}

static int refuse(int *fd)
{
    close(*fd);
    *fd = -1;
    errno = EPERM;
    return ERR_IO;
}

int private_folder(const char *path, int *fd)
{
    struct stat about;
    *fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd < 0) {
        return errno == ENOENT ? ERR_NOTFOUND : ERR_IO;
    }
    bool good =
        fstat(*fd, &about) == 0 && is_ours(&about) && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    return good ? OK : refuse(fd);
}

int private_file(int folder, const char *name, int flags, int *fd, struct stat *about)
{
    *fd = openat(folder, name, O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, 0600);
    if (*fd < 0) {
        return errno == ENOENT ? ERR_NOTFOUND : ERR_IO;
    }
    bool good = fstat(*fd, about) == 0 && S_ISREG(about->st_mode) && is_ours(about);
    return good ? OK : refuse(fd);
}

bool private_hand_over(int folder, int fd)
{
    struct stat about;
    return geteuid() != 0 ||
           (fstat(folder, &about) == 0 && fchown(fd, about.st_uid, about.st_gid) == 0);
}

int private_file_new(int folder, const char *name, int *fd)
{
    struct stat about;
    int status = private_file(folder, name, O_WRONLY | O_CREAT | O_EXCL, fd, &about);
    if (status == OK && !private_hand_over(folder, *fd)) {
        unlinkat(folder, name, 0);
        return refuse(fd);
    }
    return status == ERR_NOTFOUND ? ERR_IO : status;
}

/* Makes one folder; it belongs to whoever the one around it belongs to. */
static bool make_one(const char *path, const char *around)
{
    struct stat about;
    if (mkdir(path, 0700) != 0) {
        return errno == EEXIST;
    }
    return geteuid() != 0 ||
           (stat(around, &about) == 0 && lchown(path, about.st_uid, about.st_gid) == 0);
}

/* Where the path without its last `parts` parts ends. */
static size_t end_without(const char *path, unsigned parts)
{
    size_t end = strlen(path);
    while (parts > 0 && end > 1) {
        parts -= path[--end] == '/';
    }
    return end;
}

int private_folder_make(const char *path, unsigned parts)
{
    char part[OWN_PATH_SIZE];
    char around[OWN_PATH_SIZE];
    if (strlen(path) >= sizeof part) {
        errno = ENAMETOOLONG;
        return ERR_IO;
    }
    bool made = true;
    for (unsigned left = parts; left > 0 && made; left--) {
        snprintf(around, sizeof around, "%.*s", (int)end_without(path, left), path);
        snprintf(part, sizeof part, "%.*s", (int)end_without(path, left - 1), path);
        made = make_one(part, around);
    }
    return made ? OK : ERR_IO;
}
