/* The seam to databases, on an SQLite file: the words of statements, several users of one file,
 * waiting, being cancelled, marks, and files that are not well. PostgreSQL behind the same seam:
 * test_postgres.c, and tests/blackbox/test_postgres.py. */
#include "core/clock.h"
#include "core/limits.h"
#include "db/pool.h"
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

static const char *const FIRST_VERSION[] = {
    "CREATE TABLE numbers (n INTEGER PRIMARY KEY, word TEXT)", NULL};
static const struct db_schema FIRST = {"test", FIRST_VERSION, NULL};
static const char *const SECOND_VERSION[] = {
    "CREATE TABLE numbers (n INTEGER PRIMARY KEY, word TEXT)",
    "ALTER TABLE numbers ADD COLUMN more TEXT", NULL};
static const struct db_schema SECOND = {"test", SECOND_VERSION, NULL};

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/forage-db-XXXXXX");
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

static struct db *open_file(const struct db_schema *schema)
{
    char problem[512] = "";
    struct db *db = db_open(&(struct db_options){.path = path, .schema = schema, .unsynced = true},
                            NULL, problem, sizeof problem);
    assert_string_equal(problem, "");
    assert_non_null(db);
    return db;
}

static int add(struct db *db, const char *word)
{
    return db_do(db, "INSERT INTO {numbers} (word) VALUES (?1)", DB_TEXT(word));
}

static int64_t count(struct db *db)
{
    int64_t found;
    assert_int_equal(db_numbers(db_query(db, "SELECT count(*) FROM {numbers}", NULL, 0), &found, 1),
                     1);
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
    static const char SQL[] = "SELECT ?1, ?2, ?3, NULL WHERE ?1 IS NOT NULL";
    struct db *db = open_file(&FIRST);
    struct db_rows *rows =
        db_ask(db, SQL, DB_TEXT("gr\xc3\xbc\xc3\x9f"), DB_INT(INT64_MIN), DB_BYTES("a\0b", 3));
    assert_int_equal(db_step(rows), 1);
    size_t length;
    assert_string_equal(db_text(rows, 0), "gr\xc3\xbc\xc3\x9f");
    assert_true(db_int(rows, 1) == INT64_MIN);
    assert_memory_equal(db_bytes(rows, 2, &length), "a\0b", 3);
    assert_int_equal(length, 3);
    assert_null(db_text(rows, 3));
    assert_int_equal(db_step(rows), 0);
    db_end(rows);
    /* The same statement again: nothing of the last use is left. */
    rows = db_query(db, SQL, NULL, 0);
    assert_int_equal(db_step(rows), 0);
    db_end(rows);
    db_close(db);
    assert_null(db_close(NULL));
}

static void statements_are_put_into_the_words_of_the_engine(void **state)
{
    (void)state;
    struct db *db = open_file(&FIRST);
    assert_int_equal(add(db, "one"), OK);
    struct db_rows *rows =
        db_ask(db,
               "{SELECT word || {char|chr}(33) || ?1|no SQL} FROM {numbers} WHERE {|never AND }n > "
               "?2",
               DB_TEXT("!"), DB_INT(0));
    assert_int_equal(db_step(rows), 1);
    assert_string_equal(db_text(rows, 0), "one!!");
    db_end(rows);
    assert_int_equal(db_run(db, "DELETE FROM {numbers}"), OK);
    assert_int_equal(count(db), 0);
    rows = db_query(db, "SELECT nothing FROM {nowhere}", NULL, 0);
    assert_int_equal(db_step(rows), ERR_IO);
    assert_non_null(strstr(db_problem(db), "SQL"));
    db_end(rows);
    struct db_value many[LIMIT_DB_VALUES + 1] = {{0}};
    assert_int_equal(db_finish(db_query(db, "SELECT 1", many, COUNT(many))), ERR_LIMIT);
    db_close(db);
}

static void one_mark_is_gone_back_to(void **state)
{
    (void)state;
    struct db *db = open_file(&FIRST);
    assert_int_equal(db_begin(db, true), OK);
    static const struct {
        const char *word;
        bool stays;
    } STEPS[] = {{"a", false}, {"b", true}, {"c", false}, {"d", true}};
    for (size_t i = 0; i < COUNT(STEPS); i++) {
        assert_int_equal(db_mark(db), OK);
        assert_int_equal(add(db, STEPS[i].word), OK);
        assert_int_equal(STEPS[i].stays ? db_drop_mark(db) : db_back_to_mark(db), OK);
    }
    assert_int_equal(db_commit(db), OK);
    struct db_rows *rows = db_query(db, "SELECT group_concat(word, '') FROM {numbers}", NULL, 0);
    assert_int_equal(db_step(rows), 1);
    assert_string_equal(db_text(rows, 0), "bd");
    db_end(rows);
    db_close(db);
}

static void a_rollback_undoes(void **state)
{
    (void)state;
    struct db *db = open_file(&FIRST);
    assert_int_equal(db_begin(db, true), OK);
    assert_int_equal(add(db, "one"), OK);
    db_rollback(db);
    db_rollback(db);
    assert_int_equal(count(db), 0);
    assert_int_equal(db_begin(db, true), OK);
    assert_int_equal(add(db, "one"), OK);
    assert_int_equal(db_commit(db), OK);
    assert_int_equal(count(db), 1);
    db_close(db);
}

static void statements_are_kept_and_bounded(void **state)
{
    (void)state;
    struct db *db = open_file(&FIRST);
    struct db_rows *held = db_query(db, "SELECT 'held'", NULL, 0);
    for (int i = 0; i < 3 * LIMIT_DB_STATEMENTS; i++) {
        char sql[32];
        snprintf(sql, sizeof sql, "SELECT %d", i);
        struct db_rows *statement = db_query(db, sql, NULL, 0);
        assert_int_equal(db_step(statement), 1);
        assert_int_equal(db_int(statement, 0), i);
        db_end(statement);
        assert_ptr_equal(db_query(db, sql, NULL, 0), statement);
        db_end(statement);
    }
    assert_int_equal(db_step(held), 1);
    assert_string_equal(db_text(held, 0), "held");
    db_end(held);
    db_close(db);
}

static void a_file_is_its_owners(void **state)
{
    (void)state;
    struct db *db = open_file(&FIRST);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    db_close(db);
}

static void versions_follow_each_other(void **state)
{
    (void)state;
    struct db *db = open_file(&FIRST);
    assert_int_equal(add(db, "one"), OK);
    db_close(db);
    db = open_file(&SECOND);
    assert_int_equal(db_run(db, "UPDATE numbers SET more = 'two'"), OK);
    db_close(db);
    char problem[512] = "";
    assert_null(db_open(&(struct db_options){.path = path, .schema = &FIRST}, NULL, problem,
                        sizeof problem));
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
    struct db *db = db_open(
        &(struct db_options){
            .path = path, .schema = &SECOND, .unsynced = true, .patience_ms = 120000},
        NULL, problem, sizeof problem);
    for (int i = 0; db && i < ROUNDS; i++) {
        int status = db_begin(db, true);
        status = status == OK ? add(db, "x") : status;
        status = status == OK ? db_commit(db) : status;
        atomic_fetch_add(failed, status != OK);
    }
    atomic_fetch_add(failed, !db);
    db_close(db);
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
    struct db *db = open_file(&SECOND);
    assert_int_equal(count(db), THREADS * ROUNDS);
    db_close(db);
}

static void a_lock_is_waited_for_and_then_given_up(void **state)
{
    (void)state;
    char problem[512];
    struct db *holder = open_file(&FIRST);
    struct db *other =
        db_open(&(struct db_options){.path = path, .schema = &FIRST, .patience_ms = 50}, NULL,
                problem, sizeof problem);
    assert_int_equal(db_begin(holder, true), OK);
    int64_t began = clock_now_ms();
    assert_int_equal(db_begin(other, true), ERR_BUSY);
    assert_true(clock_now_ms() - began >= 50);
    assert_non_null(strstr(db_problem(other), "locked"));
    assert_int_equal(count(other), 0); /* readers never wait */
    db_rollback(holder);
    assert_int_equal(db_begin(other, true), OK);
    db_close(other);
    db_close(holder);
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
    struct db *holder = open_file(&FIRST);
    struct db *other = open_file(&FIRST);
    assert_int_equal(db_begin(holder, true), OK);
    struct call *call = call_new(&(struct call_options){0});
    pthread_t thread;
    db_work_for(other, call);
    pthread_create(&thread, NULL, cancel_soon, call);
    assert_int_equal(db_begin(other, true), ERR_CANCELLED);
    pthread_join(thread, NULL);
    db_work_for(other, NULL);
    call_free(call);
    call = call_new(&(struct call_options){.timeout_ms = 30});
    db_work_for(other, call);
    assert_int_equal(db_begin(other, true), ERR_DEADLINE);
    call_free(call);
    db_close(other);
    db_close(holder);
}

static void a_cancelled_call_stops_computing(void **state)
{
    (void)state;
    struct db *db = open_file(&FIRST);
    struct call *call = call_new(&(struct call_options){0});
    pthread_t thread;
    db_work_for(db, call);
    pthread_create(&thread, NULL, cancel_soon, call);
    struct db_rows *endless = db_query(
        db,
        "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
        NULL, 0);
    assert_int_equal(db_step(endless), ERR_CANCELLED);
    db_end(endless);
    pthread_join(thread, NULL);
    db_work_for(db, NULL);
    assert_int_equal(count(db), 0);
    call_free(call);
    db_close(db);
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
    assert_null(db_open(&(struct db_options){.path = path, .schema = &FIRST}, NULL, problem,
                        sizeof problem));
    assert_non_null(strstr(problem, "not a database"));
    assert_non_null(strstr(problem, path));
}

static void a_damaged_file_is_said(void **state)
{
    (void)state;
    struct db *db = open_file(&FIRST);
    assert_int_equal(db_begin(db, true), OK);
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(add(db, "a word that fills the pages of the table"), OK);
    }
    assert_int_equal(db_commit(db), OK);
    db_close(db);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    char noise[4096];
    memset(noise, 0x5a, sizeof noise);
    for (off_t page = 1; page < 8; page++) {
        assert_int_equal(pwrite(fd, noise, sizeof noise, page * 4096), sizeof noise);
    }
    close(fd);
    db = open_file(&FIRST);
    struct db_rows *select = db_query(db, "SELECT sum(length(word)) FROM numbers", NULL, 0);
    assert_int_equal(db_step(select), ERR_IO);
    assert_non_null(strstr(db_problem(db), "damaged"));
    db_end(select);
    db_close(db);
}

static void a_folder_that_is_missing_is_said(void **state)
{
    (void)state;
    char problem[512] = "";
    assert_null(
        db_open(&(struct db_options){.path = "/proc/nonexistent/x.sqlite", .schema = &FIRST}, NULL,
                problem, sizeof problem));
    assert_non_null(strstr(problem, "cannot be opened: No such file"));
}

/* A full disk, played by the ceiling on the size of files. */
static void a_full_disk_is_said(void **state)
{
    (void)state;
    struct db *db = open_file(&FIRST);
    struct rlimit before;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 65536, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int status = db_begin(db, true);
    for (int i = 0; status == OK && i < 100000; i++) {
        status = add(db, "a word that fills the pages of the table until there is no more room");
    }
    if (status == OK) {
        status = db_commit(db);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, ERR_IO);
    assert_true(*db_problem(db));
    db_rollback(db);
    /* With room again, it goes on as if nothing had been. */
    assert_int_equal(count(db), 0);
    assert_int_equal(add(db, "one"), OK);
    assert_int_equal(count(db), 1);
    db_close(db);
}

/* A commit waits much longer where its file becomes longer. */
static void a_commit_rarely_makes_the_log_longer(void **state)
{
    (void)state;
    struct db *db = open_file(&FIRST);
    int grown = 0;
    int64_t largest = 0;
    for (int i = 0; i < 3000; i++) {
        int64_t before = size_of_log();
        assert_int_equal(db_begin(db, true), OK);
        assert_int_equal(add(db, "once more"), OK);
        int64_t begun = size_of_log();
        assert_int_equal(db_commit(db), OK);
        assert_true(size_of_log() >= before); /* where it begins anew it is not cut */
        grown += size_of_log() != before;
        assert_true(i < 2 || size_of_log() == begun);
        largest = size_of_log();
    }
    assert_in_range(grown, 1, 12);
    assert_in_range(largest, KIB(2048), KIB(LIMIT_SQLITE_LOG_KIB + 64));
    db_close(db);
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
    struct db *db = open_file(&FIRST);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(db_begin(db, true), OK);
        assert_int_equal(add(db, "word"), OK);
        if (i < 5) {
            assert_int_equal(db_commit(db), OK);
        }
    }
    assert_true(size_of_log() > 100000);
    copy_file(path, copy);
    copy_file(log, copied_log);
    db_close(db);
    db = db_open(&(struct db_options){.path = copy, .schema = &FIRST}, NULL, problem,
                 sizeof problem);
    assert_non_null(db);
    assert_int_equal(count(db), 5);
    assert_int_equal(add(db, "one more"), OK);
    assert_int_equal(count(db), 6);
    db_close(db);
    unlink(copy);
}

static void a_log_that_another_emptied_gets_room_again(void **state)
{
    (void)state;
    int64_t held_at;
    struct db *db = open_file(&FIRST);
    struct db *other = open_file(&FIRST);
    for (int i = 0; i < 10; i++) {
        if (i == 5) {
            assert_true(size_of_log() > 100000);
            assert_int_equal(db_empty_log(other, &held_at), OK);
            assert_int_equal(size_of_log(), 0);
        }
        assert_int_equal(db_begin(db, true), OK);
        assert_int_equal(add(db, "word"), OK);
        assert_int_equal(db_commit(db), OK);
    }
    assert_true(size_of_log() > 100000);
    db_close(db);
    db_close(other);
}

/* ---- connections that are lent ---- */

static struct db *open_pooled(void *context, struct call *call, char *problem, size_t size)
{
    (void)call;
    return db_open(&(struct db_options){.path = path, .schema = context, .unsynced = true}, NULL,
                   problem, size);
}

static struct db_pool *new_pool(void)
{
    struct db_pool *pool = db_pool_new(&(struct db_pool_options){
        .open = open_pooled, .context = (void *)(uintptr_t)&FIRST, .name = "a file", .idle = 8});
    assert_non_null(pool);
    return pool;
}

static struct db *borrow(struct db_pool *pool, struct call *call)
{
    char problem[512] = "";
    struct db *db;
    assert_int_equal(db_pool_borrow(pool, call, &db, problem, sizeof problem), OK);
    return db;
}

/* Descriptors of the file that this process has. */
static size_t open_descriptors(void)
{
    struct stat wanted;
    struct stat seen;
    size_t found = 0;
    assert_int_equal(stat(path, &wanted), 0);
    for (int fd = 0; fd < 256; fd++) {
        found +=
            fstat(fd, &seen) == 0 && seen.st_dev == wanted.st_dev && seen.st_ino == wanted.st_ino;
    }
    return found;
}

static void connections_of_a_crowd_close(void **state)
{
    (void)state;
    static const size_t CROWDS[] = {1, 2, 3, 8, 20};
    struct db_pool *pool = new_pool();
    struct call *call = call_new(&(struct call_options){0});
    for (size_t i = 0; i < COUNT(CROWDS); i++) {
        struct db *lent[20];
        for (size_t j = 0; j < CROWDS[i]; j++) {
            lent[j] = borrow(pool, call);
            assert_int_equal(db_begin_reading(lent[j]), OK);
            assert_int_equal(count(lent[j]), 0);
        }
        for (size_t j = 0; j < CROWDS[i]; j++) {
            db_pool_return(pool, lent[j]);
        }
        assert_true(open_descriptors() >= CROWDS[i]);
        db_pool_rest(pool, 2);
        assert_int_equal(open_descriptors(), CROWDS[i] > 2 ? 0 : CROWDS[i]);
    }
    db_pool_free(pool);
    call_free(call);
}

/* The pool looks whether the file is where it was, for the transaction that begins then, and for no
 * other. */
static void a_file_that_moved_is_told(void **state)
{
    (void)state;
    char away[160];
    struct db_pool *pool = new_pool();
    struct call *call = call_new(&(struct call_options){0});
    snprintf(away, sizeof away, "%s/away", folder);
    for (int i = 0; i < 4; i++) {
        struct db *db = borrow(pool, call);
        if (i < 2) {
            assert_int_equal(i == 0 ? db_begin_reading(db) : db_begin(db, true), OK);
            db_rollback(db);
        } else {
            assert_int_equal(i == 2 ? count(db) : db_begin(db, true), OK);
        }
        assert_int_equal(i == 3 ? add(db, "lost") : OK, OK);
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(i == 3   ? db_commit(db)
                         : i == 1 ? db_begin(db, true)
                                  : db_begin_reading(db),
                         ERR_IO);
        assert_int_equal(db_in_doubt(db), i == 3);
        assert_non_null(strstr(db_problem(db), "moved"));
        assert_int_equal(rename(away, path), 0);
        db_pool_return(pool, db);
    }
    db_pool_free(pool);
    call_free(call);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

UNIT_TEST(db)
{
    const struct CMUnitTest tests[] = {
        TEST(values_come_back),
        TEST(statements_are_put_into_the_words_of_the_engine),
        TEST(one_mark_is_gone_back_to),
        TEST(a_rollback_undoes),
        TEST(statements_are_kept_and_bounded),
        TEST(a_commit_rarely_makes_the_log_longer),
        TEST(room_in_the_log_is_nothing_to_recover),
        TEST(a_log_that_another_emptied_gets_room_again),
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
        TEST(connections_of_a_crowd_close),
        TEST(a_file_that_moved_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
