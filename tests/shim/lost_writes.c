/* A disk that forgets: preloaded into a program, this library keeps a second image of a folder,
 * which holds only what would have survived a power failure. Writes go to the folder as ever; a
 * file's content enters the image when the file is synced, its name when its folder is synced. A
 * test kills the program, puts the image in the place of the folder, and looks at what is left.
 *
 *   LD_PRELOAD=lost_writes.so LOST_WRITES_ROOT=/the/folder LOST_WRITES_IMAGE=/somewhere/else
 * program
 *
 * Any number of programs may share an image. Nothing is really synced, so tests are fast. Not seen:
 * mappings that are synced with msync(), files opened with O_SYNC, sync() and syncfs().
 *
 * The image has a file for each inode that was ever synced (data/INODE-BIRTH) and one for each
 * folder (names/INODE-BIRTH, with a line "KIND INODE-BIRTH NAME" for each entry). Inodes rather
 * than paths, so that renaming and removing need no attention: they last when the folder is synced.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096
#define KEY_SIZE  64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void fail(const char *what)
{
    perror(what);
    abort(); /* a shim that does not work must not let a test pass */
}

/* The name of an inode that no other inode ever had: numbers are used again. */
static bool key_of(int folder, const char *name, char key[KEY_SIZE], mode_t *mode)
{
    struct statx about;
    int flags = AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH);
    if (statx(folder, name, flags, STATX_BASIC_STATS | STATX_BTIME, &about) != 0) {
        return false;
    }
    snprintf(key, KEY_SIZE, "%llu-%lld.%u", (unsigned long long)about.stx_ino,
             (long long)about.stx_btime.tv_sec, about.stx_btime.tv_nsec);
    *mode = about.stx_mode;
    return true;
}

static int open_in_image(const char *image, const char *part, const char *key, int flags)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", image, part);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/%s/%s", image, part, key);
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0) {
        fail(path);
    }
    return fd;
}

/* Copies the content in place, so that a program killed half-way leaves a part of it written, as a
 * disk would. Read through the program's own descriptor: to close another one would give up its
 * locks. */
static void keep_content(const char *image, int fd, const char *key)
{
    static __thread char piece[65536];
    int copy = open_in_image(image, "data", key, O_WRONLY | O_CREAT);
    off_t at = 0;
    ssize_t got;
    while ((got = pread(fd, piece, sizeof piece, at)) > 0) {
        if (pwrite(copy, piece, (size_t)got, at) != got) {
            fail("write");
        }
        at += got;
    }
    if (got < 0 || ftruncate(copy, at) != 0) {
        fail("a file that is synced must be open for reading too");
    }
    close(copy);
}

static void keep_names(const char *image, int fd, const char *key)
{
    char unfinished[KEY_SIZE + 8];
    char from[PATH_SIZE], to[PATH_SIZE];
    snprintf(unfinished, sizeof unfinished, "%s.new", key);
    int folder = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    FILE *list =
        fdopen(open_in_image(image, "names", unfinished, O_WRONLY | O_CREAT | O_TRUNC), "w");
    if (!entries || !list) {
        fail("folder");
    }
    struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        char inner[KEY_SIZE];
        mode_t mode;
        bool own = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!own && key_of(dirfd(entries), entry->d_name, inner, &mode)) {
            fprintf(list, "%c %s %s\n", S_ISDIR(mode) ? 'd' : 'f', inner, entry->d_name);
        }
    }
    closedir(entries);
    snprintf(from, sizeof from, "%s/names/%s", image, unfinished);
    snprintf(to, sizeof to, "%s/names/%s", image, key);
    if (fclose(list) != 0 || rename(from, to) != 0) {
        fail(to);
    }
}

static void keep(const char *image, int fd)
{
    char key[KEY_SIZE];
    mode_t mode;
    if (!key_of(fd, "", key, &mode)) {
        return;
    }
    pthread_mutex_lock(&lock);
    int shared = open_in_image(image, ".", "lock", O_RDWR | O_CREAT);
    flock(shared, LOCK_EX);
    if (S_ISDIR(mode)) {
        keep_names(image, fd, key);
    } else if (S_ISREG(mode)) {
        keep_content(image, fd, key);
    }
    close(shared);
    pthread_mutex_unlock(&lock);
}

static bool is_watched(int fd, const char *root)
{
    char link[64];
    char path[PATH_SIZE];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    size_t wanted = strlen(root);
    if (length < (ssize_t)wanted) {
        return false;
    }
    path[length] = '\0';
    return memcmp(path, root, wanted) == 0 && (path[wanted] == '/' || path[wanted] == '\0');
}

/* Takes the folder as it is now for what is on the disk. For tests, before a program starts. */
__attribute__((visibility("default"))) void lost_writes_adopt(const char *root, const char *image)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (!entries) {
        fail(root);
    }
    struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (entry->d_type == DT_DIR) {
            lost_writes_adopt(path, image);
            continue;
        }
        int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (file >= 0) {
            keep(image, file);
            close(file);
        }
    }
    keep(image, dirfd(entries));
    closedir(entries);
}

/* The name of a folder in the image, for who puts the image in its place. */
__attribute__((visibility("default"))) bool lost_writes_key(const char *path, char key[KEY_SIZE])
{
    mode_t mode;
    return key_of(AT_FDCWD, path, key, &mode);
}

static int sync_file(int fd)
{
    const char *root = getenv("LOST_WRITES_ROOT");
    const char *image = getenv("LOST_WRITES_IMAGE");
    if (!root || !image || !is_watched(fd, root)) {
        return 0; /* nobody looks at what is elsewhere */
    }
    keep(image, fd);
    return 0;
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    return sync_file(fd);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
    return sync_file(fd);
}
