/* The files of the cache: how they are found, written and cleared away. cache_file.c knows what is
 * in one. */
#include "page/source/cache.h"

#include "core/id.h"
#include "core/limits.h"
#include "core/sha256.h"
#include "core/status.h"
#include "page/source/cache_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define UNFINISHED          "new-" /* what a file is called while it is written */
#define UNFINISHED_TIME_S   3600   /* after which nobody is writing it any more */
#define KEEPS_BETWEEN_SCANS 64     /* other processes write too: look again from time to time */

struct cache {
    int folder;
    uint64_t max_bytes;
    pthread_mutex_t lock;
    bool scanned;
    uint64_t bytes; /* of all files, as far as we know */
    size_t keeps;   /* since the last look */
};

/* ---- the folder ---- */

static int make_folders(const char *folder)
{
    char parent[4096];
    const char *slash = strrchr(folder, '/');
    if (mkdir(folder, 0700) == 0 || errno == EEXIST) {
        return OK;
    }
    size_t length = slash ? (size_t)(slash - folder) : 0;
    if (errno != ENOENT || length == 0 || length >= sizeof parent) {
        return ERR_IO;
    }
    memcpy(parent, folder, length);
    parent[length] = '\0';
    /* No more than this: a home that is missing is missing on purpose. */
    return mkdir(parent, 0700) == 0 && mkdir(folder, 0700) == 0 ? OK : ERR_IO;
}

struct cache *cache_open(const char *folder, uint64_t max_bytes, char *problem, size_t size)
{
    struct stat about;
    int fd = make_folders(folder) == OK ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0 || fstat(fd, &about) != 0) {
        snprintf(problem, size, "%s: %s", folder, strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return NULL;
    }
    /* What others may write, others may forge. */
    if (about.st_uid != geteuid() || (about.st_mode & (S_IWGRP | S_IWOTH))) {
        snprintf(problem, size, "%s: the folder must be ours, and nobody else may write to it",
                 folder);
        close(fd);
        return NULL;
    }
    struct cache *cache = calloc(1, sizeof *cache);
    if (!cache) {
        snprintf(problem, size, "out of memory");
        close(fd);
        return NULL;
    }
    cache->folder = fd;
    cache->max_bytes = max_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

struct cache *cache_close(struct cache *cache)
{
    if (cache) {
        close(cache->folder);
        pthread_mutex_destroy(&cache->lock);
        free(cache);
    }
    return NULL;
}

void cache_key(char key[CACHE_KEY_SIZE], const char *const *parts)
{
    static const char DIGITS[] = "0123456789abcdef";
    struct sha256 sha;
    unsigned char digest[SHA256_SIZE];
    sha256_init(&sha);
    for (; *parts; parts++) {
        sha256_add(&sha, *parts, strlen(*parts) + 1); /* its NUL parts it from the next */
    }
    sha256_end(&sha, digest);
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        key[2 * i] = DIGITS[digest[i] >> 4];
        key[2 * i + 1] = DIGITS[digest[i] & 15];
    }
    key[2 * SHA256_SIZE] = '\0';
}

/* ---- clearing away ---- */

struct found_file {
    char name[CACHE_KEY_SIZE];
    uint64_t size;
    struct timespec used;
};

struct found_files {
    struct found_file *files;
    size_t count, room;
    uint64_t bytes;
};

static int by_use(const void *first, const void *second)
{
    const struct timespec *a = &((const struct found_file *)first)->used;
    const struct timespec *b = &((const struct found_file *)second)->used;
    if (a->tv_sec != b->tv_sec) {
        return a->tv_sec < b->tv_sec ? -1 : 1;
    }
    return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

static bool is_key(const char *name)
{
    return strlen(name) == CACHE_KEY_SIZE - 1 &&
           strspn(name, "0123456789abcdef") == CACHE_KEY_SIZE - 1;
}

static void note_file(struct cache *cache, struct found_files *found, const char *name)
{
    struct stat about;
    bool unfinished = strncmp(name, UNFINISHED, strlen(UNFINISHED)) == 0;
    if ((!unfinished && !is_key(name)) ||
        fstatat(cache->folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode)) {
        return;
    }
    if (unfinished) {
        if (about.st_mtime + UNFINISHED_TIME_S < time(NULL)) {
            unlinkat(cache->folder, name, 0);
        }
        return;
    }
    if (found->count == found->room) {
        size_t room = found->room ? 2 * found->room : 256;
        struct found_file *longer = realloc(found->files, room * sizeof *longer);
        if (!longer) {
            return;
        }
        found->files = longer;
        found->room = room;
    }
    struct found_file *file = &found->files[found->count++];
    memcpy(file->name, name, sizeof file->name);
    file->size = (uint64_t)about.st_size;
    file->used = about.st_atim;
    found->bytes += file->size;
}

/* Looks at every file; where there is too much, removes what was not used for longest, and a little
 * more, so that not every answer brings another look. */
static void clear_away(struct cache *cache)
{
    struct found_files found = {0};
    int fd = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    const struct dirent *file;
    while ((file = readdir(stream)) != NULL) {
        note_file(cache, &found, file->d_name);
    }
    closedir(stream);
    if (found.bytes > cache->max_bytes || found.count > LIMIT_CACHE_ENTRIES) {
        uint64_t enough = cache->max_bytes - cache->max_bytes / 8;
        size_t few = LIMIT_CACHE_ENTRIES - LIMIT_CACHE_ENTRIES / 8;
        qsort(found.files, found.count, sizeof *found.files, by_use);
        size_t left = found.count;
        for (size_t i = 0; i < found.count && (found.bytes > enough || left > few); i++, left--) {
            unlinkat(cache->folder, found.files[i].name, 0);
            found.bytes -= found.files[i].size;
        }
    }
    free(found.files);
    cache->bytes = found.bytes;
    cache->keeps = 0;
    cache->scanned = true;
}

static void count_kept(struct cache *cache, uint64_t size)
{
    pthread_mutex_lock(&cache->lock);
    cache->bytes += size;
    cache->keeps++;
    if (!cache->scanned || cache->bytes > cache->max_bytes || cache->keeps >= KEEPS_BETWEEN_SCANS) {
        clear_away(cache);
    }
    pthread_mutex_unlock(&cache->lock);
}

/* ---- one file ---- */

static int open_file(struct cache *cache, const char *key, struct stat *about)
{
    int fd = openat(cache->folder, key, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, about) != 0 || !S_ISREG(about->st_mode) || about->st_uid != geteuid() ||
        about->st_size <= 0 || (uint64_t)about->st_size > LIMIT_CACHE_ENTRY_BYTES) {
        close(fd);
        return -1;
    }
    return fd;
}

int cache_find(struct cache *cache, struct arena *arena, const char *key, struct cache_entry *entry)
{
    struct stat about;
    int fd = open_file(cache, key, &about);
    if (fd < 0) {
        return ERR_NOTFOUND;
    }
    int status = cache_file_read(fd, (size_t)about.st_size, key, arena, entry);
    if (status == OK) {
        const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
        futimens(fd, times);
        int64_t age = (int64_t)time(NULL) - (int64_t)about.st_mtime;
        entry->age_s = age > 0 ? age : 0;
    }
    close(fd);
    return status == ERR_INVALID ? ERR_NOTFOUND : status;
}

int cache_keep(struct cache *cache, const char *key, const struct cache_entry *entry)
{
    char id[ID_SIZE];
    char name[sizeof UNFINISHED + ID_SIZE];
    if (entry->body_length > cache->max_bytes / 4) {
        return ERR_LIMIT;
    }
    id_make(id);
    snprintf(name, sizeof name, UNFINISHED "%s", id);
    int fd =
        openat(cache->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return ERR_IO;
    }
    uint64_t size = 0;
    int status = cache_file_write(fd, key, entry, &size);
    int problem = errno;
    if (close(fd) != 0 && status == OK) {
        problem = errno;
        status = ERR_IO;
    }
    if (status == OK && renameat(cache->folder, name, cache->folder, key) != 0) {
        problem = errno;
        status = ERR_IO;
    }
    if (status != OK) {
        unlinkat(cache->folder, name, 0);
        errno = problem;
        return status;
    }
    count_kept(cache, size);
    return OK;
}

void cache_confirm(struct cache *cache, const char *key)
{
    utimensat(cache->folder, key, NULL, AT_SYMLINK_NOFOLLOW);
}
