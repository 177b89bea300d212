/* Memories in one SQLite file, which several processes share. */
#include "config/places.h"
#include "core/limits.h"
#include "db/sqlite.h"
#include "memory/sqlite_care.h"
#include "memory/store.h"
#include "memory/store_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts are compared by their bytes everywhere, as PostgreSQL is told to ("C"). */
static const char *const VERSIONS[] = {
    "CREATE TABLE space ("
    " id INTEGER PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL,"
    " change INTEGER NOT NULL DEFAULT 0, horizon INTEGER NOT NULL DEFAULT 0, UNIQUE (owner, name));"
    "CREATE TABLE memory ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, space INTEGER NOT NULL, change INTEGER NOT NULL,"
    " key TEXT NOT NULL, summary TEXT NOT NULL, text TEXT NOT NULL, tags TEXT, metadata TEXT,"
    " session TEXT, place INTEGER NOT NULL, role TEXT, created INTEGER NOT NULL,"
    " updated INTEGER NOT NULL, expires INTEGER NOT NULL, version INTEGER NOT NULL,"
    " digest BLOB NOT NULL, UNIQUE (space, key));"
    "CREATE UNIQUE INDEX memory_change ON memory (space, change);"
    "CREATE INDEX memory_digest ON memory (substr(digest, 1, 8));"
    "CREATE INDEX memory_created ON memory (space, created);"
    "CREATE INDEX memory_session ON memory (space, session, place) WHERE session IS NOT NULL;"
    "CREATE INDEX memory_expires ON memory (expires) WHERE expires > 0;"
    "CREATE TABLE removed ("
    " space INTEGER NOT NULL, change INTEGER NOT NULL, id INTEGER NOT NULL,"
    " PRIMARY KEY (space, change)) WITHOUT ROWID;",
    NULL,
};

#define COLUMNS                                                                                    \
    "id, space, change, key, summary, text, tags, metadata, session, place, role, created, "       \
    "updated, expires, version, digest"
#define ALIVE "(expires = 0 OR expires > ?2)"

struct session {
    struct store_session shared;
    struct sqlite *db;
};

static struct sqlite *db_of(struct store_session *session)
{
    return ((struct session *)session)->db;
}

/* Keeps the words of what went wrong. */
static int told(struct store_session *session, int status)
{
    if (status < 0 && status != ERR_NOTFOUND) {
        snprintf(session->problem, sizeof session->problem, "%s", sqlite_problem(db_of(session)));
    }
    return status;
}

/* ---- connections ---- */

static void disconnect(struct store_session *session)
{
    sqlite_close(db_of(session));
    free(session);
}

static struct sqlite *open_file(struct call *call, char *problem, size_t size)
{
    char *folder = places_data(problem, size);
    char *path = NULL;
    struct sqlite *db = NULL;
    if (folder && asprintf(&path, "%s/" PLACES_MEMORIES, folder) > 0) {
        struct sqlite_options options = {
            .path = path,
            .versions = VERSIONS,
            .cache_kib = LIMIT_MEMORY_CACHE_KIB,
            .log_kib = LIMIT_MEMORY_LOG_KIB,
        };
        db = sqlite_open(&options, call, problem, size);
    }
    free(path);
    free(folder);
    return db;
}

static struct store_session *connect(struct call *call, char *problem, size_t size)
{
    struct session *session = calloc(1, sizeof *session);
    if (!session) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    session->shared.backend = &STORE_SQLITE;
    session->db = open_file(call, problem, size);
    /* What is removed is overwritten, not only forgotten. */
    if (!session->db || sqlite_run(session->db, "PRAGMA secure_delete = ON") != OK) {
        if (session->db) {
            snprintf(problem, size, "%s", sqlite_problem(session->db));
        }
        disconnect(&session->shared);
        return NULL;
    }
    return &session->shared;
}

static int work_for(struct store_session *session, struct call *call)
{
    sqlite_work_for(db_of(session), call);
    return OK;
}

/* ---- transactions ---- */

static int begin(struct store_session *session)
{
    return told(session, sqlite_begin(db_of(session)));
}

static int begin_reading(struct store_session *session)
{
    return told(session, sqlite_begin_reading(db_of(session)));
}

static int commit(struct store_session *session)
{
    return told(session, sqlite_commit(db_of(session)));
}

static void rollback(struct store_session *session)
{
    sqlite_rollback(db_of(session));
}

static int mark(struct store_session *session)
{
    return told(session, sqlite_run(db_of(session), "SAVEPOINT one"));
}

static int back_to_mark(struct store_session *session)
{
    return told(session, sqlite_run(db_of(session), "ROLLBACK TO one; RELEASE one"));
}

static int drop_mark(struct store_session *session)
{
    return told(session, sqlite_run(db_of(session), "RELEASE one"));
}

/* A writing transaction is alone with the file anyway. */
static int lock(struct store_session *session, int64_t space)
{
    (void)session;
    (void)space;
    return OK;
}

/* ---- spaces ---- */

static int find_space(struct store_session *session, const struct memory_space *space,
                      struct store_space *found)
{
    struct sqlite_statement *query = sqlite_prepare(
        db_of(session), "SELECT id, change, horizon FROM space WHERE owner = ?1 AND name = ?2");
    sqlite_bind_text(query, 1, space->owner);
    sqlite_bind_text(query, 2, space->name);
    *found = (struct store_space){0};
    int status = sqlite_step(query);
    if (status > 0) {
        *found =
            (struct store_space){sqlite_int(query, 0), sqlite_int(query, 1), sqlite_int(query, 2)};
        status = OK;
    }
    sqlite_end(query);
    return told(session, status);
}

static int space_of(struct store_session *session, const struct memory_space *space, bool make,
                    struct store_space *found)
{
    int status = find_space(session, space, found);
    if (status != OK || found->id != 0 || !make) {
        return status;
    }
    struct sqlite_statement *insert =
        sqlite_prepare(db_of(session), "INSERT INTO space (owner, name) VALUES (?1, ?2)");
    sqlite_bind_text(insert, 1, space->owner);
    sqlite_bind_text(insert, 2, space->name);
    status = sqlite_finish(insert);
    return status == OK ? find_space(session, space, found) : told(session, status);
}

static int count_pages(struct store_session *session, struct memory_stats *stats)
{
    struct sqlite_statement *query = sqlite_prepare(
        db_of(session), "SELECT page_count * page_size, (SELECT user_version FROM "
                        "pragma_user_version) FROM pragma_page_count, pragma_page_size");
    int status = sqlite_step(query);
    if (status > 0) {
        stats->file_bytes = sqlite_int(query, 0);
        stats->schema_version = (int)sqlite_int(query, 1);
        status = OK;
    }
    sqlite_end(query);
    return told(session, status);
}

static int stats(struct store_session *session, struct arena *arena, const char *owner,
                 struct memory_stats *stats)
{
    struct sqlite_statement *query = sqlite_prepare(
        db_of(session),
        "SELECT space.name, space.owner, count(memory.id), count(DISTINCT session),"
        " coalesce(sum(length(CAST(text AS BLOB))), 0), coalesce(min(created), 0),"
        " coalesce(max(created), 0) FROM space LEFT JOIN memory ON memory.space = space.id"
        " WHERE ?1 IS NULL OR owner IN (?1, '') GROUP BY space.id ORDER BY space.name, space.owner "
        "LIMIT ?2");
    struct memory_namespace_stats *items =
        arena_alloc(arena, LIMIT_MEMORY_NAMESPACES * sizeof *items);
    sqlite_bind_text(query, 1, owner);
    sqlite_bind_int(query, 2, LIMIT_MEMORY_NAMESPACES);
    *stats = (struct memory_stats){.backend = STORE_SQLITE.name, .namespaces = items};
    int status = items ? OK : ERR_NOMEM;
    while (status == OK && (status = sqlite_step(query)) > 0) {
        items[stats->namespace_count++] = (struct memory_namespace_stats){
            .name = arena_strdup(arena, sqlite_text(query, 0)),
            .owner = arena_strdup(arena, sqlite_text(query, 1)),
            .shared = *sqlite_text(query, 1) == '\0',
            .memories = sqlite_int(query, 2),
            .sessions = sqlite_int(query, 3),
            .text_bytes = sqlite_int(query, 4),
            .oldest_ms = sqlite_int(query, 5),
            .newest_ms = sqlite_int(query, 6),
        };
        status = arena_failed(arena) ? ERR_NOMEM : OK;
    }
    sqlite_end(query);
    return status == OK ? count_pages(session, stats) : told(session, status);
}

/* ---- rows ---- */

static const char *copy(struct arena *arena, struct sqlite_statement *query, int column)
{
    const char *text = sqlite_text(query, column);
    return text ? arena_strdup(arena, text) : NULL;
}

/* The columns of COLUMNS. */
static int read_row(struct sqlite_statement *query, struct arena *arena, struct store_row *row)
{
    *row = (struct store_row){
        .id = sqlite_int(query, 0),
        .space = sqlite_int(query, 1),
        .change = sqlite_int(query, 2),
        .memory = {.key = copy(arena, query, 3),
                   .summary = copy(arena, query, 4),
                   .text = copy(arena, query, 5),
                   .metadata = copy(arena, query, 7),
                   .session = copy(arena, query, 8),
                   .place = sqlite_int(query, 9),
                   .role = copy(arena, query, 10),
                   .created_ms = sqlite_int(query, 11),
                   .updated_ms = sqlite_int(query, 12),
                   .expires_ms = sqlite_int(query, 13),
                   .version = sqlite_int(query, 14)},
    };
    size_t length;
    const void *digest = sqlite_bytes(query, 15, &length);
    if (digest && length == sizeof row->digest) {
        memcpy(row->digest, digest, length);
    }
    int status = store_tags_read(arena, sqlite_text(query, 6), &row->memory);
    return arena_failed(arena) ? ERR_NOMEM : status;
}

/* The one row of a query; ends it. */
static int take_one(struct store_session *session, struct sqlite_statement *query,
                    struct arena *arena, struct store_row *row)
{
    int status = sqlite_step(query);
    status = status > 0 ? read_row(query, arena, row) : status == 0 ? ERR_NOTFOUND : status;
    sqlite_end(query);
    return told(session, status);
}

/* Every row of a query; ends it. */
static int take_all(struct store_session *session, struct sqlite_statement *query,
                    struct arena *arena, store_take take, void *context)
{
    struct store_row row;
    int status;
    while ((status = sqlite_step(query)) > 0) {
        status = read_row(query, arena, &row);
        if (status == OK) {
            status = take(context, &row);
        }
        if (status != OK) {
            break;
        }
    }
    sqlite_end(query);
    return told(session, status);
}

static int get(struct store_session *session, struct arena *arena, int64_t space, const char *key,
               struct store_row *row)
{
    struct sqlite_statement *query = sqlite_prepare(
        db_of(session), "SELECT " COLUMNS " FROM memory WHERE space = ?1 AND key = ?2");
    sqlite_bind_int(query, 1, space);
    sqlite_bind_text(query, 2, key);
    return take_one(session, query, arena, row);
}

static int by_id(struct store_session *session, struct arena *arena, int64_t space, int64_t id,
                 struct store_row *row)
{
    struct sqlite_statement *query = sqlite_prepare(
        db_of(session), "SELECT " COLUMNS " FROM memory WHERE id = ?1 AND space = ?2");
    sqlite_bind_int(query, 1, id);
    sqlite_bind_int(query, 2, space);
    return take_one(session, query, arena, row);
}

static int by_digest(struct store_session *session, struct arena *arena, int64_t space,
                     const unsigned char digest[SHA256_SIZE], int64_t now_ms, struct store_row *row)
{
    struct sqlite_statement *query =
        sqlite_prepare(db_of(session), "SELECT " COLUMNS " FROM memory WHERE space = ?1 AND "
                                       "substr(digest, 1, 8) = substr(?3, 1, 8) AND digest = ?3 "
                                       "AND " ALIVE " ORDER BY id LIMIT 1");
    sqlite_bind_int(query, 1, space);
    sqlite_bind_int(query, 2, now_ms);
    sqlite_bind_bytes(query, 3, digest, SHA256_SIZE);
    return take_one(session, query, arena, row);
}

static int last_place(struct store_session *session, int64_t space, const char *name,
                      int64_t *place)
{
    struct sqlite_statement *query =
        sqlite_prepare(db_of(session), "SELECT coalesce(max(place), -1) FROM memory WHERE space = "
                                       "?1 AND session = ?2");
    sqlite_bind_int(query, 1, space);
    sqlite_bind_text(query, 2, name);
    int status = sqlite_step(query);
    *place = status > 0 ? sqlite_int(query, 0) : -1;
    sqlite_end(query);
    return told(session, status < 0 ? status : OK);
}

/* The space's next change number. */
static int next_change(struct store_session *session, int64_t space, int64_t *change)
{
    struct sqlite_statement *query = sqlite_prepare(
        db_of(session), "UPDATE space SET change = change + 1 WHERE id = ?1 RETURNING change");
    sqlite_bind_int(query, 1, space);
    int status = sqlite_step(query);
    *change = status > 0 ? sqlite_int(query, 0) : 0;
    sqlite_end(query);
    return status > 0 ? OK : status == 0 ? ERR_NOTFOUND : status;
}

static int put(struct store_session *session, struct store_row *row)
{
    static const char INSERT[] =
        "INSERT INTO memory (space, change, key, summary, text, tags, metadata, session, place, "
        "role, created, updated, expires, version, digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
        "?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    static const char UPDATE[] =
        "UPDATE memory SET change = ?2, key = ?3, summary = ?4, text = ?5, tags = ?6, "
        "metadata = ?7, session = ?8, place = ?9, role = ?10, created = ?11, updated = ?12, "
        "expires = ?13, version = ?14, digest = ?15 WHERE space = ?1 AND id = ?16";
    const struct memory *memory = &row->memory;
    int status = next_change(session, row->space, &row->change);
    if (status != OK) {
        return told(session, status);
    }
    char *tags = NULL;
    status = store_tags_write(memory, &tags);
    if (status != OK) {
        return status;
    }
    struct sqlite_statement *query = sqlite_prepare(db_of(session), row->id ? UPDATE : INSERT);
    sqlite_bind_int(query, 1, row->space);
    sqlite_bind_int(query, 2, row->change);
    const char *const texts[] = {memory->key, memory->summary,  memory->text,
                                 tags,        memory->metadata, memory->session};
    for (int i = 0; i < 6; i++) {
        sqlite_bind_text(query, 3 + i, texts[i]);
    }
    sqlite_bind_int(query, 9, memory->place);
    sqlite_bind_text(query, 10, memory->role);
    sqlite_bind_int(query, 11, memory->created_ms);
    sqlite_bind_int(query, 12, memory->updated_ms);
    sqlite_bind_int(query, 13, memory->expires_ms);
    sqlite_bind_int(query, 14, memory->version);
    sqlite_bind_bytes(query, 15, row->digest, sizeof row->digest);
    if (row->id) {
        sqlite_bind_int(query, 16, row->id);
    }
    status = sqlite_finish(query);
    if (status == OK && !row->id) {
        row->id = sqlite_last_id(db_of(session));
    }
    free(tags);
    return told(session, status);
}

/* Old removals are forgotten. */
static int forget_removals(struct store_session *session, int64_t space, int64_t change)
{
    int64_t horizon = change - LIMIT_MEMORY_REMOVALS;
    struct sqlite_statement *query =
        sqlite_prepare(db_of(session), "DELETE FROM removed WHERE space = ?1 AND change <= ?2");
    sqlite_bind_int(query, 1, space);
    sqlite_bind_int(query, 2, horizon);
    int status = sqlite_finish(query);
    if (status == OK && sqlite_changes(db_of(session)) > 0) {
        query = sqlite_prepare(db_of(session), "UPDATE space SET horizon = ?2 WHERE id = ?1");
        sqlite_bind_int(query, 1, space);
        sqlite_bind_int(query, 2, horizon);
        status = sqlite_finish(query);
    }
    return status;
}

static int remove_row(struct store_session *session, const struct store_row *row)
{
    int64_t change;
    int status = next_change(session, row->space, &change);
    if (status == OK) {
        struct sqlite_statement *query =
            sqlite_prepare(db_of(session), "DELETE FROM memory WHERE id = ?1 AND space = ?2");
        sqlite_bind_int(query, 1, row->id);
        sqlite_bind_int(query, 2, row->space);
        status = sqlite_finish(query);
    }
    if (status == OK) {
        struct sqlite_statement *query = sqlite_prepare(
            db_of(session), "INSERT INTO removed (space, change, id) VALUES (?1, ?2, ?3)");
        sqlite_bind_int(query, 1, row->space);
        sqlite_bind_int(query, 2, change);
        sqlite_bind_int(query, 3, row->id);
        status = sqlite_finish(query);
    }
    if (status == OK) {
        status = forget_removals(session, row->space, change);
    }
    return told(session, status);
}

/* ---- walks ---- */

static int neighbours(struct store_session *session, struct arena *arena, int64_t space,
                      const char *name, int64_t place, bool before, size_t count, int64_t now_ms,
                      store_take take, void *context)
{
    struct sqlite_statement *query = sqlite_prepare(
        db_of(session), before ? "SELECT " COLUMNS " FROM memory WHERE space = ?1 AND " ALIVE
                                 " AND session = ?3 AND place < ?4 ORDER BY place DESC LIMIT ?5"
                               : "SELECT " COLUMNS " FROM memory WHERE space = ?1 AND " ALIVE
                                 " AND session = ?3 AND place > ?4 ORDER BY place LIMIT ?5");
    sqlite_bind_int(query, 1, space);
    sqlite_bind_int(query, 2, now_ms);
    sqlite_bind_text(query, 3, name);
    sqlite_bind_int(query, 4, place);
    sqlite_bind_int(query, 5, (int64_t)count);
    return take_all(session, query, arena, take, context);
}

/* The begin of a key is a range of keys: up to the begin with the last of all characters behind. */
#define PREFIX "key >= ?3 AND key <= ?3 || char(1114111)"
/* A filter that has an index of its own stands by itself, so that the index is used. */
#define LIST_FILTER(FIRST)                                                                         \
    " FROM memory WHERE space = ?1 AND " FIRST " AND " ALIVE " AND (?3 IS NULL OR (" PREFIX        \
    ")) AND (?4 = 0 OR created >= ?4) AND (?5 = 0 OR created < ?5) AND (?6 IS NULL "               \
    "OR session = ?6) AND (?7 IS NULL OR role = ?7) AND (?8 IS NULL OR NOT EXISTS (SELECT 1 FROM " \
    "json_each(?8) AS wanted WHERE wanted.value NOT IN (SELECT value FROM "                        \
    "json_each(memory.tags))))"
#define COUNT_LIST(FIRST) "SELECT count(*) FROM (SELECT 1" LIST_FILTER(FIRST) " LIMIT ?9)"
#define READ_LIST(FIRST)                                                                           \
    "SELECT " COLUMNS LIST_FILTER(FIRST) " ORDER BY created DESC, id DESC LIMIT ?9 OFFSET ?10"

enum list_kind { LIST_BY_TIME, LIST_BY_PREFIX, LIST_BY_SESSION };
static const struct {
    const char *count;
    const char *read;
} LISTS[] = {
    [LIST_BY_TIME] = {COUNT_LIST("created BETWEEN ?11 AND ?12"),
                      READ_LIST("created BETWEEN ?11 AND ?12")},
    [LIST_BY_PREFIX] = {COUNT_LIST(PREFIX), READ_LIST(PREFIX)},
    [LIST_BY_SESSION] = {COUNT_LIST("session = ?6"), READ_LIST("session = ?6")},
};

static void bind_filter(struct sqlite_statement *query, int64_t space,
                        const struct memory_filter *filter, int64_t now_ms, const char *tags)
{
    sqlite_bind_int(query, 1, space);
    sqlite_bind_int(query, 2, now_ms);
    sqlite_bind_text(query, 3, filter->prefix);
    sqlite_bind_int(query, 4, filter->from_ms);
    sqlite_bind_int(query, 5, filter->until_ms);
    sqlite_bind_text(query, 6, filter->session);
    sqlite_bind_text(query, 7, filter->role);
    sqlite_bind_text(query, 8, tags);
}

static void bind_times(struct sqlite_statement *query, const struct memory_filter *filter)
{
    sqlite_bind_int(query, 11, filter->from_ms ? filter->from_ms : INT64_MIN);
    sqlite_bind_int(query, 12, filter->until_ms ? filter->until_ms - 1 : INT64_MAX);
}

static int list(struct store_session *session, struct arena *arena, int64_t space,
                const struct memory_filter *filter, int64_t now_ms, size_t limit, size_t offset,
                size_t most, size_t *total, store_take take, void *context)
{
    char *tags = NULL;
    int status = store_tags_write(
        &(struct memory){.tags = filter->tags, .tag_count = filter->tag_count}, &tags);
    if (status != OK) {
        return status;
    }
    enum list_kind kind = filter->prefix    ? LIST_BY_PREFIX
                          : filter->session ? LIST_BY_SESSION
                                            : LIST_BY_TIME;
    struct sqlite_statement *query = sqlite_prepare(db_of(session), LISTS[kind].count);
    bind_filter(query, space, filter, now_ms, tags);
    if (kind == LIST_BY_TIME) {
        bind_times(query, filter);
    }
    sqlite_bind_int(query, 9, (int64_t)most);
    status = sqlite_step(query);
    *total = status > 0 ? (size_t)sqlite_int(query, 0) : 0;
    sqlite_end(query);
    if (status >= 0) {
        query = sqlite_prepare(db_of(session), LISTS[kind].read);
        bind_filter(query, space, filter, now_ms, tags);
        if (kind == LIST_BY_TIME) {
            bind_times(query, filter);
        }
        sqlite_bind_int(query, 9, (int64_t)limit);
        sqlite_bind_int(query, 10, (int64_t)offset);
        status = take_all(session, query, arena, take, context);
    }
    free(tags);
    return told(session, status);
}

static int each(struct store_session *session, struct arena *arena, int64_t space,
                const char *after, int64_t now_ms, size_t limit, store_take take, void *context)
{
    struct sqlite_statement *query =
        sqlite_prepare(db_of(session), "SELECT " COLUMNS " FROM memory WHERE space = ?1 AND " ALIVE
                                       " AND key > ?3 ORDER BY key LIMIT ?4");
    sqlite_bind_int(query, 1, space);
    sqlite_bind_int(query, 2, now_ms);
    sqlite_bind_text(query, 3, after);
    sqlite_bind_int(query, 4, (int64_t)limit);
    return take_all(session, query, arena, take, context);
}

/* Rows and removals are two lists by change number; they are walked side by side. */
static int changes(struct store_session *session, struct arena *arena, int64_t space, int64_t since,
                   size_t limit, store_take take, store_take_removed removed, void *context,
                   int64_t *seen)
{
    struct sqlite_statement *rows =
        sqlite_prepare(db_of(session), "SELECT " COLUMNS " FROM memory WHERE space = ?1 AND change "
                                       "> ?2 ORDER BY change LIMIT ?3");
    struct sqlite_statement *gone =
        sqlite_prepare(db_of(session), "SELECT change, id FROM removed WHERE space = ?1 AND change "
                                       "> ?2 ORDER BY change LIMIT ?3");
    struct sqlite_statement *const both[] = {rows, gone};
    for (size_t i = 0; i < 2; i++) {
        sqlite_bind_int(both[i], 1, space);
        sqlite_bind_int(both[i], 2, since);
        sqlite_bind_int(both[i], 3, (int64_t)limit);
    }
    int row_status = sqlite_step(rows);
    int gone_status = sqlite_step(gone);
    int status = OK;
    *seen = since;
    for (size_t i = 0; i < limit && status == OK && (row_status > 0 || gone_status > 0); i++) {
        if (row_status > 0 && (gone_status <= 0 || sqlite_int(rows, 2) < sqlite_int(gone, 0))) {
            struct store_row row;
            *seen = sqlite_int(rows, 2);
            status = read_row(rows, arena, &row);
            status = status == OK ? take(context, &row) : status;
            row_status = sqlite_step(rows);
        } else {
            *seen = sqlite_int(gone, 0);
            status = removed(context, sqlite_int(gone, 1));
            gone_status = sqlite_step(gone);
        }
        status = row_status < 0 ? row_status : gone_status < 0 ? gone_status : status;
    }
    sqlite_end(rows);
    sqlite_end(gone);
    return told(session, status);
}

static int expired(struct store_session *session, struct arena *arena, int64_t now_ms, size_t limit,
                   store_take take, void *context)
{
    struct sqlite_statement *query =
        sqlite_prepare(db_of(session), "SELECT " COLUMNS " FROM memory WHERE expires > 0 AND "
                                       "expires <= ?1 ORDER BY expires LIMIT ?2");
    sqlite_bind_int(query, 1, now_ms);
    sqlite_bind_int(query, 2, (int64_t)limit);
    return take_all(session, query, arena, take, context);
}

struct sqlite *sqlite_store_file(struct store_session *session)
{
    return db_of(session);
}

const struct store_backend STORE_SQLITE = {
    .name = "sqlite",
    .commits_are_dear = true,
    .connect = connect,
    .disconnect = disconnect,
    .work_for = work_for,
    .begin = begin,
    .begin_reading = begin_reading,
    .commit = commit,
    .rollback = rollback,
    .mark = mark,
    .back_to_mark = back_to_mark,
    .drop_mark = drop_mark,
    .lock = lock,
    .space = space_of,
    .stats = stats,
    .get = get,
    .by_id = by_id,
    .by_digest = by_digest,
    .last_place = last_place,
    .put = put,
    .remove = remove_row,
    .neighbours = neighbours,
    .list = list,
    .each = each,
    .changes = changes,
    .expired = expired,
    .scrub = sqlite_store_scrub,
    .verify = sqlite_store_verify,
    .backup = sqlite_store_backup,
};
