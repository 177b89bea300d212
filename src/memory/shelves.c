/* The folder and the identity of a shelf. A file of memories that was replaced by another one, a
 * server at another address, a space of another name: each is something else, and what was kept of
 * it is thrown away. */
#include "memory/shelves.h"

#include "db/db.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER     "index"
#define LAYOUT     "forage index 1" /* of what is kept beside the segments, which have their own */
#define STORE_SIZE 17               /* 16 hexadecimal digits and a NUL */

static void add_text(struct sha256 *sha, const char *text)
{
    sha256_add(sha, text, strlen(text) + 1);
}

/* What the store is, in the digest; and a name for it, which is that of its server. */
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
        struct sha256 of_url;
        sha256_init(&of_url);
        add_text(&of_url, url);
        sha256_end(&of_url, digest);
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
