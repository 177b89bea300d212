/* Files and programs: finding them, writing all of something, removing a folder. */
#include "core/files.h"

#include "core/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what came with the program ---- */

bool own_program(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length > 0 && (size_t)length < size - 1) {
        path[length] = '\0';
        return true;
    }
    /* Where /proc is not mounted: as it was started. */
    char *found = realpath((const char *)getauxval(AT_EXECFN), NULL);
    int written = found ? snprintf(path, size, "%s", found) : 0;
    free(found);
    return written > 0 && (size_t)written < size;
}

bool own_file(const char *folder, const char *name, char *path, size_t size)
{
    char program[OWN_PATH_SIZE];
    char *slash = own_program(program, sizeof program) ? strrchr(program, '/') : NULL;
    if (!slash) {
        return false;
    }
    *slash = '\0';
    int length = snprintf(path, size, "%s/../%s/%s", program, folder, name);
    if (length > 0 && (size_t)length < size && access(path, R_OK) == 0) {
        return true;
    }
    length = snprintf(path, size, "%s/%s", program, name);
    return length > 0 && (size_t)length < size && access(path, R_OK) == 0;
}

/* ---- other users ---- */

bool file_is_foreign(const char *path)
{
    struct stat about;
    struct stat above;
    char folder[OWN_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    if (lstat(path, &about) != 0 || about.st_uid == geteuid() || about.st_uid == 0) {
        return false;
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1,
             slash ? path : ".");
    return geteuid() != 0 || stat(folder, &above) != 0 || above.st_uid != about.st_uid;
}

/* ---- programs by their names ---- */

bool is_program(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0;
}

bool find_on_path(const char *name, char *path, size_t size)
{
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        size_t length = strcspn(folder, ":");
        int written = snprintf(path, size, "%.*s/%s", (int)length, folder, name);
        if (*folder == '/' && written > 0 && (size_t)written < size && is_program(path)) {
            return true;
        }
        folder += length + (folder[length] == ':');
    }
    return false;
}

/* ---- writing ---- */

int read_whole(const char *path, struct buf *out)
{
    char piece[4096];
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = file < 0 ? -1 : 1;
    while (got > 0 && buf_error(out) == OK) {
        got = read(file, piece, sizeof piece);
        buf_append(out, piece, got > 0 ? (size_t)got : 0);
    }
    int error = errno;
    if (file >= 0) {
        close(file);
    }
    errno = error;
    return got < 0 ? ERR_IO : buf_error(out);
}

int write_all(int fd, const char *data, size_t length)
{
    while (length) {
        ssize_t written = write(fd, data, length);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return ERR_IO;
        }
        data += written;
        length -= (size_t)written;
    }
    return OK;
}

/* ---- new files ---- */

void sync_folder_of(const char *path)
{
    char folder[OWN_PATH_SIZE];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1,
             slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

int new_file(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int new_file_end(int fd, const char *path, int status)
{
    struct stat own;
    struct stat named;
    bool ours = fstat(fd, &own) == 0 && lstat(path, &named) == 0 && own.st_dev == named.st_dev &&
                own.st_ino == named.st_ino;
    if (status == OK && !ours) {
        errno = EEXIST;
        status = ERR_IO;
    }
    if (status == OK && fsync(fd) != 0) {
        status = ERR_IO;
    }
    int error = errno;
    if (close(fd) != 0 && status == OK) {
        error = errno;
        status = ERR_IO;
    }
    if (status != OK && ours) {
        unlink(path);
    }
    sync_folder_of(path);
    errno = error;
    return status;
}

/* ---- removing ---- */

#define MOST_DEPTH 64
#define PAUSE_MS   25

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void remove_contents(int folder, unsigned depth)
{
    DIR *listing = fdopendir(folder);
    if (!listing) {
        close(folder);
        return;
    }
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (is_dots(entry->d_name) || unlinkat(folder, entry->d_name, 0) == 0 || depth == 0) {
            continue;
        }
        int below = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0) {
            remove_contents(below, depth - 1);
        }
        unlinkat(folder, entry->d_name, AT_REMOVEDIR);
    }
    closedir(listing);
}

static bool remove_once(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) {
        remove_contents(folder, MOST_DEPTH);
    }
    return rmdir(path) == 0 || errno == ENOENT;
}

bool remove_folder(const char *path, int tries)
{
    for (int i = 0; i < tries; i++) {
        if (i) {
            poll(NULL, 0, PAUSE_MS);
        }
        if (remove_once(path)) {
            return true;
        }
    }
    return false;
}
