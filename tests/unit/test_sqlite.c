/* The layer over SQLite: several users of one file, waiting, being cancelled, and files that are
 * not well. */
#include "core/clock.h"
#include "core/limits.h"
#include "db/sqlite.h"
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char path[128];

static const char *const FIRST[] = {"CREATE TABLE numbers (n INTEGER PRIMARY KEY, word TEXT)",
                                    NULL};
static const char *const SECOND[] = {"CREATE TABLE numbers (n INTEGER PRIMARY KEY, word TEXT)",
                                     "ALTER TABLE numbers ADD COLUMN more TEXT", NULL};

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/forage-sqlite-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/test.sqlite", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const ENDS[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < COUNT(ENDS); i++) {
        char name[160];
        snprintf(name, sizeof name, "%s%s", path, ENDS[i]);
        unlink(name);
    }
    return rmdir(folder);
}

static struct sqlite *open_file(const char *const *versions)
{
    char problem[512] = "";
    struct sqlite *db =
        sqlite_open(&(struct sqlite_options){.path = path, .versions = versions, .unsynced = true},
                    NULL, problem, sizeof problem);
    assert_string_equal(problem, "");
    assert_non_null(db);
    return db;
}

static int add(struct sqlite *db, const char *word)
{
    struct sqlite_statement *insert = sqlite_prepare(db, "INSERT INTO numbers (word) VALUES (?)");
    sqlite_bind_text(insert, 1, word);
    return sqlite_finish(insert);
}

static int64_t count(struct sqlite *db)
{
    struct sqlite_statement *select = sqlite_prepare(db, "SELECT count(*) FROM numbers");
    assert_int_equal(sqlite_step(select), 1);
    int64_t found = sqlite_int(select, 0);
    sqlite_end(select);
    return found;
}

static int64_t size_of_log(void)
{
    struct stat seen;
    char name[160];
    snprintf(name, sizeof name, "%s-wal", path);
    return stat(name, &seen) == 0 ? (int64_t)seen.st_size : -1;
}

/* ---- one user ---- */

static void values_come_back(void **state)
{
    (void)state;
    struct sqlite *db = open_file(FIRST);
    struct sqlite_statement *select =
        sqlite_prepare(db, "SELECT ?1, ?2, ?3, ?4, NULL WHERE ?1 IS NOT NULL");
    sqlite_bind_text(select, 1, "gr\xc3\xbc\xc3\x9f");
    sqlite_bind_int(select, 2, INT64_MIN);
    sqlite_bind_real(select, 3, 0.25);
    sqlite_bind_bytes(select, 4, "a\0b", 3);
    assert_int_equal(sqlite_step(select), 1);
    size_t length;
    assert_string_equal(sqlite_text(select, 0), "gr\xc3\xbc\xc3\x9f");
    assert_true(sqlite_int(select, 1) == INT64_MIN);
    assert_true(sqlite_real(select, 2) == 0.25);
    assert_memory_equal(sqlite_bytes(select, 3, &length), "a\0b", 3);
    assert_int_equal(length, 3);
    assert_null(sqlite_text(select, 4));
    assert_int_equal(sqlite_step(select), 0);
    sqlite_end(select);
    /* The same statement again: nothing of the last use is left. */
    select = sqlite_prepare(db, "SELECT ?1, ?2, ?3, ?4, NULL WHERE ?1 IS NOT NULL");
    assert_int_equal(sqlite_step(select), 0);
    sqlite_end(select);
    sqlite_close(db);
    assert_null(sqlite_close(NULL));
}

static void a_rollback_undoes(void **state)
{
    (void)state;
    struct sqlite *db = open_file(FIRST);
    assert_int_equal(sqlite_begin(db), OK);
    assert_int_equal(add(db, "one"), OK);
    assert_int_equal(sqlite_last_id(db), 1);
    sqlite_rollback(db);
    sqlite_rollback(db);
    assert_int_equal(count(db), 0);
    assert_int_equal(sqlite_begin(db), OK);
    assert_int_equal(add(db, "one"), OK);
    assert_int_equal(sqlite_commit(db), OK);
    assert_int_equal(count(db), 1);
    sqlite_close(db);
}

static void statements_are_kept_and_bounded(void **state)
{
    (void)state;
    struct sqlite *db = open_file(FIRST);
    struct sqlite_statement *held = sqlite_prepare(db, "SELECT 'held'");
    for (int i = 0; i < 3 * LIMIT_SQLITE_STATEMENTS; i++) {
        char sql[32];
        snprintf(sql, sizeof sql, "SELECT %d", i);
        struct sqlite_statement *statement = sqlite_prepare(db, sql);
        assert_int_equal(sqlite_step(statement), 1);
        assert_int_equal(sqlite_int(statement, 0), i);
        sqlite_end(statement);
        assert_ptr_equal(sqlite_prepare(db, sql), statement);
        sqlite_end(statement);
    }
    assert_int_equal(sqlite_step(held), 1);
    assert_string_equal(sqlite_text(held, 0), "held");
    sqlite_end(held);
    sqlite_close(db);
}

static void a_file_is_its_owners(void **state)
{
    (void)state;
    struct sqlite *db = open_file(FIRST);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    sqlite_close(db);
}

static void versions_follow_each_other(void **state)
{
    (void)state;
    struct sqlite *db = open_file(FIRST);
    assert_int_equal(add(db, "one"), OK);
    sqlite_close(db);
    db = open_file(SECOND);
    assert_int_equal(sqlite_run(db, "UPDATE numbers SET more = 'two'"), OK);
    sqlite_close(db);
    char problem[512] = "";
    assert_null(sqlite_open(&(struct sqlite_options){.path = path, .versions = FIRST}, NULL,
                            problem, sizeof problem));
    assert_non_null(strstr(problem, "newer version"));
}

/* ---- many users ---- */

#define THREADS 8
#define ROUNDS  40

static void *write_often(void *context)
{
    atomic_int *failed = context;
    char problem[512];
    /* Each opens the file itself, while the others do. */
    struct sqlite *db = sqlite_open(
        &(struct sqlite_options){
            .path = path, .versions = SECOND, .unsynced = true, .patience_ms = 120000},
        NULL, problem, sizeof problem);
    for (int i = 0; db && i < ROUNDS; i++) {
        int status = sqlite_begin(db);
        status = status == OK ? add(db, "x") : status;
        status = status == OK ? sqlite_commit(db) : status;
        atomic_fetch_add(failed, status != OK);
    }
    atomic_fetch_add(failed, !db);
    sqlite_close(db);
    return NULL;
}

static void many_threads_write_at_once(void **state)
{
    (void)state;
    atomic_int failed = 0;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_often, &failed), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(failed, 0);
    struct sqlite *db = open_file(SECOND);
    assert_int_equal(count(db), THREADS * ROUNDS);
    sqlite_close(db);
}

static void a_lock_is_waited_for_and_then_given_up(void **state)
{
    (void)state;
    char problem[512];
    struct sqlite *holder = open_file(FIRST);
    struct sqlite *other =
        sqlite_open(&(struct sqlite_options){.path = path, .versions = FIRST, .patience_ms = 50},
                    NULL, problem, sizeof problem);
    assert_int_equal(sqlite_begin(holder), OK);
    int64_t began = clock_now_ms();
    assert_int_equal(sqlite_begin(other), ERR_BUSY);
    assert_true(clock_now_ms() - began >= 50);
    assert_non_null(strstr(sqlite_problem(other), "locked"));
    assert_int_equal(count(other), 0); /* readers never wait */
    sqlite_rollback(holder);
    assert_int_equal(sqlite_begin(other), OK);
    sqlite_close(other);
    sqlite_close(holder);
}

static void *cancel_soon(void *context)
{
    usleep(20000);
    call_cancel(context);
    return NULL;
}

static void a_cancelled_call_stops_waiting(void **state)
{
    (void)state;
    struct sqlite *holder = open_file(FIRST);
    struct sqlite *other = open_file(FIRST);
    assert_int_equal(sqlite_begin(holder), OK);
    struct call *call = call_new(&(struct call_options){0});
    pthread_t thread;
    sqlite_work_for(other, call);
    pthread_create(&thread, NULL, cancel_soon, call);
    assert_int_equal(sqlite_begin(other), ERR_CANCELLED);
    pthread_join(thread, NULL);
    sqlite_work_for(other, NULL);
    call_free(call);
    call = call_new(&(struct call_options){.timeout_ms = 30});
    sqlite_work_for(other, call);
    assert_int_equal(sqlite_begin(other), ERR_DEADLINE);
    call_free(call);
    sqlite_close(other);
    sqlite_close(holder);
}

static void a_cancelled_call_stops_computing(void **state)
{
    (void)state;
    struct sqlite *db = open_file(FIRST);
    struct call *call = call_new(&(struct call_options){0});
    pthread_t thread;
    sqlite_work_for(db, call);
    pthread_create(&thread, NULL, cancel_soon, call);
    struct sqlite_statement *endless = sqlite_prepare(
        db, "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) "
            "FROM n");
    assert_int_equal(sqlite_step(endless), ERR_CANCELLED);
    sqlite_end(endless);
    pthread_join(thread, NULL);
    sqlite_work_for(db, NULL);
    assert_int_equal(count(db), 0);
    call_free(call);
    sqlite_close(db);
}

/* ---- files that are not well ---- */

static void write_file(const char *text, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
}

static void what_is_no_database_is_said(void **state)
{
    (void)state;
    char problem[512] = "";
    static const char TEXT[] =
        "This is a letter to my aunt, and by no means a database. It is long.";
    write_file(TEXT, sizeof TEXT - 1);
    assert_null(sqlite_open(&(struct sqlite_options){.path = path, .versions = FIRST}, NULL,
                            problem, sizeof problem));
    assert_non_null(strstr(problem, "not a database"));
    assert_non_null(strstr(problem, path));
}

static void a_damaged_file_is_said(void **state)
{
    (void)state;
    struct sqlite *db = open_file(FIRST);
    assert_int_equal(sqlite_begin(db), OK);
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(add(db, "a word that fills the pages of the table"), OK);
    }
    assert_int_equal(sqlite_commit(db), OK);
    sqlite_close(db);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    char noise[4096];
    memset(noise, 0x5a, sizeof noise);
    for (off_t page = 1; page < 8; page++) {
        assert_int_equal(pwrite(fd, noise, sizeof noise, page * 4096), sizeof noise);
    }
    close(fd);
    db = open_file(FIRST);
    struct sqlite_statement *select = sqlite_prepare(db, "SELECT sum(length(word)) FROM numbers");
    assert_int_equal(sqlite_step(select), ERR_IO);
    assert_non_null(strstr(sqlite_problem(db), "damaged"));
    sqlite_end(select);
    sqlite_close(db);
}

static void a_folder_that_is_missing_is_said(void **state)
{
    (void)state;
    char problem[512] = "";
    assert_null(sqlite_open(&(struct sqlite_options){.path = "/nonexistent/x.sqlite"}, NULL,
                            problem, sizeof problem));
    assert_non_null(strstr(problem, "cannot be opened: No such file"));
}

/* A full disk, played by the ceiling on the size of files. */
static void a_full_disk_is_said(void **state)
{
    (void)state;
    struct sqlite *db = open_file(FIRST);
    struct rlimit before;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 65536, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int status = sqlite_begin(db);
    for (int i = 0; status == OK && i < 100000; i++) {
        status = add(db, "a word that fills the pages of the table until there is no more room");
    }
    if (status == OK) {
        status = sqlite_commit(db);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, ERR_IO);
    assert_true(*sqlite_problem(db));
    sqlite_rollback(db);
    /* With room again, it goes on as if nothing had been. */
    assert_int_equal(count(db), 0);
    assert_int_equal(add(db, "one"), OK);
    assert_int_equal(count(db), 1);
    sqlite_close(db);
}

/* A commit waits much longer where its file becomes longer. */
static void a_commit_rarely_makes_the_log_longer(void **state)
{
    (void)state;
    struct sqlite *db = open_file(FIRST);
    int grown = 0;
    int64_t largest = 0;
    for (int i = 0; i < 3000; i++) {
        int64_t before = size_of_log();
        assert_int_equal(sqlite_begin(db), OK);
        assert_int_equal(add(db, "once more"), OK);
        int64_t begun = size_of_log();
        assert_int_equal(sqlite_commit(db), OK);
        assert_true(size_of_log() >= before); /* where it begins anew it is not cut */
        grown += size_of_log() != before;
        assert_true(i < 2 || size_of_log() == begun);
        largest = size_of_log();
    }
    assert_in_range(grown, 1, 12);
    assert_in_range(largest, KIB(2048), KIB(LIMIT_SQLITE_LOG_KIB + 64));
    sqlite_close(db);
}

static void copy_file(const char *from, const char *to)
{
    char chunk[4096];
    size_t length;
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    assert_true(in && out);
    while ((length = fread(chunk, 1, sizeof chunk, in)) > 0) {
        assert_int_equal(fwrite(chunk, 1, length, out), length);
    }
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* A copy of file and log in the middle of a transaction is what a power failure leaves. */
static void room_in_the_log_is_nothing_to_recover(void **state)
{
    (void)state;
    char log[160], copy[160], copied_log[200], problem[256];
    snprintf(log, sizeof log, "%s-wal", path);
    snprintf(copy, sizeof copy, "%s/copy", folder);
    snprintf(copied_log, sizeof copied_log, "%s-wal", copy);
    struct sqlite *db = open_file(FIRST);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(sqlite_begin(db), OK);
        assert_int_equal(add(db, "word"), OK);
        if (i < 5) {
            assert_int_equal(sqlite_commit(db), OK);
        }
    }
    assert_true(size_of_log() > 100000);
    copy_file(path, copy);
    copy_file(log, copied_log);
    sqlite_close(db);
    db = sqlite_open(&(struct sqlite_options){.path = copy, .versions = FIRST}, NULL, problem,
                     sizeof problem);
    assert_non_null(db);
    assert_int_equal(count(db), 5);
    assert_int_equal(add(db, "one more"), OK);
    assert_int_equal(count(db), 6);
    sqlite_close(db);
    unlink(copy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_come_back),
        TEST(a_rollback_undoes),
        TEST(statements_are_kept_and_bounded),
        TEST(a_commit_rarely_makes_the_log_longer),
        TEST(room_in_the_log_is_nothing_to_recover),
        TEST(a_file_is_its_owners),
        TEST(versions_follow_each_other),
        TEST(many_threads_write_at_once),
        TEST(a_lock_is_waited_for_and_then_given_up),
        TEST(a_cancelled_call_stops_waiting),
        TEST(a_cancelled_call_stops_computing),
        TEST(what_is_no_database_is_said),
        TEST(a_damaged_file_is_said),
        TEST(a_folder_that_is_missing_is_said),
        TEST(a_full_disk_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
