/* The folder and the identity of a shelf. A file of memories that was replaced by another one, a
 * server at another address, a space of another name: each is something else, and what was kept of
 * it is thrown away. */
#include "memory/shelves.h"

#include "core/buf.h"
#include "core/clock.h"
#include "core/files.h"
#include "db/db.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER     "index"
#define LAYOUT     "forage index 1" /* of what is kept beside the segments, which have their own */
#define STORE_SIZE 17               /* 16 hexadecimal digits and a NUL */

static void add_text(struct sha256 *sha, const char *text)
{
    sha256_add(sha, text, strlen(text) + 1);
}

/* What the store is, in the digest; and a name for it, which is that of its server's database: it
 * stays when the password is another one. */
static bool name_store(const struct places *places, struct sha256 *sha, char name[STORE_SIZE])
{
    char problem[DB_PROBLEM_SIZE];
    const char *url;
    char *path;
    struct stat about = {0};
    unsigned char digest[SHA256_SIZE];
    if (!places_database(places, PLACES_MEMORIES, false, &url, &path, problem, sizeof problem)) {
        return false;
    }
    snprintf(name, STORE_SIZE, "memory");
    if (url) {
        struct sha256 of_name;
        struct buf words;
        buf_init(&words, KIB(64));
        bool named = db_name_of(url, &words) == OK;
        sha256_init(&of_name);
        add_text(&of_name, named ? words.data : "");
        sha256_end(&of_name, digest);
        buf_done(&words);
        if (!named) {
            return false;
        }
        for (size_t i = 0; i < STORE_SIZE / 2; i++) {
            snprintf(name + 2 * i, 3, "%02x", digest[i]);
        }
        sha256_add(sha, digest, sizeof digest);
    } else if (stat(path, &about) == 0) {
        sha256_add(sha, &about.st_dev, sizeof about.st_dev);
        sha256_add(sha, &about.st_ino, sizeof about.st_ino);
    }
    free(path);
    return url || about.st_ino;
}

/* The folder of the store's shelves, to be freed; NULL when there is none. */
static char *folder_of_all(const struct places *places, struct sha256 *sha)
{
    char problem[DB_PROBLEM_SIZE];
    char store[STORE_SIZE];
    char *folder = NULL;
    char *data =
        name_store(places, sha, store) ? places_data(places, problem, sizeof problem) : NULL;
    if (data && asprintf(&folder, "%s/" FOLDER "/%s", data, store) < 0) {
        folder = NULL;
    }
    free(data);
    return folder;
}

static const char *const SUFFIXES[] = {[SHELVES_WORDS] = "", [SHELVES_VECTORS] = "-vectors"};

/* That of a space's shelf. */
static char *folder_of(const struct places *places, enum shelves_kind kind, int64_t id,
                       struct sha256 *sha)
{
    char *folder = NULL;
    char *all = folder_of_all(places, sha);
    if (all && asprintf(&folder, "%s/%lld%s", all, (long long)id, SUFFIXES[kind]) < 0) {
        folder = NULL;
    }
    free(all);
    return folder;
}

struct shelf *shelves_open(const struct places *places, enum shelves_kind kind,
                           const struct memory_space *space, int64_t id)
{
    unsigned char identity[SHA256_SIZE];
    struct sha256 sha;
    sha256_init(&sha);
    add_text(&sha, LAYOUT);
    add_text(&sha, SUFFIXES[kind]);
    char *folder = folder_of(places, kind, id, &sha);
    add_text(&sha, space->owner);
    add_text(&sha, space->name);
    sha256_add(&sha, &id, sizeof id);
    sha256_end(&sha, identity);
    struct shelf *shelf = folder ? shelf_new(folder, identity) : NULL;
    free(folder);
    return shelf;
}

bool shelves_has(const struct places *places, int64_t id)
{
    bool has = false;
    for (enum shelves_kind kind = SHELVES_WORDS; kind <= SHELVES_VECTORS; kind++) {
        struct sha256 sha;
        sha256_init(&sha);
        char *folder = folder_of(places, kind, id, &sha);
        has = has || (folder && access(folder, F_OK) == 0);
        free(folder);
    }
    return has;
}

static bool is_listed(const int64_t *ids, size_t count, int64_t id)
{
    bool listed = false;
    for (size_t i = 0; i < count; i++) {
        listed = listed || ids[i] == id;
    }
    return listed;
}

bool shelves_none(const struct places *places)
{
    struct sha256 sha;
    sha256_init(&sha);
    char *folder = folder_of_all(places, &sha);
    bool none = folder && access(folder, F_OK) != 0;
    free(folder);
    return none;
}

size_t shelves_list(const struct places *places, int64_t *ids, size_t most)
{
    struct sha256 sha;
    size_t count = 0;
    sha256_init(&sha);
    char *folder = folder_of_all(places, &sha);
    DIR *listing = folder ? opendir(folder) : NULL;
    struct dirent *entry;
    while (listing && count < most && (entry = readdir(listing))) {
        int64_t id = strtoll(entry->d_name, NULL, 10);
        if (id > 0 && !is_listed(ids, count, id)) {
            ids[count++] = id;
        }
    }
    if (listing) {
        closedir(listing);
    }
    free(folder);
    return count;
}

/* ---- stores that nothing uses any more ---- */

int shelves_use(const struct places *places)
{
    struct sha256 sha;
    sha256_init(&sha);
    char *folder = folder_of_all(places, &sha);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    free(folder);
    if (fd >= 0) {
        (void)flock(fd, LOCK_SH | LOCK_NB); /* without it, files that go are made anew */
        (void)futimens(fd, NULL);
    }
    return fd;
}

/* When something of a store was last used, by the folders below it. */
static time_t last_used(int store)
{
    struct stat about = {0};
    time_t last = fstat(store, &about) == 0 ? about.st_mtime : 0;
    int copy = openat(store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy >= 0 ? fdopendir(copy) : NULL;
    struct dirent *entry;
    while (listing && (entry = readdir(listing))) {
        bool below = *entry->d_name != '.' &&
                     fstatat(store, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0;
        last = below && about.st_mtime > last ? about.st_mtime : last;
    }
    if (listing) {
        closedir(listing);
    } else if (copy >= 0) {
        close(copy);
    }
    return last;
}

/* Removes a store's folder, unless a process uses it or has used it lately. Whether it went. */
static bool remove_unused(int all, const char *path, const char *name)
{
    char *whole = NULL;
    bool gone = false;
    int store = openat(all, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (store >= 0 && flock(store, LOCK_EX | LOCK_NB) == 0 &&
        clock_wall_ms() / 1000 - last_used(store) > TIME_INDEX_UNUSED_S &&
        asprintf(&whole, "%s/%s", path, name) >= 0) {
        gone = remove_folder(whole, 1);
        free(whole);
    }
    if (store >= 0) {
        close(store);
    }
    return gone;
}

/* The names that servers' databases get. */
static bool is_store(const char *name)
{
    return strlen(name) == STORE_SIZE - 1 && strspn(name, "0123456789abcdef") == STORE_SIZE - 1;
}

size_t shelves_tidy(const struct places *places)
{
    struct sha256 sha;
    size_t gone = 0;
    sha256_init(&sha);
    char *own = folder_of_all(places, &sha);
    char *slash = own ? strrchr(own, '/') : NULL;
    if (slash) {
        *slash = '\0';
    }
    DIR *listing = slash ? opendir(own) : NULL;
    struct dirent *entry;
    while (listing && gone < LIMIT_INDEX_UNUSED && (entry = readdir(listing))) {
        gone += is_store(entry->d_name) && strcmp(entry->d_name, slash + 1) != 0 &&
                remove_unused(dirfd(listing), own, entry->d_name);
    }
    if (listing) {
        closedir(listing);
    }
    free(own);
    return gone;
}
