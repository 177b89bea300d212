/* The cache on disk: what comes back, what is refused, what goes first, and many at once. */
#include "unit.h"

#include "core/arena.h"
#include "core/hash.h"
#include "core/limits.h"
#include "core/status.h"
#include "source/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct fixture {
    struct arena *arena;
    struct cache *cache;
    char parent[64];
    char folder[96];
};

static void open_cache(struct fixture *fixture, uint64_t max_bytes)
{
    char problem[256] = "";
    cache_close(fixture->cache);
    fixture->cache = cache_open(fixture->folder, max_bytes, problem, sizeof problem);
    assert_string_equal(problem, "");
    assert_non_null(fixture->cache);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    snprintf(fixture->parent, sizeof fixture->parent, "/tmp/forage-test-XXXXXX");
    if (!mkdtemp(fixture->parent)) {
        return -1;
    }
    snprintf(fixture->folder, sizeof fixture->folder, "%s/a/b", fixture->parent);
    fixture->arena = arena_new(MIB(64));
    open_cache(fixture, MIB(1));
    *state = fixture;
    return 0;
}

static void path_of(const struct fixture *fixture, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", fixture->folder, name);
}

/* Calls a function with the name of each file; how many there are. */
static size_t each_file(const struct fixture *fixture,
                        void (*visit)(const char *path, const struct stat *about, void *context),
                        void *context)
{
    size_t count = 0;
    DIR *stream = opendir(fixture->folder);
    assert_non_null(stream);
    const struct dirent *file;
    while ((file = readdir(stream)) != NULL) {
        char path[512];
        struct stat about;
        if (file->d_name[0] == '.') {
            continue;
        }
        path_of(fixture, file->d_name, path, sizeof path);
        assert_int_equal(lstat(path, &about), 0);
        if (visit) {
            visit(path, &about, context);
        }
        count++;
    }
    closedir(stream);
    return count;
}

static void remove_file(const char *path, const struct stat *about, void *context)
{
    (void)about;
    (void)context;
    unlink(path);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    char path[96];
    cache_close(fixture->cache);
    each_file(fixture, remove_file, NULL);
    rmdir(fixture->folder);
    snprintf(path, sizeof path, "%s/a", fixture->parent);
    rmdir(path);
    rmdir(fixture->parent);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static void key_for(const char *url, char key[CACHE_KEY_SIZE])
{
    cache_key(key, (const char *const[]){"GET", url, NULL});
}

static _Thread_local struct cache_mark mark; /* of what was kept or found last */

static int keep(struct fixture *fixture, const char *url, const char *body, size_t length)
{
    static const struct fetch_header HEADERS[] = {
        {"content-type", "text/html; charset=utf-8", false}, {"etag", "\"a: b\"", false}};
    char key[CACHE_KEY_SIZE];
    key_for(url, key);
    struct fetch_response entry = {
        .url = url, .headers = HEADERS, .header_count = 2, .body = body, .body_length = length};
    return cache_keep(fixture->cache, key, &entry, &mark);
}

static _Thread_local int64_t age_s; /* of what find() found last */
static _Thread_local const struct cache_known *known;

static int find(struct fixture *fixture, const char *url, struct fetch_response *entry)
{
    char key[CACHE_KEY_SIZE];
    key_for(url, key);
    struct cached found;
    int status = cache_find(fixture->cache, fixture->arena, key, known, &found);
    if (status == OK) {
        *entry = found.answer;
        mark = found.mark;
        age_s = found.age_s;
    }
    return status;
}

/* ---- one entry ---- */

static void gives_back_what_was_kept(void **state)
{
    struct fixture *fixture = *state;
    static const char BODY[] = "a body\n\nwith blank lines, a \0 and \xff\n\nsum 0\n\n";
    struct fetch_response entry;
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
    assert_int_equal(keep(fixture, "https://a.test/", BODY, sizeof BODY), OK);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_string_equal(entry.url, "https://a.test/");
    assert_int_equal(entry.body_length, sizeof BODY);
    assert_memory_equal(entry.body, BODY, sizeof BODY);
    assert_int_equal(entry.header_count, 2);
    assert_string_equal(entry.headers[0].name, "content-type");
    assert_string_equal(entry.headers[0].value, "text/html; charset=utf-8");
    assert_string_equal(entry.headers[1].value, "\"a: b\"");
    assert_in_range(age_s, 0, 60);
    assert_int_equal(find(fixture, "https://a.test/other", &entry), ERR_NOTFOUND);
    /* The newer answer takes the place of the older. */
    assert_int_equal(keep(fixture, "https://a.test/", "", 0), OK);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_int_equal(entry.body_length, 0);
    assert_int_equal(each_file(fixture, NULL, NULL), 1);
}

static void keys_part_what_they_are_made_of(void **state)
{
    (void)state;
    char first[CACHE_KEY_SIZE], second[CACHE_KEY_SIZE];
    cache_key(first, (const char *const[]){"ab", "c", NULL});
    cache_key(second, (const char *const[]){"a", "bc", NULL});
    assert_string_not_equal(first, second);
    assert_int_equal(strlen(first), 64);
    assert_int_equal(strspn(first, "0123456789abcdef"), 64);
}

static void check_private(const char *path, const struct stat *about, void *context)
{
    (void)path;
    (void)context;
    assert_int_equal(about->st_mode & 07777, 0600);
}

static void nobody_else_may_look(void **state)
{
    struct fixture *fixture = *state;
    struct stat about;
    mode_t before = umask(0);
    assert_int_equal(keep(fixture, "https://a.test/", "x", 1), OK);
    umask(before);
    assert_int_equal(each_file(fixture, check_private, NULL), 1);
    assert_int_equal(stat(fixture->folder, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0700);
}

static void set_times(const struct fixture *fixture, const char *url, time_t used, time_t true_at)
{
    char key[CACHE_KEY_SIZE], path[512];
    key_for(url, key);
    path_of(fixture, key, path, sizeof path);
    const struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = true_at}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void grows_old_and_is_confirmed(void **state)
{
    struct fixture *fixture = *state;
    struct fetch_response entry;
    char key[CACHE_KEY_SIZE];
    time_t now = time(NULL);
    assert_int_equal(keep(fixture, "https://a.test/", "x", 1), OK);
    set_times(fixture, "https://a.test/", now, now - 5000);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_in_range(age_s, 5000, 5100);
    /* To be used is not to be true. */
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_in_range(age_s, 5000, 5100);
    key_for("https://a.test/", key);
    cache_confirm(fixture->cache, key);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_in_range(age_s, 0, 100);
    /* A clock that was wrong. */
    set_times(fixture, "https://a.test/", now, now + 5000);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_true(age_s == INT64_MAX);
    /* One that is a little ahead. */
    set_times(fixture, "https://a.test/", now, now + 1);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_int_equal(age_s, 0);
}

/* ---- files that are not what they should be ---- */

static void overwrite(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void ignores_every_damage(void **state)
{
    struct fixture *fixture = *state;
    char key[CACHE_KEY_SIZE], path[512], whole[4096];
    struct fetch_response entry;
    assert_int_equal(keep(fixture, "https://a.test/", "the body", 8), OK);
    key_for("https://a.test/", key);
    path_of(fixture, key, path, sizeof path);
    FILE *file = fopen(path, "rb");
    size_t length = fread(whole, 1, sizeof whole, file);
    fclose(file);
    for (size_t i = 0; i < length; i++) {
        /* Cut off here, and one byte changed here. */
        overwrite(path, whole, i);
        assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
        whole[i] ^= 1;
        overwrite(path, whole, length);
        assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
        whole[i] ^= 1;
    }
    overwrite(path, whole, length);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    /* More than there should be. */
    whole[length] = 'x';
    overwrite(path, whole, length + 1);
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
}

/* As versions up to 0.8.0 wrote it. */
static void reads_files_of_the_first_version(void **state)
{
    struct fixture *fixture = *state;
    char key[CACHE_KEY_SIZE], path[512], file[512];
    struct fetch_response entry;
    key_for("https://a.test/", key);
    path_of(fixture, key, path, sizeof path);
    int length =
        snprintf(file, sizeof file,
                 "forage-cache 1\nkey %s\nurl https://a.test/\nheader etag: x\nbody 4\n", key);
    uint64_t sum = hash_add(hash_add(HASH_START, file, (size_t)length), "body", 4);
    length += snprintf(file + length, sizeof file - (size_t)length, "sum %016llx\n\nbody",
                       (unsigned long long)sum);
    overwrite(path, file, (size_t)length);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_string_equal(entry.body, "body");
    assert_string_equal(fetch_header_value(&entry, "etag"), "x");
    file[length - 1] = 'i';
    overwrite(path, file, (size_t)length);
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
}

/* ---- answers that are known ---- */

static bool is_as_marked(void *context, const struct cache_mark *asked)
{
    const struct cache_mark *expected = context;
    return strcmp(asked->key, expected->key) == 0 && asked->sum == expected->sum;
}

static void leaves_the_body_of_what_is_known(void **state)
{
    struct fixture *fixture = *state;
    static char body[KIB(20)];
    struct fetch_response entry;
    memset(body, 'x', sizeof body);
    assert_int_equal(keep(fixture, "https://a.test/", body, sizeof body), OK);
    struct cache_mark first = mark;
    struct cache_known asked = {is_as_marked, &first};
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_true(is_as_marked(&first, &mark));
    known = &asked;
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_string_equal(entry.url, "https://a.test/");
    assert_string_equal(entry.content_type, "text/html; charset=utf-8");
    assert_string_equal(entry.body, "");
    assert_int_equal(entry.body_length, 0);
    assert_in_range(age_s, 0, 60);
    /* Another answer, of the same length. */
    body[sizeof body - 1] = 'y';
    assert_int_equal(keep(fixture, "https://a.test/", body, sizeof body), OK);
    assert_true(mark.sum != first.sum);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_int_equal(entry.body_length, sizeof body);
    assert_memory_equal(entry.body, body, sizeof body);
    /* A file of another length, or whose head is damaged, is no answer. */
    char key[CACHE_KEY_SIZE], path[512];
    key_for("https://a.test/", key);
    path_of(fixture, key, path, sizeof path);
    first = mark;
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_int_equal(entry.body_length, 0);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(truncate(path, about.st_size - 1), 0);
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
    assert_int_equal(truncate(path, about.st_size), 0);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, 20, SEEK_SET); /* in the key */
    fputc('x', file);
    fclose(file);
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
    unlink(path);
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
    known = NULL;
}

static void ignores_what_is_not_its_own(void **state)
{
    struct fixture *fixture = *state;
    char key[CACHE_KEY_SIZE], other[CACHE_KEY_SIZE], path[512], elsewhere[512];
    struct fetch_response entry;
    key_for("https://a.test/", key);
    key_for("https://b.test/", other);
    path_of(fixture, key, path, sizeof path);
    /* A folder, a pipe, a link, a foreign file, the answer to something else. */
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
    assert_int_equal(unlink(path), 0);
    overwrite(path, "hello\n", 6);
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(keep(fixture, "https://b.test/", "x", 1), OK);
    path_of(fixture, other, elsewhere, sizeof elsewhere);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(elsewhere, path), 0);
    assert_int_equal(find(fixture, "https://a.test/", &entry), ERR_NOTFOUND);
}

static void refuses_a_folder_that_others_may_write(void **state)
{
    struct fixture *fixture = *state;
    char problem[256];
    assert_int_equal(chmod(fixture->folder, 0777), 0);
    assert_null(cache_open(fixture->folder, MIB(1), problem, sizeof problem));
    assert_non_null(strstr(problem, "nobody else may write"));
    assert_int_equal(chmod(fixture->folder, 0700), 0);
    assert_null(cache_open("/proc/nonexistent/a/b", MIB(1), problem, sizeof problem));
    assert_non_null(strstr(problem, "/proc/nonexistent/a/b: No such file"));
    assert_int_equal(access("/proc/nonexistent", F_OK), -1);
}

static void values_cannot_write_lines_of_their_own(void **state)
{
    struct fixture *fixture = *state;
    char key[CACHE_KEY_SIZE];
    key_for("https://a.test/", key);
    struct fetch_header header = {"etag", "x\nurl https://evil.test/", false};
    struct fetch_response entry = {.url = "https://a.test/",
                                   .headers = &header,
                                   .header_count = 1,
                                   .body = "",
                                   .body_length = 0};
    assert_int_equal(cache_keep(fixture->cache, key, &entry, &mark), ERR_LIMIT);
    header.value = "x";
    entry.url = "https://a.test/\nbody 0";
    assert_int_equal(cache_keep(fixture->cache, key, &entry, &mark), ERR_LIMIT);
    assert_int_equal(each_file(fixture, NULL, NULL), 0);
}

/* ---- ceilings ---- */

static void add_size(const char *path, const struct stat *about, void *context)
{
    (void)path;
    *(uint64_t *)context += (uint64_t)about->st_size;
}

static void stays_within_its_size(void **state)
{
    struct fixture *fixture = *state;
    static char body[KIB(100)];
    char url[64];
    struct fetch_response entry;
    time_t now = time(NULL);
    for (int i = 0; i < 40; i++) {
        uint64_t bytes = 0;
        snprintf(url, sizeof url, "https://a.test/%d", i);
        assert_int_equal(keep(fixture, url, body, sizeof body), OK);
        /* Each was used at a moment of its own; the first one just now. */
        set_times(fixture, url, now - 1000 + i, now);
        set_times(fixture, "https://a.test/0", now, now);
        each_file(fixture, add_size, &bytes);
        assert_true(bytes <= MIB(1));
    }
    assert_int_equal(find(fixture, "https://a.test/0", &entry), OK);
    assert_int_equal(find(fixture, "https://a.test/39", &entry), OK);
    assert_int_equal(find(fixture, "https://a.test/1", &entry), ERR_NOTFOUND);
    /* What would push everything else out is not kept. */
    char *large = calloc(1, MIB(1));
    assert_int_equal(keep(fixture, "https://a.test/large", large, KIB(300)), ERR_LIMIT);
    free(large);
}

static void a_use_saves_from_removal(void **state)
{
    struct fixture *fixture = *state;
    static char body[KIB(200)];
    char url[64];
    struct fetch_response entry;
    time_t now = time(NULL);
    for (int i = 0; i < 4; i++) {
        snprintf(url, sizeof url, "https://a.test/%d", i);
        assert_int_equal(keep(fixture, url, body, sizeof body), OK);
        set_times(fixture, url, now - 1000 + i, now);
    }
    assert_int_equal(find(fixture, "https://a.test/0", &entry), OK);
    assert_int_equal(keep(fixture, "https://a.test/4", body, sizeof body), OK);
    assert_int_equal(keep(fixture, "https://a.test/5", body, sizeof body), OK);
    assert_int_equal(find(fixture, "https://a.test/0", &entry), OK);
    assert_int_equal(find(fixture, "https://a.test/1", &entry), ERR_NOTFOUND);
}

static void sweeps_up_what_was_left_unfinished(void **state)
{
    struct fixture *fixture = *state;
    char path[512], young[512];
    const struct timespec old[2] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
    path_of(fixture, "new-0123456789abcdef", path, sizeof path);
    path_of(fixture, "new-0123456789abcdee", young, sizeof young);
    overwrite(path, "x", 1);
    overwrite(young, "x", 1);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    assert_int_equal(keep(fixture, "https://a.test/", "x", 1), OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(young, F_OK), 0);
}

/* A ceiling on the size of files stands for a disk that is full. */
static void a_full_disk_leaves_nothing_behind(void **state)
{
    struct fixture *fixture = *state;
    static char body[KIB(64)];
    struct fetch_response entry;
    struct rlimit before, small = {.rlim_cur = KIB(8)};
    assert_int_equal(keep(fixture, "https://a.test/", "old", 3), OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int status = keep(fixture, "https://a.test/", body, sizeof body);
    int problem = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, ERR_IO);
    assert_int_equal(problem, EFBIG);
    assert_int_equal(each_file(fixture, NULL, NULL), 1);
    assert_int_equal(find(fixture, "https://a.test/", &entry), OK);
    assert_memory_equal(entry.body, "old", 3);
}

/* ---- many at once ---- */

struct crowd {
    struct fixture *fixture;
    int number;
    bool failed;
};

/* Each writes and reads the same few entries; what is read is always one of what was written. */
static void *take_part(void *context)
{
    struct crowd *one = context;
    struct fixture mine = *one->fixture;
    char problem[256];
    static char bodies[8][KIB(20)];
    mine.arena = arena_new(MIB(64));
    /* Every second one is another process, as far as the cache can tell. */
    mine.cache = one->number % 2 ? cache_open(mine.folder, KIB(256), problem, sizeof problem)
                                 : one->fixture->cache;
    for (int i = 0; i < 200; i++) {
        char url[64];
        struct fetch_response entry;
        snprintf(url, sizeof url, "https://a.test/%d", i % 16);
        int status = keep(&mine, url, bodies[one->number], sizeof bodies[0] - (size_t)(i % 7));
        one->failed |= status != OK;
        status = find(&mine, url, &entry);
        one->failed |= status != OK && status != ERR_NOTFOUND;
        one->failed |= status == OK &&
                       (strcmp(entry.url, url) != 0 || entry.body_length < sizeof bodies[0] - 6);
        arena_reset(mine.arena);
    }
    if (one->number % 2) {
        cache_close(mine.cache);
    }
    arena_free(mine.arena);
    return NULL;
}

static void many_share_a_folder(void **state)
{
    struct fixture *fixture = *state;
    struct crowd crowd[8];
    pthread_t threads[COUNT(crowd)];
    uint64_t bytes = 0;
    open_cache(fixture, KIB(256));
    for (size_t i = 0; i < COUNT(crowd); i++) {
        crowd[i] = (struct crowd){.fixture = fixture, .number = (int)i};
        assert_int_equal(pthread_create(&threads[i], NULL, take_part, &crowd[i]), 0);
    }
    for (size_t i = 0; i < COUNT(crowd); i++) {
        pthread_join(threads[i], NULL);
        assert_false(crowd[i].failed);
    }
    each_file(fixture, add_size, &bytes);
    assert_true(bytes > 0);
    assert_true(each_file(fixture, NULL, NULL) <= 16);
}

UNIT_TEST(cache)
{
#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_CACHE(gives_back_what_was_kept),
        WITH_CACHE(keys_part_what_they_are_made_of),
        WITH_CACHE(nobody_else_may_look),
        WITH_CACHE(grows_old_and_is_confirmed),
        WITH_CACHE(ignores_every_damage),
        WITH_CACHE(reads_files_of_the_first_version),
        WITH_CACHE(leaves_the_body_of_what_is_known),
        WITH_CACHE(ignores_what_is_not_its_own),
        WITH_CACHE(refuses_a_folder_that_others_may_write),
        WITH_CACHE(values_cannot_write_lines_of_their_own),
        WITH_CACHE(stays_within_its_size),
        WITH_CACHE(a_use_saves_from_removal),
        WITH_CACHE(sweeps_up_what_was_left_unfinished),
        WITH_CACHE(a_full_disk_leaves_nothing_behind),
        WITH_CACHE(many_share_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
