/* A disk that fails or is slow: preloaded into a program, this library stands before what the
 * program writes to files below a folder. The mood of the disk is in a file that is mapped, so that
 * a test changes it under a running program:
 *
 *   LD_PRELOAD=bad_disk.so BAD_DISK_ROOT=/the/folder BAD_DISK_MOOD=/the/file program
 *
 * The file holds three numbers (32 bits each, of this machine): the error that writing meets (EIO,
 * ENOSPC; 0: none), the error that syncing meets, and the milliseconds that both take longer;
 * who waits goes on when that becomes less. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define STEP_MS 10

enum mood { WRITING, SYNCING, WAITING, MOODS };

static const volatile int32_t GOOD[MOODS];
static const volatile int32_t *moods = GOOD;
static const char *root;

__attribute__((constructor)) static void open_file(void)
{
    const char *path = getenv("BAD_DISK_MOOD");
    root = getenv("BAD_DISK_ROOT");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *found = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof GOOD, PROT_READ, MAP_SHARED, fd, 0);
    if (found == MAP_FAILED || !root) {
        perror("BAD_DISK_MOOD");
        abort(); /* a shim that does not work must not let a test pass */
    }
    close(fd);
    moods = found;
}

static bool is_there(int fd)
{
    char link[64];
    char path[4096];
    size_t wanted = strlen(root);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < (ssize_t)wanted) {
        return false;
    }
    path[length] = '\0';
    return memcmp(path, root, wanted) == 0 && (path[wanted] == '/' || path[wanted] == '\0');
}

/* Whether the disk takes it; else errno says why not. */
static bool takes(int fd, enum mood what)
{
    if ((moods[what] == 0 && moods[WAITING] == 0) || !is_there(fd)) {
        return true;
    }
    for (int32_t waited = 0; waited < moods[WAITING]; waited += STEP_MS) {
        poll(NULL, 0, STEP_MS);
    }
    errno = moods[what];
    return moods[what] == 0;
}

#define SHOWN __attribute__((visibility("default")))

SHOWN ssize_t write(int fd, const void *data, size_t length)
{
    return takes(fd, WRITING) ? syscall(SYS_write, fd, data, length) : -1;
}

SHOWN ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    return takes(fd, WRITING) ? syscall(SYS_writev, fd, pieces, count) : -1;
}

SHOWN ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at)
{
    return takes(fd, WRITING) ? syscall(SYS_pwrite64, fd, data, length, at) : -1;
}

SHOWN ssize_t pwrite(int fd, const void *data, size_t length, off_t at)
{
    return pwrite64(fd, data, length, at);
}

SHOWN int ftruncate64(int fd, off64_t length)
{
    return takes(fd, WRITING) ? (int)syscall(SYS_ftruncate, fd, length) : -1;
}

SHOWN int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

SHOWN int fallocate64(int fd, int mode, off64_t from, off64_t length)
{
    return takes(fd, WRITING) ? (int)syscall(SYS_fallocate, fd, mode, from, length) : -1;
}

SHOWN int fsync(int fd)
{
    return takes(fd, SYNCING) ? (int)syscall(SYS_fsync, fd) : -1;
}

SHOWN int fdatasync(int fd)
{
    return takes(fd, SYNCING) ? (int)syscall(SYS_fdatasync, fd) : -1;
}
