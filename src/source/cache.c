/* The cache on disk: its folder, what is in one file, and how files are cleared away.
 *
 * A file is a few lines of text, then the body, whose length and checksum are one of the lines; the
 * last line has that of the lines before it:
 *
 *   forage-cache 2
 *   key 9f86d0...
 *   url https://example.org/
 *   header content-type: text/html
 *   body 1256 0123456789abcdef
 *   sum 0123456789abcdef
 *   (an empty line, then the body)
 *
 * Files of the first version are still read: in them one checksum (core/hash.h) is over lines and
 * body. */
#include "source/cache.h"

#include "core/buf.h"
#include "core/checksum.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/id.h"
#include "core/limits.h"
#include "core/sha256.h"
#include "core/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_LINE          "forage-cache 2"
#define OLD_FIRST_LINE      "forage-cache 1"
#define MOST_HEADERS        16
#define SUM_DIGITS          16
#define HEAD_BYTES          4096   /* that most heads fit into */
#define UNFINISHED          "new-" /* what a file is called while it is written */
#define UNFINISHED_TIME_S   3600   /* after which nobody is writing it any more */
#define MOST_AHEAD_S        2      /* that the clock of a file system may be */
#define KEEPS_BETWEEN_SCANS 64     /* other processes write too: look again from time to time */

static const char DIGITS[] = "0123456789abcdef";

/* Headers of an answer that somebody may want later. */
static const char *const STORED_HEADERS[] = {
    "cache-control",
    "content-disposition",
    "content-language",
    "content-type",
    "etag",
    "last-modified",
    "link",
};

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
    struct stat link;
    if (lstat(folder, &link) == 0 && S_ISLNK(link.st_mode) && file_is_foreign(folder)) {
        snprintf(problem, size, "%s is a link that another user made", folder);
        return NULL;
    }
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
    return strlen(name) == CACHE_KEY_SIZE - 1 && strspn(name, DIGITS) == CACHE_KEY_SIZE - 1;
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
        if (llabs((long long)time(NULL) - (long long)about.st_mtime) > UNFINISHED_TIME_S) {
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

/* ---- writing a file ---- */

/* A line break in a value would make lines of its own. */
static bool is_line(const char *text)
{
    return !strpbrk(text, "\r\n");
}

/* OK with the file's size and its checksum; ERR_IO with errno set, ERR_LIMIT, ERR_NOMEM. */
static int write_file(int fd, const char *key, const struct fetch_response *answer, uint64_t *size,
                      uint64_t *sum)
{
    struct buf head;
    bool lines = is_line(answer->url);
    buf_init(&head, KIB(64));
    buf_printf(&head, FIRST_LINE "\nkey %s\nurl %s\n", key, answer->url);
    for (size_t i = 0; i < sizeof STORED_HEADERS / sizeof *STORED_HEADERS; i++) {
        const char *value = fetch_header_value(answer, STORED_HEADERS[i]);
        if (value) {
            lines &= is_line(value);
            buf_printf(&head, "header %s: %s\n", STORED_HEADERS[i], value);
        }
    }
    buf_printf(&head, "body %zu %016" PRIx64 "\n", answer->body_length,
               checksum(answer->body, answer->body_length));
    if (!buf_error(&head)) {
        *sum = checksum(head.data, head.length);
        buf_printf(&head, "sum %016" PRIx64 "\n\n", *sum);
    }
    int status = buf_error(&head);
    if (status == OK && (!lines || head.length + answer->body_length > LIMIT_CACHE_ENTRY_BYTES)) {
        status = ERR_LIMIT;
    }
    if (status == OK) {
        status = write_all(fd, head.data, head.length);
    }
    if (status == OK) {
        status = write_all(fd, answer->body, answer->body_length);
    }
    *size = head.length + answer->body_length;
    buf_done(&head);
    return status;
}

/* ---- reading a file ---- */

struct cache_reading {
    struct fetch_response *answer;
    struct fetch_header *headers;
    const char *key;
    bool keyed;
    bool sized;
    uint64_t body_sum;
};

/* The lines before the body, and what they end with. */
struct file_head {
    size_t length; /* of what the checksum is over */
    size_t body;   /* where that begins */
    uint64_t sum;
};

/* Goes on reading behind the first `length` bytes up to `wanted`; how many there are then. A file
 * that is shorter than it was a moment ago is not whole, which is told afterwards. */
static size_t read_up_to(int fd, char *file, size_t length, size_t wanted)
{
    while (length < wanted) {
        ssize_t got = read(fd, file + length, wanted - length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        length += (size_t)got;
    }
    file[length] = '\0';
    return length;
}

/* The number that sixteen digits are; the text may go on behind them. */
static bool take_sum(const char *digits, uint64_t *sum)
{
    *sum = 0;
    for (int i = 0; i < SUM_DIGITS; i++) {
        const char *digit = digits[i] ? strchr(DIGITS, digits[i]) : NULL;
        if (!digit) {
            return false;
        }
        *sum = *sum << 4 | (uint64_t)(digit - DIGITS);
    }
    return true;
}

static int take_key(struct cache_reading *reading, char *value)
{
    reading->keyed = strcmp(value, reading->key) == 0;
    return reading->keyed ? OK : ERR_INVALID;
}

static int take_url(struct cache_reading *reading, char *value)
{
    reading->answer->url = value;
    return OK;
}

static int take_header(struct cache_reading *reading, char *value)
{
    char *colon = strstr(value, ": ");
    if (!colon || reading->answer->header_count == MOST_HEADERS) {
        return ERR_INVALID;
    }
    *colon = '\0';
    reading->headers[reading->answer->header_count++] =
        (struct fetch_header){value, colon + 2, false};
    return OK;
}

static int take_body(struct cache_reading *reading, char *value)
{
    size_t length = 0;
    for (; *value >= '0' && *value <= '9' && length <= LIMIT_CACHE_ENTRY_BYTES; value++) {
        length = length * 10 + (size_t)(*value - '0');
    }
    reading->answer->body_length = length;
    reading->sized = *value == '\0' || (*value == ' ' && take_sum(value + 1, &reading->body_sum));
    return reading->sized ? OK : ERR_INVALID;
}

static const struct {
    const char *word;
    int (*take)(struct cache_reading *reading, char *value);
} LINES[] = {
    {"key ", take_key},
    {"url ", take_url},
    {"header ", take_header},
    {"body ", take_body},
};

static int take_line(struct cache_reading *reading, char *line)
{
    for (size_t i = 0; i < sizeof LINES / sizeof *LINES; i++) {
        size_t length = strlen(LINES[i].word);
        if (strncmp(line, LINES[i].word, length) == 0) {
            return LINES[i].take(reading, line + length);
        }
    }
    return ERR_INVALID;
}

/* False where the bytes, which are the beginning of a file, are not all of a head. */
static bool find_head(const char *file, size_t length, struct file_head *head)
{
    static const char SUM[] = "\nsum ";
    const char *end = memmem(file, length, "\n\n", 2);
    const char *sum = end ? memmem(file, (size_t)(end - file), SUM, sizeof SUM - 1) : NULL;
    if (!sum || end - sum != (ptrdiff_t)(sizeof SUM - 1) + SUM_DIGITS) {
        return false;
    }
    head->length = (size_t)(sum + 1 - file);
    head->body = (size_t)(end + 2 - file);
    return take_sum(sum + sizeof SUM - 1, &head->sum);
}

static bool begins_with(const char *file, const char *line)
{
    size_t length = strlen(line);
    return strncmp(file, line, length) == 0 && file[length] == '\n';
}

/* Whether the bytes are the head of a file and what else its checksum is over. */
static bool is_whole(const char *file, size_t length, struct file_head *head)
{
    if (!find_head(file, length, head)) {
        return false;
    }
    if (begins_with(file, OLD_FIRST_LINE)) {
        uint64_t sum = hash_add(HASH_START, file, head->length);
        return hash_add(sum, file + head->body, length - head->body) == head->sum;
    }
    return begins_with(file, FIRST_LINE) && checksum(file, head->length) == head->sum;
}

/* Reads the lines of a head, which become texts of their own. */
static int take_lines(struct cache_reading *reading, char *file, const struct file_head *head)
{
    char *const end = file + head->length;
    char *line = memchr(file, '\n', head->length);
    for (line++; line < end; line++) {
        char *next = memchr(line, '\n', (size_t)(end - line));
        *next = '\0';
        if (take_line(reading, line) != OK) {
            return ERR_INVALID;
        }
        line = next;
    }
    reading->answer->content_type = fetch_header_value(reading->answer, "content-type");
    return reading->keyed && reading->answer->url && reading->sized ? OK : ERR_INVALID;
}

/* OK; ERR_INVALID for a file that is broken, of another version or for another key; ERR_NOMEM. */
static int read_file(int fd, size_t size, struct arena *arena, const struct cache_known *known,
                     struct cached *found)
{
    struct file_head head = {0};
    struct fetch_response *answer = &found->answer;
    char *file = arena_alloc(arena, size + 1);
    struct fetch_header *headers = arena_zalloc(arena, MOST_HEADERS * sizeof *headers);
    if (!file || !headers) {
        return ERR_NOMEM;
    }
    size_t length = read_up_to(fd, file, 0, size < HEAD_BYTES ? size : HEAD_BYTES);
    bool whole = is_whole(file, length, &head);
    found->mark.sum = head.sum;
    found->known = whole && known && known->is_known(known->context, &found->mark);
    if (!found->known && length < size) {
        length = read_up_to(fd, file, length, size);
        whole = is_whole(file, length, &head);
        found->mark.sum = head.sum;
    }
    *answer = (struct fetch_response){.status = 200, .headers = headers, .body = ""};
    struct cache_reading reading = {.answer = answer, .headers = headers, .key = found->mark.key};
    const char *body = file + head.body;
    size_t body_length = (found->known ? size : length) - head.body;
    if (!whole || take_lines(&reading, file, &head) != OK || answer->body_length != body_length) {
        return ERR_INVALID;
    }
    if (found->known) {
        answer->body_length = 0;
        return OK;
    }
    answer->body = body;
    return reading.body_sum && checksum(body, body_length) != reading.body_sum ? ERR_INVALID : OK;
}

/* ---- finding and storing ---- */

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

int cache_find(struct cache *cache, struct arena *arena, const char *key,
               const struct cache_known *known, struct cached *found)
{
    struct stat about;
    int fd = open_file(cache, key, &about);
    if (fd < 0) {
        return ERR_NOTFOUND;
    }
    *found = (struct cached){0};
    memcpy(found->mark.key, key, sizeof found->mark.key);
    int status = read_file(fd, (size_t)about.st_size, arena, known, found);
    if (status == OK) {
        const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
        futimens(fd, times);
        int64_t age = (int64_t)time(NULL) - (int64_t)about.st_mtime;
        /* A file of a time that is still to come tells nothing: the clock was set back since. */
        found->age_s = age >= 0 ? age : age >= -MOST_AHEAD_S ? 0 : INT64_MAX;
    }
    close(fd);
    return status == ERR_INVALID ? ERR_NOTFOUND : status;
}

int cache_keep(struct cache *cache, const char *key, const struct fetch_response *answer,
               struct cache_mark *mark)
{
    char id[ID_SIZE];
    char name[sizeof UNFINISHED + ID_SIZE];
    if (answer->body_length > cache->max_bytes / 4) {
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
    uint64_t sum = 0;
    int status = write_file(fd, key, answer, &size, &sum);
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
    memcpy(mark->key, key, sizeof mark->key);
    mark->sum = sum;
    count_kept(cache, size);
    return OK;
}

void cache_confirm(struct cache *cache, const char *key)
{
    utimensat(cache->folder, key, NULL, AT_SYMLINK_NOFOLLOW);
}
