/* SQLite behind one small interface: opening, waiting for locks, and what errors mean. */
#include "db/sqlite.h"

#include "core/clock.h"
#include "core/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEPS_BETWEEN_CHECKS 2000 /* of SQLite's machine: well under a millisecond */
/* Of the write-ahead log; what one page takes in it. */
#define LOG_HEADER_BYTES 32
#define LOG_FRAME_BYTES  (4096 + 24)
#define LOG_FIRST_BYTES  (int64_t) KIB(256) /* that it is made with */
#define LOG_ROOM_BYTES   (int64_t) KIB(64)  /* more than nearly every transaction writes */

struct sqlite_statement {
    struct sqlite *db;
    sqlite3_stmt *handle;
    char *sql;
    int error;  /* of SQLite, while it was made or filled; 0: none */
    bool used;  /* between sqlite_prepare() and sqlite_end() */
    bool began; /* a row has come: the statement cannot simply be repeated */
    uint64_t last_use;
};

struct sqlite {
    sqlite3 *handle;
    struct call *call;
    int64_t patience_ms;
    int64_t waits_since_ms; /* for a lock; 0: it does not wait */
    int log_frames;         /* of the log that were in use after the last commit */
    int most_log_frames;    /* then they are brought into the file */
    uint64_t uses;
    size_t statement_count;
    struct sqlite_statement *statements[LIMIT_SQLITE_STATEMENTS];
    char problem[512];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Closing a descriptor of a file gives up all locks that the process has on it, so a file is never
 * made by one thread while another opens it. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static void configure_library(void)
{
    sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_initialize();
}

/* ---- what errors mean ---- */

static const struct {
    int code;
    int status;
    const char *words; /* NULL: SQLite's own */
} ERRORS[] = {
    {SQLITE_NOMEM, ERR_NOMEM, "out of memory"},
    {SQLITE_FULL, ERR_IO, "the disk is full"},
    {SQLITE_CORRUPT, ERR_IO,
     "the file is damaged; move it away (with its -wal and -shm), or "
     "restore it from a copy"},
    {SQLITE_NOTADB, ERR_IO, "the file is not a database; move it away, or choose another place"},
    {SQLITE_READONLY, ERR_IO, "the file or its folder cannot be written to"},
    {SQLITE_PERM, ERR_IO, "the file must not be opened"},
    {SQLITE_CANTOPEN, ERR_IO, "the file cannot be opened"},
    {SQLITE_TOOBIG, ERR_LIMIT, "a value is too large"},
};

static int status_of_lock(struct sqlite *db)
{
    int status = db->call ? call_check(db->call) : OK;
    if (status == OK) {
        status = ERR_BUSY;
        snprintf(db->problem, sizeof db->problem,
                 "another process has kept the file locked for more than %lld ms",
                 (long long)db->patience_ms);
    } else {
        snprintf(db->problem, sizeof db->problem, "the call ended while it waited for the file");
    }
    return status;
}

/* The status of SQLite's code, with the words in db->problem. */
static int fail(struct sqlite *db, int code)
{
    int plain = code & 0xff;
    if (plain == SQLITE_BUSY || plain == SQLITE_PROTOCOL || plain == SQLITE_LOCKED) {
        return status_of_lock(db);
    }
    if (plain == SQLITE_INTERRUPT) {
        int status = db->call ? call_check(db->call) : OK;
        snprintf(db->problem, sizeof db->problem, "the call ended");
        return status == OK ? ERR_CANCELLED : status;
    }
    int system_error = db->handle ? sqlite3_system_errno(db->handle) : 0;
    const char *reason = plain == SQLITE_IOERR || plain == SQLITE_CANTOPEN ? "" : NULL;
    if (reason && system_error) {
        reason = strerror(system_error);
    }
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++) {
        if (ERRORS[i].code == plain) {
            snprintf(db->problem, sizeof db->problem, "%s%s%s", ERRORS[i].words,
                     reason && *reason ? ": " : "", reason ? reason : "");
            return ERRORS[i].status;
        }
    }
    /* A full disk can also come as a failed write of the log. */
    bool full = system_error == ENOSPC && plain == SQLITE_IOERR;
    snprintf(db->problem, sizeof db->problem, "%s%s%s",
             full ? "the disk is full" : sqlite3_errstr(code), reason && *reason ? ": " : "",
             reason ? reason : "");
    return ERR_IO;
}

const char *sqlite_problem(const struct sqlite *db)
{
    return db->problem;
}

/* ---- waiting ---- */

/* Short waits first, since most locks are held for a millisecond; a spread, so that processes do
 * not knock together. */
static int64_t pause_ms(const struct sqlite *db, int tries)
{
    int64_t longest = tries < 4 ? 2 : tries < 10 ? 8 : 25;
    return 1 + (int64_t)(((uintptr_t)db >> 6) + (uintptr_t)tries * 7) % longest;
}

/* Waits a moment. False when there is no more time. */
static bool wait_for_lock(struct sqlite *db, int tries)
{
    int64_t now = clock_now_ms();
    if (db->waits_since_ms == 0) {
        db->waits_since_ms = now;
    }
    if (db->call) {
        return call_sleep(db->call, pause_ms(db, tries)) == OK;
    }
    if (now - db->waits_since_ms >= db->patience_ms) {
        return false;
    }
    struct timespec time = {.tv_nsec = (long)pause_ms(db, tries) * 1000000};
    nanosleep(&time, NULL);
    return true;
}

static int on_busy(void *context, int tries)
{
    return wait_for_lock(context, tries);
}

static int on_progress(void *context)
{
    struct sqlite *db = context;
    return db->call && call_check(db->call) != OK;
}

/* Runs SQL, and again where SQLite gives up on a lock without asking on_busy(): it does so while a
 * file is opened for the first time or its log is being recovered. */
static int run_patiently(struct sqlite *db, const char *sql)
{
    db->waits_since_ms = 0;
    for (int tries = 0;; tries++) {
        int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
        int plain = code & 0xff;
        if (code == SQLITE_OK) {
            return OK;
        }
        if ((plain != SQLITE_BUSY && plain != SQLITE_PROTOCOL) || !wait_for_lock(db, tries)) {
            return fail(db, code);
        }
    }
}

void sqlite_work_for(struct sqlite *db, struct call *call)
{
    db->call = call;
}

/* ---- the write-ahead log ---- */

/* After each commit: brings a long log into the file, as SQLite itself would where nobody asks to
 * be told. The commit has happened, so nothing that goes wrong here is its failure. */
static int on_commit(void *context, sqlite3 *handle, const char *name, int frames)
{
    struct sqlite *db = context;
    db->log_frames = frames;
    if (frames >= db->most_log_frames) {
        sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    return SQLITE_OK;
}

/* Gives the log room before it is needed, by zeros at its end, in ever longer pieces. A commit into
 * a file that becomes longer waits for the file system's journal as well, which takes several times
 * as long and, now and then, as long as everybody else's writes to the disk. Zeros are no frames:
 * recovery ends where they begin. To be called with the lock for writing, under which nobody else
 * appends; what fails here fails again, and is told, when the log is written. */
static void make_log_room(struct sqlite *db)
{
    /* By pages: what is written in longer pieces the kernel may keep in longer pieces, and then a
     * commit of a few bytes writes all of one. */
    static const char zeros[4096];
    sqlite3_file *log = NULL;
    sqlite3_int64 size = 0;
    sqlite3_int64 used = LOG_HEADER_BYTES + (sqlite3_int64)db->log_frames * LOG_FRAME_BYTES;
    sqlite3_int64 most = LOG_HEADER_BYTES + (sqlite3_int64)db->most_log_frames * LOG_FRAME_BYTES;
    sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (!log || !log->pMethods || log->pMethods->xFileSize(log, &size) != SQLITE_OK ||
        size >= most || size - used >= LOG_ROOM_BYTES) {
        return;
    }
    if (db->log_frames == 0 || size < used) {
        return; /* a new log, or one that was emptied: this may be all that will be in it */
    }
    sqlite3_int64 end = 2 * size < LOG_FIRST_BYTES ? LOG_FIRST_BYTES : 2 * size;
    end = end < most ? end : most;
    int code = SQLITE_OK;
    while (size < end && code == SQLITE_OK) {
        code = log->pMethods->xWrite(log, zeros, sizeof zeros, size);
        size += (sqlite3_int64)sizeof zeros;
    }
}

/* The log is not cut where it begins anew, so that it need not grow again. */
static int set_up_log(struct sqlite *db, int log_kib)
{
    char sql[64];
    db->most_log_frames = (int)(KIB(log_kib) / LOG_FRAME_BYTES);
    sqlite3_wal_hook(db->handle, on_commit, db);
    snprintf(sql, sizeof sql, "PRAGMA journal_size_limit = %lld", (long long)KIB(log_kib) * 2);
    return run_patiently(db, sql);
}

/* ---- opening ---- */

/* Makes the name of a new file last: SQLite does that for its logs only. */
static void sync_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* Makes the file where there is none, for its owner only. Its errors are left to SQLite, which
 * meets them next. */
static void make_file(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        sync_folder(path);
    }
}

static int64_t read_number(struct sqlite *db, const char *sql, int *status)
{
    struct sqlite_statement *statement = sqlite_prepare(db, sql);
    int step = sqlite_step(statement);
    int64_t number = step == 1 ? sqlite_int(statement, 0) : 0;
    sqlite_end(statement);
    *status = step < 0 ? step : OK;
    return number;
}

static int upgrade(struct sqlite *db, const char *const *versions)
{
    int status;
    int64_t wanted = 0;
    while (versions && versions[wanted]) {
        wanted++;
    }
    if (read_number(db, "PRAGMA user_version", &status) == wanted || status != OK) {
        return status;
    }
    status = sqlite_begin(db);
    int64_t version = status == OK ? read_number(db, "PRAGMA user_version", &status) : 0;
    if (status == OK && version > wanted) {
        snprintf(db->problem, sizeof db->problem,
                 "the file was written by a newer version of this program");
        status = ERR_INVALID;
    }
    for (; status == OK && version < wanted; version++) {
        char sql[64];
        snprintf(sql, sizeof sql, "PRAGMA user_version = %lld", (long long)version + 1);
        status = sqlite_run(db, versions[version]);
        if (status == OK) {
            status = sqlite_run(db, sql);
        }
    }
    if (status == OK) {
        return sqlite_commit(db);
    }
    sqlite_rollback(db);
    return status;
}

/* WAL, which other processes may be switching on at this moment. */
static int switch_to_wal(struct sqlite *db)
{
    int status = run_patiently(db, "PRAGMA journal_mode = WAL");
    if (status != OK) {
        return status;
    }
    struct sqlite_statement *mode = sqlite_prepare(db, "PRAGMA journal_mode");
    bool is_wal = sqlite_step(mode) == 1 && strcmp(sqlite_text(mode, 0), "wal") == 0;
    sqlite_end(mode);
    if (!is_wal) {
        snprintf(db->problem, sizeof db->problem,
                 "this file system cannot share the file between processes (WAL)");
    }
    return is_wal ? OK : ERR_IO;
}

static int set_up(struct sqlite *db, const struct sqlite_options *options)
{
    char sql[64];
    int kib = options->cache_kib ? options->cache_kib : LIMIT_SQLITE_CACHE_KIB;
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_handler(db->handle, on_busy, db);
    sqlite3_progress_handler(db->handle, STEPS_BETWEEN_CHECKS, on_progress, db);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    snprintf(sql, sizeof sql, "PRAGMA cache_size = -%d", kib);
    int status = run_patiently(db, sql);
    if (status == OK) {
        status = switch_to_wal(db);
    }
    if (status == OK) {
        status = run_patiently(db, "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;"
                                   "PRAGMA foreign_keys = ON");
    }
    if (status == OK) {
        status = set_up_log(db, options->log_kib ? options->log_kib : LIMIT_SQLITE_LOG_KIB);
    }
    if (status == OK) {
        status = run_patiently(db, options->unsynced ? "PRAGMA synchronous = OFF"
                                                     : "PRAGMA synchronous = FULL");
    }
    return status == OK && !options->only_look ? upgrade(db, options->versions) : status;
}

struct sqlite *sqlite_open(const struct sqlite_options *options, struct call *call, char *problem,
                           size_t size)
{
    pthread_once(&once, configure_library);
    struct sqlite *db = calloc(1, sizeof *db);
    if (!db) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    db->call = call;
    db->patience_ms = options->patience_ms ? options->patience_ms : TIME_SQLITE_PATIENCE_MS;
    pthread_mutex_lock(&opening);
    if (!options->only_look) {
        make_file(options->path);
    }
    int code = sqlite3_open_v2(options->path, &db->handle,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    pthread_mutex_unlock(&opening);
    int status = code == SQLITE_OK ? set_up(db, options) : fail(db, code);
    if (status != OK) {
        snprintf(problem, size, "%s: %s", options->path,
                 *db->problem ? db->problem : status_name(status));
        return sqlite_close(db);
    }
    db->call = NULL;
    return db;
}

static void drop_statement(struct sqlite_statement *statement)
{
    sqlite3_finalize(statement->handle);
    free(statement->sql);
    free(statement);
}

struct sqlite *sqlite_close(struct sqlite *db)
{
    if (db) {
        sqlite_rollback(db);
        for (size_t i = 0; i < db->statement_count; i++) {
            drop_statement(db->statements[i]);
        }
        sqlite3_close(db->handle);
        free(db);
    }
    return NULL;
}

/* ---- transactions ---- */

int sqlite_run(struct sqlite *db, const char *sql)
{
    db->waits_since_ms = 0;
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? OK : fail(db, code);
}

int sqlite_begin(struct sqlite *db)
{
    int status = run_patiently(db, "BEGIN IMMEDIATE");
    if (status == OK) {
        make_log_room(db);
    }
    return status;
}

int sqlite_begin_reading(struct sqlite *db)
{
    return run_patiently(db, "BEGIN");
}

int sqlite_commit(struct sqlite *db)
{
    /* What is decided is not undone by a call that ends now. */
    struct call *call = db->call;
    db->call = NULL;
    int status = run_patiently(db, "COMMIT");
    db->call = call;
    if (status != OK) {
        sqlite_rollback(db);
    }
    return status;
}

void sqlite_rollback(struct sqlite *db)
{
    /* SQLite itself may have undone everything already. */
    if (db->handle && !sqlite3_get_autocommit(db->handle)) {
        struct call *call = db->call;
        db->call = NULL;
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
        db->call = call;
    }
}

int sqlite_set_synced(struct sqlite *db, bool synced)
{
    return sqlite_run(db, synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

/* ---- statements ---- */

/* A place in the cache: a new one, or that of the statement that was not used for longest. */
static struct sqlite_statement **make_room(struct sqlite *db)
{
    if (db->statement_count < LIMIT_SQLITE_STATEMENTS) {
        return &db->statements[db->statement_count++];
    }
    struct sqlite_statement **oldest = NULL;
    for (size_t i = 0; i < db->statement_count; i++) {
        struct sqlite_statement **at = &db->statements[i];
        if (!(*at)->used && (!oldest || (*at)->last_use < (*oldest)->last_use)) {
            oldest = at;
        }
    }
    if (oldest) {
        drop_statement(*oldest);
    }
    return oldest;
}

static struct sqlite_statement *add_statement(struct sqlite *db, const char *sql)
{
    struct sqlite_statement *statement = calloc(1, sizeof *statement);
    char *copy = strdup(sql);
    struct sqlite_statement **place = statement && copy ? make_room(db) : NULL;
    if (!place) {
        free(statement);
        free(copy);
        return NULL;
    }
    *statement = (struct sqlite_statement){.db = db, .sql = copy};
    *place = statement;
    return statement;
}

static struct sqlite_statement *find_statement(struct sqlite *db, const char *sql)
{
    for (size_t i = 0; i < db->statement_count; i++) {
        struct sqlite_statement *statement = db->statements[i];
        if (!statement->used && strcmp(statement->sql, sql) == 0) {
            return statement;
        }
    }
    return add_statement(db, sql);
}

struct sqlite_statement *sqlite_prepare(struct sqlite *db, const char *sql)
{
    struct sqlite_statement *statement = find_statement(db, sql);
    if (!statement) {
        snprintf(db->problem, sizeof db->problem, "out of memory");
        return NULL;
    }
    statement->used = true;
    statement->last_use = ++db->uses;
    statement->error = SQLITE_OK;
    statement->began = false;
    db->waits_since_ms = 0;
    for (int tries = 0; !statement->handle; tries++) {
        int code = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                      &statement->handle, NULL);
        if (code != SQLITE_OK && ((code & 0xff) != SQLITE_BUSY || !wait_for_lock(db, tries))) {
            statement->error = code;
            break;
        }
    }
    return statement;
}

static void note_error(struct sqlite_statement *statement, int code)
{
    if (code != SQLITE_OK && statement->error == SQLITE_OK) {
        statement->error = code;
    }
}

void sqlite_bind_text(struct sqlite_statement *statement, int index, const char *text)
{
    if (statement && statement->handle) {
        note_error(statement, sqlite3_bind_text(statement->handle, index, text, -1, SQLITE_STATIC));
    }
}

void sqlite_bind_bytes(struct sqlite_statement *statement, int index, const void *bytes,
                       size_t length)
{
    if (statement && statement->handle) {
        note_error(statement,
                   sqlite3_bind_blob64(statement->handle, index, bytes, length, SQLITE_STATIC));
    }
}

void sqlite_bind_int(struct sqlite_statement *statement, int index, int64_t value)
{
    if (statement && statement->handle) {
        note_error(statement, sqlite3_bind_int64(statement->handle, index, value));
    }
}

void sqlite_bind_real(struct sqlite_statement *statement, int index, double value)
{
    if (statement && statement->handle) {
        note_error(statement, sqlite3_bind_double(statement->handle, index, value));
    }
}

int sqlite_step(struct sqlite_statement *statement)
{
    if (!statement) {
        return ERR_NOMEM;
    }
    struct sqlite *db = statement->db;
    if (statement->error != SQLITE_OK) {
        return fail(db, statement->error);
    }
    db->waits_since_ms = 0;
    for (int tries = 0;; tries++) {
        int code = sqlite3_step(statement->handle);
        if (code == SQLITE_ROW || code == SQLITE_DONE) {
            statement->began = true;
            return code == SQLITE_ROW;
        }
        int plain = code & 0xff;
        bool locked = plain == SQLITE_BUSY || plain == SQLITE_PROTOCOL;
        if (!locked || statement->began || !wait_for_lock(db, tries)) {
            return fail(db, code);
        }
        sqlite3_reset(statement->handle);
    }
}

int64_t sqlite_int(struct sqlite_statement *statement, int column)
{
    return sqlite3_column_int64(statement->handle, column);
}

double sqlite_real(struct sqlite_statement *statement, int column)
{
    return sqlite3_column_double(statement->handle, column);
}

const char *sqlite_text(struct sqlite_statement *statement, int column)
{
    return (const char *)sqlite3_column_text(statement->handle, column);
}

const void *sqlite_bytes(struct sqlite_statement *statement, int column, size_t *length)
{
    const void *bytes = sqlite3_column_blob(statement->handle, column);
    *length = (size_t)sqlite3_column_bytes(statement->handle, column);
    return bytes;
}

void sqlite_end(struct sqlite_statement *statement)
{
    if (statement) {
        if (statement->handle) {
            sqlite3_reset(statement->handle);
            sqlite3_clear_bindings(statement->handle);
        }
        statement->used = false;
    }
}

int sqlite_finish(struct sqlite_statement *statement)
{
    int step;
    do {
        step = sqlite_step(statement);
    } while (step == 1);
    sqlite_end(statement);
    return step;
}

int64_t sqlite_changes(const struct sqlite *db)
{
    return sqlite3_changes64(db->handle);
}

int64_t sqlite_last_id(const struct sqlite *db)
{
    return sqlite3_last_insert_rowid(db->handle);
}

void *sqlite_handle(struct sqlite *db)
{
    return db->handle;
}
