/* SQLite: files that several processes and threads use at once, with one way to open them, to wait
 * for locks and to fail. Every file is in WAL mode. A transaction that writes takes the lock when
 * it begins, so that it never has to be repeated because another process was faster. */
#include "core/buf.h"
#include "core/clock.h"
#include "core/files.h"
#include "db/engine.h"
#include "db/sqlite_gaps.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define STEPS_BETWEEN_CHECKS 2000 /* of SQLite's machine: well under a millisecond */
/* Of the write-ahead log; what one page takes in it. */
#define LOG_HEADER_BYTES 32
#define LOG_FRAME_BYTES  (4096 + 24)
#define LOG_FIRST_BYTES  (int64_t) KIB(256) /* that it is made with */
#define LOG_ROOM_BYTES   (int64_t) KIB(64)  /* more than nearly every transaction writes */

/* Which file a name stands for. */
struct identity {
    dev_t device;
    ino_t number;
};

struct sqlite {
    struct db base;
    char *path; /* NULL: nobody asks whether the file was moved */
    struct identity file;
    struct identity log; /* 0: it was not written to yet, and need not be there */
    sqlite3 *handle;
    int64_t patience_ms;
    int64_t waits_since_ms; /* for a lock; 0: it does not wait */
    int usual_kib;          /* of the file, in memory, */
    int cache_kib;          /* and of them now */
    int log_frames;         /* of the log that were in use after the last commit */
    int most_log_frames;    /* then they are brought into the file */
    int64_t log_bytes;      /* at least, unless another process has cut it; 0: not known */
    bool now_synced;        /* whether a commit waits for the disk */
};

static struct sqlite *sqlite_of(struct db *db)
{
    return (struct sqlite *)db;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Closing a descriptor of a file gives up all locks that the process has on it, so a file is never
 * made by one thread while another opens it. Other files do not wait: a disk may hang. */
struct opening_file {
    struct opening_file *next;
    const char *path;
};
static struct opening_file *openings;
static pthread_mutex_t openings_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

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
    int status = db->base.call ? call_check(db->base.call) : OK;
    if (status == OK) {
        status = ERR_BUSY;
        snprintf(db->base.problem, sizeof db->base.problem,
                 "another process has kept the file locked for more than %lld ms",
                 (long long)db->patience_ms);
    } else {
        snprintf(db->base.problem, sizeof db->base.problem,
                 "the call ended while it waited for the file");
    }
    return status;
}

/* The status of SQLite's code, with the words in db->base.problem. */
static int fail(struct sqlite *db, int code)
{
    int plain = code & 0xff;
    if (plain == SQLITE_BUSY || plain == SQLITE_PROTOCOL || plain == SQLITE_LOCKED) {
        return status_of_lock(db);
    }
    if (plain == SQLITE_INTERRUPT) {
        int status = db->base.call ? call_check(db->base.call) : OK;
        snprintf(db->base.problem, sizeof db->base.problem, "the call ended");
        return status == OK ? ERR_CANCELLED : status;
    }
    int system_error = db->handle ? sqlite3_system_errno(db->handle) : 0;
    const char *reason = plain == SQLITE_IOERR || plain == SQLITE_CANTOPEN ? "" : NULL;
    if (reason && system_error) {
        reason = strerror(system_error);
    }
    for (size_t i = 0; i < sizeof ERRORS / sizeof *ERRORS; i++) {
        if (ERRORS[i].code == plain) {
            snprintf(db->base.problem, sizeof db->base.problem, "%s%s%s", ERRORS[i].words,
                     reason && *reason ? ": " : "", reason ? reason : "");
            return ERRORS[i].status;
        }
    }
    /* A full disk can also come as a failed write of the log. */
    bool full = system_error == ENOSPC && plain == SQLITE_IOERR;
    snprintf(db->base.problem, sizeof db->base.problem, "%s%s%s",
             full ? "the disk is full" : sqlite3_errstr(code), reason && *reason ? ": " : "",
             reason ? reason : "");
    return ERR_IO;
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
    if (db->base.call) {
        return call_sleep(db->base.call, pause_ms(db, tries)) == OK;
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
    return db->base.call && call_check(db->base.call) != OK;
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

/* ---- files that were moved ---- */

/* All zero where there is no such file. It asks for no times: Linux dates a write that follows such
 * a question exactly, and then a commit may have to wait for the file's times as well. */
static struct identity identify(const char *path, const char *end)
{
    char name[4096];
    struct statx about;
    int length = snprintf(name, sizeof name, "%s%s", path, end);
    bool there =
        length > 0 && length < (int)sizeof name && statx(AT_FDCWD, name, 0, STATX_INO, &about) == 0;
    return there
               ? (struct identity){makedev(about.stx_dev_major, about.stx_dev_minor), about.stx_ino}
               : (struct identity){0};
}

static bool is(struct identity a, struct identity b)
{
    return a.number != 0 && a.number == b.number && a.device == b.device;
}

/* SQLite goes on with the files that it opened, wherever they are: what it writes there nobody will
 * find under the name. */
static bool has_moved(struct db *base)
{
    struct sqlite *db = sqlite_of(base);
    bool there = !db->path || (is(identify(db->path, ""), db->file) &&
                               (db->log.number == 0 || is(identify(db->path, "-wal"), db->log)));
    if (there) {
        return false;
    }
    snprintf(base->problem, sizeof base->problem,
             "the data folder was moved, deleted or replaced while it was used; put it back, or "
             "repeat the call, which goes on with what is there then");
    return true;
}

/* `looked`: the pool has done so just before. */
static bool tell_moved(struct db *db, bool looked)
{
    db->told = !looked && has_moved(db);
    return db->told;
}

/* ---- the write-ahead log ---- */

/* After each commit: brings a long log into the file, as SQLite itself would where nobody asks to
 * be called. The commit has happened, so nothing that goes wrong here is its failure. */
static int on_commit(void *context, sqlite3 *handle, const char *name, int frames)
{
    struct sqlite *db = context;
    if (frames < db->log_frames) {
        db->log_bytes = 0; /* it begins anew, and may have been cut */
    }
    db->log_frames = frames;
    if (frames >= db->most_log_frames) {
        sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    return SQLITE_OK;
}

/* make_log_room() writes zeros at the end of the log before they are needed, in ever longer pieces.
 * A commit into a file that becomes longer waits for the file system's journal as well, which takes
 * several times as long and, now and then, as long as everybody else's writes to the disk. Zeros
 * are no frames: recovery ends where they begin. To be called with the lock for writing, under
 * which nobody else appends; what fails here fails again, and is reported, when the log is written.
 */
static void make_log_room(struct sqlite *db)
{
    /* By pages: what is written in longer pieces the kernel may keep in longer pieces, and then a
     * commit of a few bytes writes all of one. */
    static const char zeros[4096];
    sqlite3_file *log = NULL;
    sqlite3_int64 size = 0;
    sqlite3_int64 used = LOG_HEADER_BYTES + (sqlite3_int64)db->log_frames * LOG_FRAME_BYTES;
    sqlite3_int64 most = LOG_HEADER_BYTES + (sqlite3_int64)db->most_log_frames * LOG_FRAME_BYTES;
    if (db->log_bytes >= most || db->log_bytes - used >= LOG_ROOM_BYTES) {
        return; /* without a question for its size, which would ask for its times (identify()) */
    }
    sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (!log || !log->pMethods || log->pMethods->xFileSize(log, &size) != SQLITE_OK) {
        return;
    }
    db->log_bytes = size;
    if (size >= most || size - used >= LOG_ROOM_BYTES || db->log_frames == 0 || size < used) {
        return; /* long enough; or new or emptied: this may be all that will be in it */
    }
    sqlite3_int64 end = 2 * size < LOG_FIRST_BYTES ? LOG_FIRST_BYTES : 2 * size;
    end = end < most ? end : most;
    int code = SQLITE_OK;
    while (size < end && code == SQLITE_OK) {
        code = log->pMethods->xWrite(log, zeros, sizeof zeros, size);
        size += (sqlite3_int64)sizeof zeros;
    }
    db->log_bytes = code == SQLITE_OK ? size : 0;
}

/* Brings everything into the file first, which locks nobody out; only a log that nobody reads any
 * more is emptied, under the lock for writing, and nothing is waited for with that. */
static int empty_log(struct db *base, int64_t *held_at)
{
    struct sqlite *db = sqlite_of(base);
    int frames = 0;
    int brought = 0;
    sqlite3_busy_handler(db->handle, NULL, NULL);
    int code =
        sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_PASSIVE, &frames, &brought);
    if (code == SQLITE_OK && frames > brought) {
        code = SQLITE_BUSY;
    } else if (code == SQLITE_OK) {
        code =
            sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    }
    sqlite3_busy_handler(db->handle, on_busy, db);
    db->log_bytes = 0;
    *held_at = brought;
    return code == SQLITE_OK ? OK : (code & 0xff) == SQLITE_BUSY ? ERR_BUSY : fail(db, code);
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

static int keep(struct db *base, int cache_kib)
{
    struct sqlite *db = sqlite_of(base);
    char sql[64];
    cache_kib = cache_kib ? cache_kib : db->usual_kib;
    if (cache_kib == db->cache_kib) {
        return OK;
    }
    snprintf(sql, sizeof sql, "PRAGMA cache_size = -%d", cache_kib);
    int status = run_patiently(db, sql);
    db->cache_kib = status == OK ? cache_kib : 0;
    return status;
}

/* Makes the file where there is none, for its owner only. Its errors are left to SQLite, which
 * meets them next. That its name lasts is not: SQLite sees to that for its logs only. */
static void make_file(const char *path)
{
    int fd = new_file(path);
    if (fd >= 0) {
        close(fd);
        sync_folder_of(path);
    }
}

/* In a folder that others may write to, one of them may have left a file or a link under a name of
 * ours. */
static bool is_foreign(const char *path)
{
    static const char *const SUFFIXES[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof SUFFIXES / sizeof *SUFFIXES; i++) {
        char name[4096];
        int length = snprintf(name, sizeof name, "%s%s", path, SUFFIXES[i]);
        if (length > 0 && (size_t)length < sizeof name && file_is_foreign(name)) {
            return true;
        }
    }
    return false;
}

/* WAL, which other processes may be switching on at this moment. */
static int switch_to_wal(struct sqlite *db)
{
    int status = run_patiently(db, "PRAGMA journal_mode = WAL");
    if (status != OK) {
        return status;
    }
    struct db_rows *mode = db_query(&db->base, "PRAGMA journal_mode", NULL, 0);
    bool is_wal = db_step(mode) > 0 && strcmp(db_text(mode, 0), "wal") == 0;
    db_end(mode);
    if (!is_wal) {
        snprintf(db->base.problem, sizeof db->base.problem,
                 "this file system cannot share the file between processes (WAL)");
    }
    return is_wal ? OK : ERR_IO;
}

static int set_up(struct sqlite *db, const struct db_options *options)
{
    char sql[200];
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_handler(db->handle, on_busy, db);
    sqlite3_progress_handler(db->handle, STEPS_BETWEEN_CHECKS, on_progress, db);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    db->usual_kib = options->cache_kib ? options->cache_kib : LIMIT_SQLITE_CACHE_KIB;
    int status = keep(&db->base, db->usual_kib);
    if (status != OK || options->only_looks) {
        return status;
    }
    status = switch_to_wal(db);
    if (status == OK) {
        status = set_up_log(db, options->log_kib ? options->log_kib : LIMIT_SQLITE_LOG_KIB);
    }
    if (status == OK && options->erases) {
        int code = sqlite_gaps_empty(db->handle);
        status = code == SQLITE_OK ? OK : fail(db, code);
    }
    if (status == OK) {
        snprintf(sql, sizeof sql,
                 "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA foreign_keys = "
                 "ON; PRAGMA synchronous = %s; %s",
                 options->unsynced ? "OFF" : "FULL",
                 options->erases ? "PRAGMA secure_delete = ON" : "");
        status = run_patiently(db, sql);
    }
    return status;
}

/* A file in WAL mode that is only looked at needs its log and the log's index, which SQLite would
 * leave behind, or could not make in a folder that cannot be written to. It does without where it
 * is told that nobody else uses the file. */
static bool is_being_opened(const char *path)
{
    const struct opening_file *each = openings;
    while (each && strcmp(each->path, path) != 0) {
        each = each->next;
    }
    return each != NULL;
}

static void begin_opening(struct opening_file *opening)
{
    pthread_mutex_lock(&openings_lock);
    while (is_being_opened(opening->path)) {
        pthread_cond_wait(&opened, &openings_lock);
    }
    opening->next = openings;
    openings = opening;
    pthread_mutex_unlock(&openings_lock);
}

static void end_opening(const struct opening_file *opening)
{
    pthread_mutex_lock(&openings_lock);
    struct opening_file **link = &openings;
    while (*link != opening) {
        link = &(*link)->next;
    }
    *link = opening->next;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&openings_lock);
}

static int open_file(struct sqlite *db, const struct db_options *options)
{
    if (!options->only_looks) {
        return sqlite3_open_v2(options->path, &db->handle,
                               SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    }
    struct buf uri;
    buf_init(&uri, KIB(16));
    buf_puts(&uri, "file:");
    for (const char *at = options->path; *at; at++) {
        buf_printf(&uri, strchr("%?#", *at) ? "%%%02X" : "%c", (unsigned char)*at);
    }
    buf_puts(&uri, options->alone ? "?immutable=1" : "?mode=ro");
    int code =
        buf_error(&uri) != OK
            ? SQLITE_NOMEM
            : sqlite3_open_v2(uri.data, &db->handle,
                              SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    buf_done(&uri);
    return code;
}

static void close_file(struct db *db)
{
    sqlite3_close(sqlite_of(db)->handle);
    free(sqlite_of(db)->path);
    free(db);
}

static bool is_alive(struct db *db)
{
    (void)db;
    return true;
}

/* ---- transactions ---- */

static int run(struct db *base, const char *sql)
{
    struct sqlite *db = sqlite_of(base);
    db->waits_since_ms = 0;
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? OK : fail(db, code);
}

/* What is run time and again stays prepared. */
static int run_again(struct db *db, const char *sql)
{
    return db_finish(db_query(db, sql, NULL, 0));
}

static void rollback(struct db *db)
{
    /* SQLite itself may have undone everything already. */
    sqlite3 *handle = sqlite_of(db)->handle;
    if (handle && !sqlite3_get_autocommit(handle)) {
        sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
    }
}

static int begin(struct db *base, bool durable)
{
    struct sqlite *db = sqlite_of(base);
    bool looked = base->looked;
    int status = OK;
    if (durable != db->now_synced && !base->unsynced) {
        status = run(base, durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
        db->now_synced = status == OK ? durable : db->now_synced;
    }
    if (status == OK) {
        status = run_again(base, "BEGIN IMMEDIATE");
    }
    if (status != OK) {
        return status;
    }
    if (db->path && db->log.number == 0) {
        db->log = identify(db->path, "-wal"); /* from now on nobody else removes it */
    }
    if (tell_moved(base, looked && db->waits_since_ms == 0)) {
        rollback(base);
        return ERR_IO;
    }
    make_log_room(db);
    return OK;
}

static int begin_reading(struct db *db)
{
    return tell_moved(db, db->looked) ? ERR_IO : run_again(db, "BEGIN");
}

static int commit(struct db *db)
{
    int status = run_again(db, "COMMIT");
    if (status != OK) {
        rollback(db);
    } else if (tell_moved(db, false)) {
        db->in_doubt = true;
        return ERR_IO;
    }
    return status;
}

/* ---- versions ---- */

static int read_version(struct db *db, int *version)
{
    int64_t number;
    int found = db_numbers(db_query(db, "PRAGMA user_version", NULL, 0), &number, 1);
    *version = (int)number;
    return found < 0 ? found : OK;
}

/* Whoever writes is alone with the file. */
static int lock_tables(struct db *db)
{
    (void)db;
    return OK;
}

static int write_version(struct db *db, int version)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", version);
    return run(db, sql);
}

/* ---- statements ---- */

static int bind(sqlite3_stmt *handle, int index, const struct db_value *value)
{
    switch (value->kind) {
    case DB_VALUE_INT:
        return sqlite3_bind_int64(handle, index, value->number);
    case DB_VALUE_TEXT:
        return sqlite3_bind_text64(handle, index, value->data, value->length, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case DB_VALUE_BYTES:
        return sqlite3_bind_blob64(handle, index, value->data, value->length, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static int start(struct db_rows *rows)
{
    struct sqlite *db = sqlite_of(rows->db);
    int code = SQLITE_OK;
    db->waits_since_ms = 0;
    for (int tries = 0; !rows->handle; tries++) {
        code = sqlite3_prepare_v3(db->handle, rows->words, -1, SQLITE_PREPARE_PERSISTENT,
                                  (sqlite3_stmt **)&rows->handle, NULL);
        if (code != SQLITE_OK && ((code & 0xff) != SQLITE_BUSY || !wait_for_lock(db, tries))) {
            return fail(db, code);
        }
    }
    for (size_t i = 0; code == SQLITE_OK && i < rows->count; i++) {
        code = bind(rows->handle, (int)i + 1, &rows->values[i]);
    }
    return code == SQLITE_OK ? OK : fail(db, code);
}

static int step(struct db_rows *rows)
{
    struct sqlite *db = sqlite_of(rows->db);
    db->waits_since_ms = 0;
    for (int tries = 0;; tries++) {
        int code = sqlite3_step(rows->handle);
        if (code == SQLITE_ROW || code == SQLITE_DONE) {
            rows->began = true;
            return code == SQLITE_ROW;
        }
        int plain = code & 0xff;
        bool locked = plain == SQLITE_BUSY || plain == SQLITE_PROTOCOL;
        if (!locked || rows->began || !wait_for_lock(db, tries)) {
            return fail(db, code);
        }
        sqlite3_reset(rows->handle);
    }
}

static int64_t integer(const struct db_rows *rows, int column)
{
    return sqlite3_column_int64(rows->handle, column);
}

static const char *text(const struct db_rows *rows, int column)
{
    return (const char *)sqlite3_column_text(rows->handle, column);
}

static const void *bytes(const struct db_rows *rows, int column, size_t *length)
{
    const void *found = sqlite3_column_blob(rows->handle, column);
    *length = (size_t)sqlite3_column_bytes(rows->handle, column);
    return found;
}

static void end(struct db_rows *rows)
{
    if (rows->handle) {
        sqlite3_reset(rows->handle);
        sqlite3_clear_bindings(rows->handle);
    }
}

static void forget(struct db_rows *rows)
{
    sqlite3_finalize(rows->handle);
}

static const struct db_engine SQLITE = {
    .name = "sqlite",
    .close = close_file,
    .alive = is_alive,
    .moved = has_moved,
    .begin = begin,
    .begin_reading = begin_reading,
    .commit = commit,
    .rollback = rollback,
    .run = run,
    .empty_log = empty_log,
    .keep = keep,
    .read_version = read_version,
    .lock_tables = lock_tables,
    .write_version = write_version,
    .start = start,
    .step = step,
    .integer = integer,
    .text = text,
    .bytes = bytes,
    .end = end,
    .forget = forget,
};

struct db *sqlite_open(const struct db_options *options, struct call *call, int *status)
{
    pthread_once(&once, configure_library);
    struct sqlite *db = calloc(1, sizeof *db);
    if (!db) {
        return NULL;
    }
    db->base = (struct db){.engine = &SQLITE,
                           .schema = options->schema,
                           .call = call,
                           .only_looks = options->only_looks,
                           .unsynced = options->unsynced};
    db->patience_ms = options->patience_ms ? options->patience_ms : TIME_SQLITE_PATIENCE_MS;
    db->now_synced = !options->unsynced;
    if (is_foreign(options->path)) {
        snprintf(db->base.problem, sizeof db->base.problem,
                 "the file, or its -wal or -shm, belongs to another user, who could read and forge "
                 "what is in it; move it away, or choose another folder");
        *status = ERR_IO;
        return &db->base;
    }
    struct opening_file opening = {.path = options->path};
    begin_opening(&opening);
    if (options->schema && !options->only_looks) {
        make_file(options->path);
    }
    int code = open_file(db, options);
    end_opening(&opening);
    *status = code == SQLITE_OK ? set_up(db, options) : fail(db, code);
    if (*status == OK && options->schema && !options->only_looks) {
        db->path = strdup(options->path);
        *status = db->path ? OK : ERR_NOMEM;
        db->file = identify(options->path, "");
    }
    return &db->base;
}
