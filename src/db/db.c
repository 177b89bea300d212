/* What is the same for both engines: the words of a statement, statements that stay prepared,
 * marks, and versions of tables. */
#include "core/buf.h"
#include "db/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

#define TABLE_PREFIX   "forage_"
#define MOST_SQL_BYTES KIB(64)

/* Where the brace that `at` is behind is closed; `bar` is where it is divided, or NULL. */
static const char *closing(const char *at, const char *end, const char **bar)
{
    int depth = 0;
    *bar = NULL;
    for (; at < end && (depth > 0 || *at != '}'); at++) {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
        *bar = *at == '|' && depth == 0 && at[1] != '|' && at[-1] != '|' ? at : *bar;
    }
    return at;
}

static void translate(struct buf *out, const char *sql, const char *end, bool postgres)
{
    while (sql < end) {
        const char *bar;
        if (*sql != '{') {
            buf_append(out, *sql == '?' && postgres ? "$" : sql, 1);
            sql++;
            continue;
        }
        const char *close = closing(sql + 1, end, &bar);
        if (bar) {
            translate(out, postgres ? bar + 1 : sql + 1, postgres ? close : bar, postgres);
        } else {
            buf_printf(out, "%s%.*s", postgres ? TABLE_PREFIX : "", (int)(close - sql - 1),
                       sql + 1);
        }
        sql = close < end ? close + 1 : end;
    }
}

/* To be freed; NULL without memory. */
static char *in_words_of(const struct db_engine *engine, const char *sql)
{
    struct buf words;
    buf_init(&words, MOST_SQL_BYTES);
    translate(&words, sql, sql + strlen(sql), engine->is_postgres);
    char *copy = buf_error(&words) == OK && words.data ? strdup(words.data) : NULL;
    buf_done(&words);
    return copy;
}

/* ---- connections ---- */

struct db *db_open(const struct db_options *options, struct call *call, char *problem, size_t size)
{
    int status = OK;
    bool postgres = options->url && *options->url;
    struct db *db =
        postgres ? postgres_open(options, call, &status) : sqlite_open(options, call, &status);
    if (!db) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    if (status == OK && !postgres && options->schema) {
        status = db_migrate(db);
    }
    if (status != OK) {
        const char *words = *db->problem ? db->problem : status_name(status);
        snprintf(problem, size, "%s%s%s", postgres ? "" : options->path, postgres ? "" : ": ",
                 words);
        return db_close(db);
    }
    db->call = NULL;
    return db;
}

static void drop_statement(struct db_rows *rows)
{
    rows->db->engine->forget(rows);
    free(rows->sql);
    free(rows->words);
    free(rows);
}

struct db *db_close(struct db *db)
{
    if (db) {
        for (size_t i = 0; i < db->statement_count; i++) {
            db_end(db->statements[i]);
            drop_statement(db->statements[i]);
        }
        db_rollback(db);
        db->engine->close(db);
    }
    return NULL;
}

bool db_alive(struct db *db)
{
    return db->engine->alive(db);
}

bool db_moved(struct db *db)
{
    return db->engine->moved && db->engine->moved(db);
}

void db_work_for(struct db *db, struct call *call)
{
    db->call = call;
}

struct call *db_call(const struct db *db)
{
    return db->call;
}

const char *db_problem(const struct db *db)
{
    return db->problem;
}

bool db_is_postgres(const struct db *db)
{
    return db->engine->is_postgres;
}

const char *db_engine_name(const struct db *db)
{
    return db->engine->name;
}

int db_version(const struct db *db)
{
    return db->version;
}

/* The call waits for the database from here on; what came before has been answered. */
static void begin_waiting(struct db *db)
{
    if (db->call && db->name) {
        call_waits_for(db->call, db->name);
    }
}

/* ---- transactions ---- */

int db_begin(struct db *db, bool durable)
{
    begin_waiting(db);
    db->in_doubt = false;
    db->untouched = true;
    return db->engine->begin(db, durable && !db->unsynced);
}

int db_begin_reading(struct db *db)
{
    begin_waiting(db);
    db->in_doubt = db->untouched = false;
    return db->engine->begin_reading(db);
}

/* What is decided is not undone by a call that ends now. */
int db_commit(struct db *db)
{
    begin_waiting(db);
    struct call *call = db->call;
    db->call = NULL;
    int status = db->engine->commit(db);
    db->call = call;
    return status;
}

bool db_in_doubt(const struct db *db)
{
    return db->in_doubt;
}

void db_rollback(struct db *db)
{
    struct call *call = db->call;
    db->call = NULL;
    db->engine->rollback(db);
    db->call = call;
}

/* A mark at the begin of a transaction costs nothing: to go back to it is to begin again. Only
 * durable transactions have marks. */
int db_mark(struct db *db)
{
    db->mark_is_begin = db->untouched;
    db->untouched = false;
    return db->mark_is_begin ? OK : db_run(db, "SAVEPOINT one");
}

int db_back_to_mark(struct db *db)
{
    if (db->mark_is_begin) {
        db_rollback(db);
        return db_begin(db, true);
    }
    return db_run(db, "ROLLBACK TO one; RELEASE one");
}

int db_drop_mark(struct db *db)
{
    return db->mark_is_begin ? OK : db_run(db, "RELEASE one");
}

int db_empty_log(struct db *db, int64_t *held_at)
{
    return db->engine->empty_log ? db->engine->empty_log(db, held_at) : OK;
}

int db_keep(struct db *db, int cache_kib)
{
    return db->engine->keep ? db->engine->keep(db, cache_kib) : OK;
}

/* ---- statements ---- */

static struct db_rows *make_statement(struct db *db, const char *sql, size_t place)
{
    struct db_rows *rows = calloc(1, sizeof *rows);
    if (rows) {
        *rows = (struct db_rows){.db = db, .place = place};
        rows->sql = strdup(sql);
        rows->words = in_words_of(db->engine, sql);
    }
    if (rows && (!rows->sql || !rows->words)) {
        drop_statement(rows);
        return NULL;
    }
    return rows;
}

/* In a place of its own, or in that of the statement that was not used for longest. */
static struct db_rows *add_statement(struct db *db, const char *sql)
{
    size_t place = db->statement_count;
    if (place == LIMIT_DB_STATEMENTS) {
        for (size_t i = 0; i < db->statement_count; i++) {
            const struct db_rows *other = db->statements[i];
            if (!other->used && (place == db->statement_count ||
                                 other->last_use < db->statements[place]->last_use)) {
                place = i;
            }
        }
    }
    struct db_rows *rows = place < LIMIT_DB_STATEMENTS ? make_statement(db, sql, place) : NULL;
    if (!rows) {
        return NULL;
    }
    if (place < db->statement_count) {
        drop_statement(db->statements[place]);
    } else {
        db->statement_count++;
    }
    db->statements[place] = rows;
    return rows;
}

static struct db_rows *find_statement(struct db *db, const char *sql)
{
    for (size_t i = 0; i < db->statement_count; i++) {
        struct db_rows *rows = db->statements[i];
        if (!rows->used && strcmp(rows->sql, sql) == 0) {
            return rows;
        }
    }
    return add_statement(db, sql);
}

struct db_rows *db_query(struct db *db, const char *sql, const struct db_value *values,
                         size_t count)
{
    begin_waiting(db);
    struct db_rows *rows = find_statement(db, sql);
    if (!rows) {
        snprintf(db->problem, sizeof db->problem, "out of memory");
        return NULL;
    }
    db->looked = false;
    rows->used = true;
    rows->began = false;
    rows->left = SIZE_MAX;
    rows->last_use = ++db->uses;
    rows->count = count < LIMIT_DB_VALUES ? count : LIMIT_DB_VALUES;
    for (size_t i = 0; i < rows->count; i++) {
        struct db_value *value = &rows->values[i];
        *value = values[i];
        if (value->kind == DB_VALUE_TEXT && value->data) {
            value->length = strlen(value->data);
        }
    }
    rows->error = count > LIMIT_DB_VALUES ? ERR_LIMIT : db->engine->start(rows);
    return rows;
}

struct db_rows *db_at_most(struct db_rows *rows, size_t most)
{
    if (rows) {
        rows->left = most;
    }
    return rows;
}

/* The database is not to be believed. */
static int refuse(struct db_rows *rows, const char *why)
{
    snprintf(rows->db->problem, sizeof rows->db->problem, "%s", why);
    return ERR_IO;
}

int db_goes_back(struct db_rows *rows)
{
    return refuse(rows, "the database sent rows that it had been asked to leave out");
}

int db_step(struct db_rows *rows)
{
    if (!rows || rows->error != OK) {
        return rows ? rows->error : ERR_NOMEM;
    }
    begin_waiting(rows->db);
    int status = rows->db->engine->step(rows);
    if (status > 0 && rows->left-- == 0) {
        rows->left = 0;
        return refuse(rows, "the database sent more rows than it was asked for");
    }
    return status;
}

int64_t db_int(const struct db_rows *rows, int column)
{
    return rows->db->engine->integer(rows, column);
}

const char *db_text(const struct db_rows *rows, int column)
{
    return rows->db->engine->text(rows, column);
}

const char *db_words(const struct db_rows *rows, int column)
{
    const char *text = db_text(rows, column);
    return text ? text : "";
}

const void *db_bytes(const struct db_rows *rows, int column, size_t *length)
{
    return rows->db->engine->bytes(rows, column, length);
}

void db_end(struct db_rows *rows)
{
    if (rows) {
        rows->db->engine->end(rows);
        rows->used = false;
    }
}

int db_finish(struct db_rows *rows)
{
    int step;
    do {
        step = db_step(rows);
    } while (step > 0);
    db_end(rows);
    return step;
}

int db_numbers(struct db_rows *rows, int64_t *numbers, int count)
{
    int found = db_step(rows);
    for (int i = 0; i < count; i++) {
        numbers[i] = found > 0 ? db_int(rows, i) : 0;
    }
    db_end(rows);
    return found;
}

int db_run(struct db *db, const char *sql)
{
    if (!strchr(sql, '{')) {
        return db->engine->run(db, sql);
    }
    char *words = in_words_of(db->engine, sql);
    int status = words ? db->engine->run(db, words) : ERR_NOMEM;
    free(words);
    return status;
}

/* ---- versions ---- */

/* What the tables say of themselves counts as much as any other row. */
static int read_version(struct db *db)
{
    int status = db->engine->read_version(db, &db->version);
    if (status == OK && db->version < 0) {
        snprintf(db->problem, sizeof db->problem,
                 "its tables (%s) are of version %d, which this program never made",
                 db->schema->part, db->version);
        db->version = 0;
        return ERR_IO;
    }
    return status;
}

/* All in one transaction under a lock: whoever comes second finds it done, and what is interrupted
 * never was. */
static int upgrade(struct db *db, const char *const *versions, int newest)
{
    int status = db_begin(db, true);
    if (status == OK) {
        status = db->engine->lock_tables(db);
    }
    if (status == OK) {
        status = read_version(db);
    }
    bool behind = db->version < newest; /* nobody was faster */
    struct call *call = db->call;
    if (!db->engine->is_postgres) {
        db->call = NULL; /* one that a deadline interrupts would begin anew with each call */
    }
    for (; status == OK && db->version < newest; db->version++) {
        status = db_run(db, versions[db->version]);
    }
    db->call = call;
    if (status == OK && behind) {
        status = db->engine->write_version(db, db->version);
    }
    if (status == OK && behind) {
        status = db_commit(db);
    }
    db_rollback(db);
    return status;
}

int db_migrate(struct db *db)
{
    const struct db_schema *schema = db->schema;
    const char *const *versions = db->engine->is_postgres ? schema->postgres : schema->sqlite;
    int newest = 0;
    while (versions[newest]) {
        newest++;
    }
    int status = read_version(db);
    if (status == OK && db->version < newest && !db->only_looks) {
        status = upgrade(db, versions, newest);
    }
    if (status == OK && db->version > newest) {
        snprintf(db->problem, sizeof db->problem,
                 "its tables (%s) are of version %d, made by a newer version of this program; this "
                 "one knows version %d: use the newer one",
                 schema->part, db->version, newest);
        status = ERR_IO;
    }
    return status;
}
